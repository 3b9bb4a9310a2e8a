"""Rows as people have them: what their labels name, and which of them can be used."""
