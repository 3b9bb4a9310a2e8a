"""What the chapter *Your own attention, from nothing* alone needs."""
