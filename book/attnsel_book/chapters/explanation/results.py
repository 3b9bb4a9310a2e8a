"""The stored measurements of the chapter on attention as an explanation."""

import pandas as pd

from attnsel_book.results import stored


def explanations(corpus: str = "IMDB") -> pd.DataFrame:
    """Return how faithful attention is on reviews, one row a measure.

    The reviews are those of "IMDB" or of "Yelp". Columns are pairs of a moment, "best
    step" or "converged", and a seed.
    book/sweeps/explanation/run_explanations.py measures it.
    """
    runs = stored("explanation/explanations")
    runs = runs[runs["corpus"] == corpus.lower()].copy()
    runs["moment"] = runs["moment"].replace("best", "best step")
    return runs.pivot(index="measure", columns=["moment", "seed"], values="value")
