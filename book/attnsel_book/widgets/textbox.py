"""A text box that shows the attention, the values and the logit of a typed text."""

import html
import math
from collections.abc import Mapping, Sequence
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
    """Return a text box that classifies a typed text, and shows attention and values.

    An explanation below the box shows the influence of each word, as in
    `attnsel.beyond.deletion`, and the fewest words whose deletion changes the
    prediction. JavaScript splits the text like `Corpus.from_texts` and evaluates a
    model of two classes, with scores that `packed` has rounded.

    Args:
        vocab: vocabulary of the model.
        scores: for each training step on the slider, a tensor (V, 2) of E p and E v; it
            adds about 5 bytes per token to the page.
        between: tensors (V, 2) for further training steps, used only for texts whose
            known words all occur in the examples; they add few bytes.
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
    """Return the box before a reader types: field, examples, prediction, attention.

    The script uses the same layout, so that nothing moves when the script starts.
    """
    weights = attention_on(words, scores)
    ids = torch.tensor([s for _, s in words], dtype=torch.int64)
    values = torch.where(ids < 0, 0.0, scores[ids.clamp(min=0), 1])
    text = html.escape("".join(piece for piece, _ in words))
    chips = " ".join(
        f'<button type="button">{html.escape(example)}</button>'
        for example, _ in data["lessons"]
    )
    opinion = _opinion(float(weights @ values), data["classes"])
    return (
        '<label class="line"><span>your review</span><input type="text" '
        f'value="{text}" autocomplete="off" spellcheck="false"></label>'
        + (f'<div class="line"><span>or one of</span><div>{chips}</div></div>')
        * bool(data["lessons"])
        + f'<div class="line"><span>the model</span><output>{opinion}</output></div>'
        '<div class="line"><span>word by word</span>'
        f"{attended_text(words, weights, values, full=0.6)}</div>"
        + state_line("", "To type another text")
    )


def _opinion(logit: float, classes: Sequence[str]) -> str:
    """Return the predicted class and its probability, or "no opinion yet" near 50%."""
    sure = 100 / (1 + math.exp(-abs(logit)))
    if abs(logit) < 0.1:
        return "no opinion yet"
    percent = (
        "more than 99.99"
        if sure > 99.99
        else f"{sure:.2f}"
        if sure > 99
        else f"{sure:.0f}"
    )
    return f"{html.escape(str(classes[logit > 0]))}, {percent}% sure"
