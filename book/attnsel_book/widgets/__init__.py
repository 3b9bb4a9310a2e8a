"""Modules that build live figures, and the scripts that run in the figures."""
