"""What the page *Theorems on the size of the step* alone needs."""
