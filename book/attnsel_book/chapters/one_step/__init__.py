"""Code of the chapter *What one gradient step does to the values*."""
