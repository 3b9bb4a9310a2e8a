"""Functions that load or generate texts, and the corpora that come with the package."""
