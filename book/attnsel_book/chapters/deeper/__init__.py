"""What the chapter *Deeper models* alone needs."""
