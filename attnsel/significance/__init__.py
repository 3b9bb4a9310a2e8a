"""Exact tests for informative tokens, shrunken leans, and groups of texts."""
