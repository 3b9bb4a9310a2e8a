"""What the chapter *IMDB and Yelp* alone needs."""
