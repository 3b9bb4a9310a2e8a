"""What the chapter *Does a transformer select tokens?* alone needs."""
