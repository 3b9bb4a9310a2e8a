"""The plane of a model with d = 2, in which readers move the words and p."""

import warnings
from collections.abc import Sequence

import torch
from IPython.display import HTML
from matplotlib import pyplot
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.flow import gradient_flow
from attnsel.model import AttentionClassifier
from attnsel.theory import max_margin
from attnsel.validation import check_shape
from attnsel_book.style import ACCENT, NEGATIVE, NEUTRAL, POSITIVE
from attnsel_book.widgets.embedding import BESIDE, embed, picture_of_words, state_line

SIDES = {1: POSITIVE, 0: NEUTRAL, -1: NEGATIVE}


def flow_plane(
    model: AttentionClassifier, corpus: Corpus, selected: Tensor, lost: Sequence[float]
) -> HTML:
    """Return the plane of a model with d = 2, in which readers move the words and p.

    JavaScript computes the path of p, the max-margin direction and its support pairs,
    as `gradient_flow` and `max_margin` do. `selected`, int64 (n,), contains the token
    that each of the n sequences should select. A button moves p to the point `lost`. If
    the flow starts there, some sequences do not select their token.
    """
    check_shape("model.cls", model.cls, (2,))
    top = selected.tolist()
    bags, pairs = [], set()
    for i in range(len(corpus)):
        bag = corpus.counts[[i]]
        tokens = bag.indices.tolist()
        bags.append(list(zip(tokens, bag.data.tolist(), strict=True)))
        pairs |= {(top[i], s) for s in tokens if s != top[i]}
    data = {
        "places": model.embeddings.tolist(),
        "output": model.output.tolist(),
        "start": model.cls.tolist(),
        "lost": lost,
        "words": list(corpus.vocab),
        "colours": [NEUTRAL, POSITIVE, NEGATIVE],  # of words with sign 0, 1, -1
        "bags": bags,
        "signs": corpus.signs.tolist(),
        "selected": top,
        "pairs": sorted(pairs),
    }
    still = plane_still(model, corpus, selected)
    return embed("plane", "The flow on p in the plane", data, still)


def plane_still(model: AttentionClassifier, corpus: Corpus, selected: Tensor) -> str:
    """Return a picture of words, a path of p, and the max-margin direction, if any."""
    places, start = model.embeddings.detach(), model.cls.detach()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the flow may end early
        path = gradient_flow(model, corpus, max_norm=15 + float(start.norm())).cls
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(7.6, 3.6))
    sign = dict(zip(selected.tolist(), corpus.signs.tolist(), strict=True))
    for s, (word, place) in enumerate(zip(corpus.vocab, places.tolist(), strict=True)):
        left.plot(*place, "o", color=SIDES[sign.get(s, 0)])
        left.annotate(word, place, **BESIDE)
    right.plot(*path.T, color="black", label="path of $p$")
    right.plot(*start, "o", color="black")
    try:
        ahead = 15 * max_margin(places, corpus, selected).direction
        ends = torch.stack([0 * ahead, ahead])
        right.plot(*ends.T, "--", color=ACCENT, label="$u_\\star$")
    except ValueError:  # no p selects all of the given tokens
        pass
    left.margins(0.15)
    left.set(title="words", xlabel="first coordinate", ylabel="second coordinate")
    right.set(title="$p$", xlabel="first coordinate", ylabel="second coordinate")
    right.legend()
    picture = picture_of_words(
        figure, "Words in the plane; the path of p and where it goes."
    )
    return picture + state_line("", "To drag the words and p")
