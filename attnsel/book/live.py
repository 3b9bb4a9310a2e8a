"""Figures that compute in the page: a text box, and the flow on p in the plane."""

from __future__ import annotations

import html
from collections.abc import Mapping

from IPython.display import HTML
from torch import Tensor

from attnsel.book.embed import embed, packed
from attnsel.book.style import NEGATIVE, POSITIVE
from attnsel.corpus import Vocab


def text_box(
    vocab: Vocab,
    scores: Mapping[int, Tensor],
    *,
    examples: Mapping[str, str],
    classes: tuple[str, str] = ("negative", "positive"),
    title: str = "Type a review",
) -> HTML:
    """Return a text box that shows attention, values and logit of what one types.

    It reads as `Corpus.from_texts` and the model do, in the page itself: it holds the
    two numbers of each token at some steps of training, about 110 kB a step (50 kB
    compressed), with a slider over the steps. Its logits are the model's within 0.05.

        text_box(corpus.vocab, {k: history.at(k) for k in (0, 20, 40)}, examples={
            "Not good.": "Each word brings its own number, whatever is next to it."})

    Args:
        vocab: the V tokens.
        scores: by step, columns E p and E v, tensor (V, 2); the last is shown first.
        examples: texts to try, the first of which is in the box at the start, and what
            each teaches, told while it is in the box.
        classes: names of the classes -1 and +1.
        title: label of the box.
    """
    steps, last = sorted(scores), scores[max(scores)]
    data = {
        "tokens": list(vocab),
        "steps": steps,
        "scores": [[packed(x) for x in scores[k].detach().cpu().T] for k in steps],
        "scale": float(last[:, 1].detach().abs().double().quantile(0.99)),
        "colours": [NEGATIVE, POSITIVE],
        "classes": classes,
        "lessons": examples,
    }
    texts = list(map(html.escape, examples))
    chips = "".join(f'<button type="button">{text}</button>' for text in texts)
    rows = "".join(
        f'<div class="row"><span>{name}</span><div class="attnsel-text" tabindex="0" '
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
