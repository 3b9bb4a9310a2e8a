"""Interactive figure of p and the max-margin direction, at a chosen norm and start."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel.corpus import Corpus
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE

Pull = Callable[[np.ndarray, np.ndarray, np.ndarray, Corpus], np.ndarray]


def draw_length(
    parts: Sequence[np.ndarray],
    corpus: Corpus,
    pull: Pull,
    direction: np.ndarray,
    starts: Mapping[str, Sequence[float]],
    norm_of_p: float = 10.0,
    start: str = "",
) -> Figure:
    """Draw words in the plane, directions of p, and the lead in each sequence.

    The `parts` are E (V, 2), p and v. From one of the `starts`, p moves in the
    direction of `pull`, which returns minus the gradient with respect to p, until ‖p‖
    is `norm_of_p`. The lead in a sequence is the score of the word with the largest
    vote minus the largest other score. Bars show leads divided by ‖p‖ and by the
    margin. The `direction` is the shortest p for which all leads are at least one.
    """
    E, _, v = parts
    p = np.asarray(starts[start or next(iter(starts))], float)
    while (norm := float(np.linalg.norm(p))) < norm_of_p:
        way = np.asarray(pull(E, p, v, corpus))
        p = p + min(0.1, norm_of_p - norm + 1e-3) * way / np.linalg.norm(way)
    margin = 1 / np.linalg.norm(direction)
    scores = E @ p / np.linalg.norm(p) / margin
    leads = []
    for (ids, _), sign in zip(corpus.bags(), corpus.signs.tolist(), strict=True):
        own = ids[np.argmax(sign * (E @ v)[ids])]
        leads.append(scores[own] - max(scores[s] for s in ids if s != own))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.4, 3.2))
    left.scatter(*E.T, s=12, color=NEUTRAL)
    for word, place in zip(corpus.vocab, E, strict=True):
        left.annotate(word, place, (3, 3), textcoords="offset points")
    for vector, colour in ((p, "black"), (direction, ACCENT)):
        left.plot(
            *np.stack([0 * vector, vector / np.linalg.norm(vector)]).T, color=colour
        )
    left.set(xlim=(-1.6, 1.6), ylim=(-1.1, 1.6), title=f"|p| = {np.linalg.norm(p):.1f}")
    colours = np.where(corpus.signs > 0, POSITIVE, NEGATIVE)
    right.bar(range(len(leads)), leads, color=colours)
    right.axhline(1, color=ACCENT, lw=1)
    right.axhline(0, color="black", lw=0.8)
    right.set(xlabel="sequence", ylabel="lead / margin", xticks=range(len(leads)))
    return figure
