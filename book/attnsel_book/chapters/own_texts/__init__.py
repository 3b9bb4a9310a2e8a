"""What the chapter *Your own texts* alone needs."""
