"""What the chapter *Which step selects* alone needs."""
