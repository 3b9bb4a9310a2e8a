"""What the chapter *Convergence, proved and with a rate* alone needs."""
