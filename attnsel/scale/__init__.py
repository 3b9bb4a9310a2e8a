"""Checkpoints, safe file writing, threads, and training in several processes."""
