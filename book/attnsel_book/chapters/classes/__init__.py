"""What the chapter *More than two classes* alone needs."""
