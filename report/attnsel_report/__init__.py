"""A report that shows which words predict the label of labelled texts."""
