"""What the chapter *Do the embeddings have to be trained?* alone needs."""
