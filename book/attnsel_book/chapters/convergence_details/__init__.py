"""What the page *Convergence, the long way* alone needs."""
