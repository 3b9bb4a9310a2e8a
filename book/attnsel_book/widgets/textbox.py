"""A text box that shows the attention, the values and the logit of a typed text."""

from collections.abc import Mapping
from typing import Any

import torch
from IPython.display import HTML
from torch import Tensor

from attnsel.model import attention_on
from attnsel.tokens import Vocab, pieces
from attnsel.validation import check_shape
from attnsel_book.style import NEGATIVE, POSITIVE
from attnsel_book.widgets.embedding import embed, packed, state_line
from attnsel_book.widgets.text import attended_text


def text_box(
    vocab: Vocab,
    scores: Mapping[int, Tensor],
    *,
    examples: Mapping[str, str],
    explained: bool = False,
    between: Mapping[int, Tensor] | None = None,
) -> HTML:
    """Return a text box that shows attention, values and the logit of a typed text.

    Below it are, folded or with `explained` open, the influence and the Shapley value
    of each word, as in `attnsel.beyond.deletion`, and the fewest words whose deletion
    changes the prediction. The page itself splits the text like `Corpus.from_texts` and
    evaluates a model of two classes. Its logits have errors of at most 0.05.

    Args:
        vocab: vocabulary of the model.
        scores: tensors (V, 2) of E p and E v by training step, between which a slider
            chooses; each adds 50 kB to the page.
        between: further tensors, which are used for texts that contain only words of
            the examples; they add little.
        examples: texts to try, each with a sentence about it.
        explained: whether the explanation is open at first.
    """
    pairs, others = (
        [(k, of[k].detach().cpu().double()) for k in sorted(of)]
        for of in (scores, between or {})
    )
    for _, pair in pairs + others:
        check_shape("scores", pair, (len(vocab), 2))
    words = {s for text in examples for _, s in pieces(text, vocab) if s >= 0}
    data = {
        "tokens": list(vocab),
        "scores": [(k, *map(packed, pair.T)) for k, pair in pairs],
        "between": [(k, *map(packed, pair[sorted(words)].T)) for k, pair in others],
        "words": sorted(words),
        "scale": float(pairs[-1][1][:, 1].abs().quantile(0.99)),
        "colours": [NEGATIVE, POSITIVE],
        "classes": vocab.classes or ("negative", "positive"),
        "lessons": list(examples.items()),
        "open": explained,
    }
    text = next(iter(examples), "")
    still = _first_reading(pieces(text, vocab), pairs[-1][1], data)
    return embed("textbox", "Type a review", data, still)


def _first_reading(
    words: list[tuple[str, int]], scores: Tensor, data: Mapping[str, Any]
) -> str:
    """Return attention, values and logit of the first example."""
    weights = attention_on(words, scores)
    ids = torch.tensor([s for _, s in words], dtype=torch.int64)
    values = torch.where(ids < 0, 0.0, scores[ids.clamp(min=0), 1])
    logit = float(weights @ values)
    text = attended_text(words, weights, values, full=0.6)
    reading = f"classified as {data['classes'][logit > 0]}"
    if abs(logit) < 0.1:
        reading = "no opinion yet"
    state = f"f(X) = {logit:+.2f}: {reading}."
    return text + state_line(state, "To type another text")
