"""Functions that group texts, test tokens for significance, and estimate leans."""
