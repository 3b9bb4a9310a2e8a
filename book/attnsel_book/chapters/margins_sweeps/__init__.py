"""What the chapter *Adam's margin: experiments* alone needs."""
