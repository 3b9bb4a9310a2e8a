"""The stored measurements of the chapter on attention as an explanation."""

from importlib import resources

import pandas as pd


def explanations(corpus: str = "IMDB") -> pd.DataFrame:
    """Return how faithful attention is on reviews, one row a measure.

    The reviews are those of "IMDB" or of "Yelp". Columns are pairs of a moment, "best
    step" or "converged", and a seed.
    book/attnsel_book/chapters/explanation/run_explanations.py measures it.
    """
    folder = resources.files(__package__)
    with folder.joinpath("explanations.csv").open(encoding="utf-8") as file:
        runs = pd.read_csv(file)
    runs = runs[runs["corpus"] == corpus.lower()].copy()
    runs["moment"] = runs["moment"].replace("best", "best step")
    return runs.pivot(index="measure", columns=["moment", "seed"], values="value")
