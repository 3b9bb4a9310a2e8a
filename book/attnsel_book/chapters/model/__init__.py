"""What the chapter *The model* alone needs."""
