"""What the page *Margins, the sweeps* alone needs."""
