"""One folder per chapter, with its settings, exercises, figures and stored results."""
