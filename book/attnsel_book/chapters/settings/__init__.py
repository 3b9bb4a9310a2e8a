"""What the chapter *Settings and trajectories* alone needs."""
