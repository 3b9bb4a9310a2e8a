"""Functions that return texts with coloured words as HTML."""

import html
from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from IPython.display import HTML
from matplotlib.colors import to_hex, to_rgba
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.validation import check_number, check_shape
from attnsel_book.style import NEGATIVE, POSITIVE
from attnsel_book.widgets.embedding import embed


def coloured_text(
    words: Sequence[tuple[str, int]],
    values: Sequence[float] | Tensor,
    *,
    scale: float,
    unit: str = "",
) -> str:
    """Return a text as HTML, with a colour behind each token.

    Args:
        words: pieces with token ids, as `Corpus.words` returns them; pieces with the id
            -1 have no colour.
        values: one number per piece. The colour is blue for a positive number and
            orange for a negative one, and it is stronger for a larger absolute value.
        scale: positive absolute value from which on the colour is strongest.
        unit: name of the numbers; if it is given, readers can point at a token to see
            its number.
    """
    numbers = torch.as_tensor(values, dtype=torch.float64)
    check_shape("values", numbers, (len(words),))
    check_number("scale", scale, above=0)
    shades = [
        (
            NEGATIVE if value < 0 else POSITIVE,
            abs(value) / scale,
            html.escape(f"{value:.3g} {unit}") if unit else "",
        )
        for value in numbers.tolist()
    ]
    return _shaded(words, shades)


def attended_text(
    words: Sequence[tuple[str, int]],
    attention: Sequence[float] | Tensor,
    values: Sequence[float] | Tensor,
    *,
    full: float,
) -> str:
    """Return a text as HTML, with colours that show the attention and the values.

    A token is blue if its value is positive, and otherwise orange. Its colour is
    stronger for more attention. Readers can point at a token to see both numbers.

    Args:
        words: pieces with token ids, as `Corpus.words` returns them; pieces with the id
            -1 have no colour.
        attention: one number per piece, between 0 and 1.
        values: one number per piece.
        full: positive attention from which on the colour is strongest.
    """
    pairs = torch.as_tensor(attention), torch.as_tensor(values)
    for name, numbers in zip(("attention", "values"), pairs, strict=True):
        check_shape(name, numbers, (len(words),))
    check_number("full", full, above=0)
    shades = [
        (
            POSITIVE if value > 0 else NEGATIVE,
            weight / full,
            f"attention {weight:.3f}, value {value:.3g}",
        )
        for weight, value in zip(*(x.tolist() for x in pairs), strict=True)
    ]
    return _shaded(words, shades)


def _shaded(
    words: Sequence[tuple[str, int]], shades: Sequence[tuple[str, float, str]]
) -> str:
    """Return words as HTML, with a colour of some strength and a tip for each."""
    spans = []
    for (piece, token_id), (colour, strength, tip) in zip(words, shades, strict=True):
        piece = html.escape(piece)
        if token_id < 0:
            spans.append(piece)
            continue
        # Laid over the page, so that the text stays readable in both themes.
        shade = to_hex(to_rgba(colour, 0.6 * min(strength, 1.0)), keep_alpha=True)
        data = f' data-tip="{tip}"' if tip else ""
        spans.append(f'<span style="background:{shade}"{data}>{piece}</span>')
    keys = ""
    if any(tip for *_, tip in shades):
        label = "Words; the left and right keys show their numbers"
        keys = f' tabindex="0" role="group" aria-label="{label}"'
    return f'<div class="attnsel-text"{keys}>{"".join(spans)}</div>'


def show_text(text: str) -> HTML:
    """Return one or several coloured texts as an object that a notebook displays."""
    return embed("tips", "Coloured text", {}, text)


def words_of(corpus: Corpus, i: int, by: Tensor) -> list[tuple[str, int]]:
    """Return the text of sequence `i` in pieces, or its bag if there is no text.

    The tokens of a bag are sorted by their numbers in `by`, the largest first.

    Args:
        corpus: n sequences.
        i: row of the sequence.
        by: one number per token of the vocabulary, (V,), such as its score.

    Returns:
        Pieces with token ids, as `Corpus.words` returns them.
    """
    if corpus.texts is not None:
        return corpus.words(i)
    bag = corpus.counts[[i]]
    ids = np.repeat(bag.indices, bag.data.astype(int))
    ids = ids[np.argsort(-by.numpy()[ids], kind="stable")]
    pairs = [((" ", -1), (corpus.vocab[s], s)) for s in ids.tolist()]
    return list(chain.from_iterable(pairs))[1:]
