"""A report on the words that predict the label of a text."""
