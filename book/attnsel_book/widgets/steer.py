"""A figure in which readers drag p until a review is classified correctly."""

from collections.abc import Sequence

import torch
from IPython.display import HTML
from matplotlib import pyplot
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier
from attnsel.validation import check_shape
from attnsel_book.style import NEGATIVE, POSITIVE
from attnsel_book.widgets.embedding import BESIDE, embed, picture_of_words, state_line


def steer_box(model: AttentionClassifier, corpus: Corpus, wanted: int) -> HTML:
    """Return a figure in which readers drag p until a review is classified correctly.

    The model has d = 2. The corpus contains one positive review, in which each word
    occurs once. `wanted` is the id of the word that should get 99% of the attention.
    """
    check_shape("model.cls", model.cls, (2,))
    ids = corpus.counts.indices.tolist()
    places = model.embeddings.detach()[ids]
    data = {
        "words": [corpus.vocab[s] for s in ids],
        "places": places.tolist(),
        "values": (places @ model.output.detach()).tolist(),
        "start": model.cls.tolist(),
        "label": corpus.classes[1],
        "wanted": ids.index(wanted),
        "colours": [NEGATIVE, POSITIVE],
    }
    still = steer_still(data["words"], places, data["values"], model.cls.detach())
    return embed(
        "steer", "Move p until the review is classified correctly", data, still
    )


def steer_still(
    words: Sequence[str], places: Tensor, values: Sequence[float], p: Tensor
) -> str:
    """Return a picture of p and of k words at the points `places` (k, 2)."""
    figure, axes = pyplot.subplots(figsize=(3.6, 3.2))
    for word, place, value in zip(words, places.tolist(), values, strict=True):
        axes.plot(*place, "o", color=POSITIVE if value > 0 else NEGATIVE)
        axes.annotate(word, place, **BESIDE)
    end = float(p[0]), float(p[1])
    axes.annotate("", end, (0, 0), arrowprops={"arrowstyle": "->"})
    axes.annotate("p", end, **BESIDE, style="italic")
    axes.set(xlim=(-3, 3), ylim=(-3, 3))
    weights = torch.softmax(places @ p, 0).tolist()
    pairs = list(zip(words, weights, values, strict=True))
    shares = ", ".join(f"{word} {share:.0%}" for word, share, _ in pairs)
    logit = sum(share * value for _, share, value in pairs)
    read = "positive" if logit > 0 else "negative"
    state = f"Attention: {shares}. The logit is {logit:.2f}: classified as {read}."
    picture = picture_of_words(figure, "Three words and p as an arrow in the plane.")
    return picture + state_line(state, "To drag p")
