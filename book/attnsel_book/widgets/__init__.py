"""Figures that move. Each module is next to its script."""
