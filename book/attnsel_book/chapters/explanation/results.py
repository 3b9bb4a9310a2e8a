"""The stored results of the chapter *Is attention an explanation?*."""

import pandas as pd

from attnsel_book.results import stored


def explanations(corpus: str = "IMDB") -> pd.DataFrame:
    """Return measures of the faithfulness of attention on reviews, one row per measure.

    The columns are pairs of a moment ("best step" or "converged") and a seed. The
    script book/sweeps/explanation/run_explanations.py computes the measures.

    Args:
        corpus: "IMDB" or "Yelp".
    """
    runs = stored("explanation/explanations")
    runs = runs[runs["corpus"] == corpus.lower()].copy()
    runs["moment"] = runs["moment"].replace("best", "best step")
    return runs.pivot(index="measure", columns=["moment", "seed"], values="value")
