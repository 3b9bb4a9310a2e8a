"""What the chapter *Why the V* alone needs."""
