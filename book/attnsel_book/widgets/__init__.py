"""Figures that move: a module each with its script and what stands without it."""
