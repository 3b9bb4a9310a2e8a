"""Which tokens a label depends on: exact tests, leans, and what counts once."""
