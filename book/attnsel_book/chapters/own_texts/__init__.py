"""What the chapter *A report on your own labelled texts* alone needs."""
