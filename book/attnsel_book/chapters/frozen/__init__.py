"""What the chapter *One step, then frozen: is there less scatter* alone needs."""
