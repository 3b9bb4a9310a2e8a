"""What the chapter *A V seen from outside* alone needs."""
