"""What a label hangs on in any labelled texts, and the page that tells it."""
