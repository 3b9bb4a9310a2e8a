"""Files and folders of labelled texts, as people have them, become data frames."""
