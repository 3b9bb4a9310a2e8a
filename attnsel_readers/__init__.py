"""Functions that read labelled texts from files, folders, the web or memory."""
