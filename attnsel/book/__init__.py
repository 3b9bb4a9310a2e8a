"""What a chapter says to the page: claims, numbers for the prose, figures that move."""

from attnsel.book.claims import claim, glue
from attnsel.book.explorer import scatter_explorer
from attnsel.book.live import flow_plane, text_box
from attnsel.book.moving import coloured_text, frames, show_text
from attnsel.book.style import (
    ACCENT,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    SIGNED,
    figure_html,
    name_tokens,
    token_scatter,
    use_style,
)

__all__ = [
    "ACCENT",
    "NEGATIVE",
    "NEUTRAL",
    "POSITIVE",
    "SIGNED",
    "claim",
    "coloured_text",
    "figure_html",
    "flow_plane",
    "frames",
    "glue",
    "name_tokens",
    "scatter_explorer",
    "show_text",
    "text_box",
    "token_scatter",
    "use_style",
]
