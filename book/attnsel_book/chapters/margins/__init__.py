"""What the chapter *Which margin does your optimizer find* alone needs."""
