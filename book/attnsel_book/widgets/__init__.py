"""Live figures, whose scripts are next to their modules."""
