"""What gets text in: `load_corpus`, its sources, the cache, the bundled reviews."""
