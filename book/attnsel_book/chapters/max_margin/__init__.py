"""What the chapter *The max-margin direction* alone needs."""
