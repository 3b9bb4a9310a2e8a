"""What the chapter *Interactions and order: what one layer cannot say* alone needs."""
