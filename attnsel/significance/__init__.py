"""What a label hangs on in any labelled texts: luck, leans, what counts once."""
