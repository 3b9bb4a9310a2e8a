"""Which words predict the label of any labelled texts, and the page that shows it."""
