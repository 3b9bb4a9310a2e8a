"""A folder a chapter: its exercises, figures, and stored results with their scripts."""
