"""What outgrows one process: checkpoints, files, threads, several machines."""
