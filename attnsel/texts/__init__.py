"""Loading of texts: `load_corpus`, its sources, the cache and generated reviews."""
