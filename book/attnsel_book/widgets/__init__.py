"""Figures that move. A module, its script and its still picture are side by side."""
