"""What the chapter *Which tokens deviate* alone needs."""
