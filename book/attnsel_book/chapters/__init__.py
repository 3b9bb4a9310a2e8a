"""One folder per chapter: its settings, exercises, figures and stored results."""
