"""What the chapter *What is selected, and what is memorized* alone needs."""
