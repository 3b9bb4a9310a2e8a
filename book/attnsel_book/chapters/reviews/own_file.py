"""Sentences of the chapter *IMDB and Yelp* about a reader's own file."""

from collections.abc import Mapping
from typing import Any

from attnsel.corpus import Corpus
from attnsel_book.texts import majority_share


def sentences(rows: Mapping[str, Mapping[str, Any]], test: Corpus) -> list[str]:
    """Return sentences about a model trained on a reader's labels, and its control.

    The accuracy is clearly better than always predicting the most frequent class if it
    is larger by more than two standard errors. The correlation of values with held-out
    leans is clearly larger than that of the control if its 95% interval lies above that
    of the control.

    Args:
        rows: for "your labels" and for "control", the "test accuracy", and the rank
            correlations "value", "left arm", "right arm" and "value, held-out leans",
            which may be None.
        test: the held-out texts.
    """
    own, control = rows["your labels"], rows["control"]
    accuracy, majority = own["test accuracy"], majority_share(test)
    error = (majority * (1 - majority) / len(test)) ** 0.5
    is_better = accuracy > majority + 2 * error
    shapes = "; ".join(f"with {name} {_shapes(row)}" for name, row in rows.items())
    held, chance = (row["value, held-out leans"] for row in (own, control))
    if held is None or chance is None:
        lasts = "In held-out texts too few tokens occur to compare values with leans."
    else:
        is_more = held.low > chance.high
        lasts = (
            "The rank correlation of values with leans in held-out texts is "
            f"{held.value:.2f}, and that of the control {chance.value:.2f}; the "
            f"first is {'' if is_more else 'not '}clearly larger."
        )
    return [
        f"{accuracy:.1%} of the held-out texts are classified correctly, which is "
        f"{'' if is_better else 'not '}clearly better than always predicting the most "
        f"frequent class, {majority:.1%}.",
        f"{shapes[0].upper()}{shapes[1:]}.",
        lasts,
    ]


def _shapes(row: Mapping[str, Any]) -> str:
    """Return a text on both shapes, as far as the intervals of a row confirm them."""
    value, left, right = (row[name] for name in ("value", "left arm", "right arm"))
    rise = "values rise" if value and value.low > 0 else "values do not clearly rise"
    is_left, is_right = left and left.high < 0, right and right.low > 0
    if is_left and is_right:
        return f"{rise} and scores form a V"
    if is_left or is_right:
        return f"{rise} and scores form the {'left' if is_left else 'right'} arm only"
    return f"{rise} and scores form no clear V"
