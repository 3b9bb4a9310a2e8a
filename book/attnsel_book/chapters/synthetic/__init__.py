"""What the chapter *Synthetic data* alone needs."""
