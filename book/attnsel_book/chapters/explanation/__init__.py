"""What the chapter *Is attention an explanation* alone needs."""
