"""Figures that compute in the page: a text box, and the flow on p in the plane."""

from __future__ import annotations

import html
from collections.abc import Mapping

from IPython.display import HTML
from torch import Tensor

from attnsel.book.embed import embed, packed
from attnsel.book.style import NEGATIVE, NEUTRAL, POSITIVE
from attnsel.corpus import Corpus, Vocab
from attnsel.model import AttentionClassifier


def text_box(
    vocab: Vocab,
    scores: Mapping[int, Tensor],
    *,
    examples: Mapping[str, str],
    title: str = "Type a review",
) -> HTML:
    """Return a text box that shows attention, values and logit of what one types.

    It reads as `Corpus.from_texts` and the model do, in the page itself: it holds the
    two numbers of each token at some steps of training, about 110 kB a step (50 kB
    compressed), with a slider over the steps. Its logits are the model's within 0.05.

        text_box(corpus.vocab, {k: history.at(k) for k in (0, 20, 40)}, examples={
            "Not good.": "Each word brings its own number, whatever is next to it."})

    Args:
        vocab: the V tokens and the names of the two classes.
        scores: by step, columns E p and E v, tensor (V, 2); the last is shown first.
        examples: texts to try, the first of which is in the box at the start, and what
            each teaches, told while it is in the box.
        title: label of the box.

    Raises:
        ValueError: if there is no example or a score has another shape.
    """
    steps, last = sorted(scores), scores[max(scores)]
    if not examples or {tuple(x.shape) for x in scores.values()} != {(len(vocab), 2)}:
        raise ValueError(
            f"scores, examples: expected shape ({len(vocab)}, 2) and at least one "
            f"example, got {tuple(last.shape)} and {len(examples)}"
        )
    data = {
        "tokens": list(vocab),
        "steps": steps,
        "scores": [[packed(x) for x in scores[k].detach().cpu().T] for k in steps],
        "scale": float(last[:, 1].detach().abs().double().quantile(0.99)),
        "colours": [NEGATIVE, POSITIVE],
        "classes": vocab.classes or ("negative", "positive"),
        "lessons": examples,
    }
    texts = list(map(html.escape, examples))
    chips = "".join(f'<button type="button">{text}</button>' for text in texts)
    rows = "".join(
        f'<div class="line"><span>{name}</span><div class="attnsel-text" tabindex="0" '
        f'role="group" aria-label="{name} of the words; the left and right keys go '
        'over them"></div></div>'
        for name in ("attention", "value")
    )
    body = (
        f'<div class="bar"><label>{html.escape(title)} <input type="text" '
        f'value="{texts[0]}" autocomplete="off" spellcheck="false"></label>'
        f'<output aria-live="polite"></output></div>{rows}'
        f'<div class="bar"><label>training <input type="range" min="0" '
        f'max="{len(steps) - 1}" value="{len(steps) - 1}"></label>'
        f'<output></output></div><div class="bar">try {chips}</div>'
        '<output aria-live="polite"></output>'
    )
    return embed("textbox", body, title=title, data=data, scripts=("textbox.js",))


def flow_plane(
    model: AttentionClassifier,
    corpus: Corpus,
    selected: Tensor,
    *,
    lost: tuple[float, float],
    title: str = "The flow on p in the plane",
) -> HTML:
    """Return the plane of a model with d = 2, its words and the start of p to be moved.

    The path of p, the max-margin direction and the pairs that hold it follow, computed
    in the page as `gradient_flow` and `max_margin` do.

        flow_plane(flat, plane, relevant_tokens(plane), lost=(-10, 0))

    Args:
        model: supplies E (V, 2), v (2,) and p (2,), where the flow starts.
        corpus: n sequences of its V tokens with two classes.
        selected: the token that each sequence should select, int64 tensor (n,).
        lost: a start of p from which the flow loses some of them.
        title: names the figure for screen readers.

    Raises:
        ValueError: if the model has not two dimensions.
    """
    if model.cls.shape != (2,):
        raise ValueError(f"model: expected d = 2, got {model.cls.shape[0]}")
    places, start, output = (
        x.detach().double().tolist()
        for x in (model.embeddings, model.cls, model.output)
    )
    bags = [corpus[i].counts for i in range(len(corpus))]
    bags = [list(zip(b.indices.tolist(), b.data.tolist(), strict=True)) for b in bags]
    top, signs = selected.tolist(), corpus.signs.tolist()
    pairs = {(r, s) for r, bag in zip(top, bags, strict=True) for s, _ in bag if s != r}
    data = {
        "places": places,
        "output": output,
        "bags": bags,
        "signs": signs,
        "start": start,
        "lost": lost,
        "pairs": sorted(pairs),
        "selected": top,
        "frames": [[[-1.6, 1.7], [-1.2, 2.1]], [[-15, 15], [-15, 15]]],
    }
    side, colours = dict(zip(top, signs, strict=True)), (NEUTRAL, POSITIVE, NEGATIVE)
    kinds = [colours[int(side.get(s, 0))] for s in range(len(corpus.vocab))]
    words = map(_handle, corpus.vocab, kinds)
    captions = {
        "words: across their first, up their second coordinate": "".join(words),
        "p: its start, its path and u★, the max-margin direction": _handle("p"),
    }
    panels = "".join(
        f'<figure><svg viewBox="0 0 340 340"><g class="lines"></g>{handles}</svg>'
        f"<figcaption>{caption}</figcaption></figure>"
        for caption, handles in captions.items()
    )
    body = (
        f'<div class="bar"><button type="button">Start over</button>'
        f'<button type="button">A start that loses</button></div>'
        f'<div class="bar panels">{panels}</div><output aria-live="polite"></output>'
    )
    return embed("plane", body, title=title, data=data, scripts=("plane.js",))


def _handle(name: str, colour: str = POSITIVE) -> str:
    """Return a named point that is dragged, or moved by the arrow keys."""
    name = html.escape(name)
    return (
        f'<g class="handle" tabindex="0" role="slider" aria-label="{name}; the arrow '
        f'keys move it"><circle r="18" opacity="0"/><circle r="5" fill="{colour}"/>'
        f'<text x="8" y="-6">{name}</text></g>'
    )
