"""What the chapter *Negation and word order* alone needs."""
