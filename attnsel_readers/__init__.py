"""Read files and folders of labelled texts into data frames."""
