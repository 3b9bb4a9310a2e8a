"""Theorem A of the book, deletion of tokens, deeper models, and a black-box test."""
