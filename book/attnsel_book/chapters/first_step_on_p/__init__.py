"""What the chapter *The first step on p* alone needs."""
