"""What the page *Which first steps select* alone needs."""
