"""Figures that move: HTML with its data, and the scripts and styles of this folder."""

import base64
import html
import json
from collections.abc import Collection, Mapping, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any

import numpy as np
import torch
from IPython.display import HTML
from matplotlib.colors import to_hex, to_rgba
from torch import Tensor

from attnsel.corpus import Corpus
from attnsel.model import AttentionClassifier, attention_on
from attnsel.tokens import Vocab, pieces
from attnsel.validation import check_choice, check_number, check_shape
from attnsel_book.stills import plane_still, scatter_still, state_line, steer_still
from attnsel_book.style import NEGATIVE, NEUTRAL, POSITIVE

# The script that a kind of figure needs besides its own and `tips.js`.
NEEDS = {"map": "canvas", "plane": "handles", "steer": "handles"}
LOG_RANGE = 1e9  # greatest over least number of a logarithmic axis: halves hold no more


def source(name: str) -> str:
    """Return the text of a script or style of the folder `scripts`."""
    folder = resources.files("attnsel_book").joinpath("scripts")
    return folder.joinpath(name).read_text(encoding="utf-8")


def embed(kind: str, title: str, data: Mapping[str, Any], body: str = "") -> HTML:
    """Return a figure that needs no other file, no library and no network.

    The function `kind` in the script of that name gets the data and the element, which
    holds `body`; the title is for screen readers. Equal figures have equal text.
    """
    # No text in the data can end the script.
    stored = json.dumps({"title": title, **data}, ensure_ascii=False)
    stored = stored.replace("<", "\\u003c")
    digest = sha256("\0".join([kind, stored, body]).encode()).hexdigest()
    names = dict.fromkeys(("tips", *filter(None, [NEEDS.get(kind)]), kind))
    code = "".join(source(f"{name}.js") for name in names)
    return HTML(
        f"<style>{source('figures.css')}</style>"
        f'<div class="attnsel attnsel-{kind}" id="attnsel-{digest[:12]}" role="group" '
        f'aria-label="{html.escape(title)}">{body}</div>'
        f'<script>(() => {{\n"use strict";\n{code}'
        f'{kind}(document.getElementById("attnsel-{digest[:12]}"), {stored});\n'
        "})();</script>"
    )


def packed(values: Tensor | np.ndarray) -> dict[str, Any]:
    """Return numbers as 16-bit floats in base64, for `unpack` of `tips.js`.

    Each is off by at most 1 in 2,000 of itself or 1 in 10^12 of the greatest.
    """
    array = np.asarray(values, dtype=np.float64)
    unit = float(np.abs(array).max()) / 60_000 or 1.0
    halves = base64.b64encode((array / unit).astype("<f2").tobytes()).decode()
    return {"unit": unit, "halves": halves}


def coloured_text(
    words: Sequence[tuple[str, int]],
    values: Sequence[float] | Tensor,
    *,
    scale: float,
    unit: str = "",
) -> str:
    """Return a text as HTML with a colour behind each token, stronger for more.

    Args:
        words: pieces with token ids, as `Corpus.words` returns them; -1 has no colour.
        values: one number a piece, blue if positive and orange if negative.
        scale: the value of the full colour, positive.
        unit: what the value is; with it a token tells its value on demand.
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
    """Return a text as HTML, each token in the colour of its value's sign.

    The colour, blue for positive and orange for negative, is as strong as the attention
    on the token; each token tells its attention and its value on demand.

    Args:
        words: pieces with token ids, as `Corpus.words` returns them; -1 has no colour.
        attention: one number a piece, between 0 and 1.
        values: one number a piece.
        full: the attention of the full colour, positive.
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
    """Return words as HTML, each over its colour in its strength, with its tip."""
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
    """Return coloured text, or several joined, as something a notebook displays."""
    return embed("tips", "Coloured text", {}, text)


def frames(contents: Mapping[str, str], *, title: str, start: int = 0) -> HTML:
    """Return a figure whose frames, HTML by label, a slider and a button go through.

    The title is the slider's; the frame at the position `start` is shown first.
    """
    check_number("start", start, 0, len(contents) - 1, integer=True)
    parts = []
    for i, (label, content) in enumerate(contents.items()):
        hidden = "" if i == start else " hidden"
        about = f'class="frame" data-label="{html.escape(label)}"'
        parts.append(f"<div {about}{hidden}>{content}</div>")
    return embed("frames", title, {}, "".join(parts))


def scatter_explorer(
    tokens: Sequence[str],
    columns: Mapping[str, Any],
    *,
    title: str,
    log: Collection[str] = (),
    slider: tuple[str, float, float] | None = None,
) -> HTML:
    """Return a scatter whose axes are chosen, and whose points are named on demand.

    Args:
        tokens: V names, one a point; the search takes the first that matches.
        columns: V numbers a label; the first two are on the axes at first, and a point
            is blue where the first is positive, else orange. With a slider, pairs of
            such: before a step, and what each unit of its size adds.
        title: names the figure for screen readers.
        log: labels of the columns on a logarithmic scale, all positive, the greatest
            at most 10^9 times the least.
        slider: label, least and greatest size of a step. Each axis is linear up to
            the median size of its numbers and logarithmic beyond, and a line shows
            the correlation of the two.
    """
    for label in log:
        check_choice("log", label, columns)
    check_number("number of tokens", len(tokens), 1)
    numbers = {}
    for label, given in columns.items():
        parts = given if slider else [given]
        numbers[label] = torch.stack([torch.as_tensor(x).double() for x in parts])
        shape = (2 if slider else 1, len(tokens))
        check_shape(f"columns: {label}", numbers[label], shape)
        _check_drawable(label, numbers[label], label in log)
    data = {
        "tokens": list(tokens),
        "columns": [(label, [packed(x) for x in numbers[label]]) for label in numbers],
        "log": [label in log for label in columns],
        "colours": [NEGATIVE, POSITIVE],
        "groups": (numbers[next(iter(columns))][-1] > 0).int().tolist(),
        "slider": slider,
    }
    return embed("map", title, data, _first_scatter(numbers, data, log))


def _first_scatter(
    numbers: Mapping[str, Tensor], data: Mapping[str, Any], log: Collection[str]
) -> str:
    """Return the explorer as it is before anything is chosen."""
    at, scale = 0.0, "linear"
    if data["slider"]:
        _, least, most = data["slider"]
        at, scale = (least * most) ** 0.5, "symlog"
    labels = (list(numbers) * 2)[:2]
    lines = [numbers[name] for name in labels]
    shown = [line[0] + at * line[1] if len(line) > 1 else line[0] for line in lines]
    colours = [data["colours"][group] for group in data["groups"]]
    scales = ["log" if name in log else scale for name in labels]
    return scatter_still(labels, shown, colours, scales)


def _check_drawable(label: str, numbers: Tensor, is_log: bool) -> None:
    """Raise a ValueError unless numbers have a place on an axis."""
    if is_log and not bool((numbers > 0).all()):
        raise ValueError(f"columns: {label}: expected finite numbers above 0")
    if not bool(numbers.isfinite().all()):
        raise ValueError(f"columns: {label}: expected finite numbers")
    if is_log and float(numbers.max() / numbers.min()) > LOG_RANGE:
        raise ValueError(
            f"columns: {label}: expected at most {LOG_RANGE:g} between the least and "
            f"the greatest, got {float(numbers.min()):g} and {float(numbers.max()):g}"
        )


def text_box(
    vocab: Vocab,
    scores: Mapping[int, Tensor],
    *,
    examples: Mapping[str, str],
    explained: bool = False,
    between: Mapping[int, Tensor] | None = None,
) -> HTML:
    """Return a text box that shows attention, values and logit of what one types.

    Folded below, or open if `explained`, are the influence and the Shapley value of
    each word, as `influence` and `shapley` of `attnsel.beyond.deletion` have them, and
    what has to go for another reading. It reads as `Corpus.from_texts` and the model of
    two classes do, in the page itself; logits are within 0.05. A slider goes through
    the scores by step, tensors (V, 2) of E p and E v, each 50 kB in the page, and for
    texts of no other words than those of the examples through those `between`, too,
    which are small. Examples are texts to try and what they teach.
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
    """Return the text of a box before one types: attention, values and the logit."""
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


def flow_plane(
    model: AttentionClassifier, corpus: Corpus, selected: Tensor, lost: Sequence[float]
) -> HTML:
    """Return the plane of a model with d = 2, its words and the start of p to be moved.

    The path of p, the max-margin direction and the pairs that hold it follow, computed
    in the page as `gradient_flow` and `max_margin` do. Each sequence should select its
    token of `selected`, int64 (n,); some do not if the flow starts at `lost`.
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


def steer_box(model: AttentionClassifier, corpus: Corpus, wanted: int) -> HTML:
    """Return a review whose p is dragged until it is classified correctly.

    The model has d = 2, and the corpus the one positive review, in which each word
    occurs once; `wanted` is the id of the word that has to win the attention.
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
    return embed("steer", "Move p until the review is read rightly", data, still)
