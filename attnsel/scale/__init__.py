"""Checkpoints, threads, and training in several processes."""
