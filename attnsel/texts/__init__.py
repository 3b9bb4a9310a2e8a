"""Loading of texts: `load_corpus`, the shipped corpora and generated reviews."""
