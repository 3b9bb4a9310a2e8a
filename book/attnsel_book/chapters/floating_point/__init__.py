"""What the chapter *Following the flow in floating point* alone needs."""
