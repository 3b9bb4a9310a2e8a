"""A figure that shows one of several frames, with a slider and a play button."""

import html
from collections.abc import Mapping

from IPython.display import HTML

from attnsel.validation import check_number
from attnsel_book.widgets.embedding import embed


def frames(contents: Mapping[str, str], *, title: str, start: int = 0) -> HTML:
    """Return a figure whose slider chooses a frame and whose button plays all frames.

    `contents` contains the HTML of each frame by label. `title` is the name of the
    slider. The frame at the position `start`, counted from 0, is shown first.
    """
    check_number("start", start, 0, len(contents) - 1, integer=True)
    parts = []
    for i, (label, content) in enumerate(contents.items()):
        hidden = "" if i == start else " hidden"
        about = f'class="frame" data-label="{html.escape(label)}"'
        parts.append(f"<div {about}{hidden}>{content}</div>")
    return embed("frames", title, {}, "".join(parts))
