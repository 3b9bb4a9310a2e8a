"""What the page *Proof of Theorem A, constants, Theorem B* alone needs."""
