"""What the chapter *The first step in detail* alone needs."""
