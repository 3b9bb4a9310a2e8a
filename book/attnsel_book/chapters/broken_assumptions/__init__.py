"""What the chapter *Breaking the assumptions* alone needs."""
