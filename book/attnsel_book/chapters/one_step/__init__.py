"""What the chapter *One gradient step finds the important tokens* alone needs."""
