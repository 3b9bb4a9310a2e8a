"""The font of headings, cut to Latin text: `python -m tools.heading_font FONT`.

FONT is `files/source-serif-4-latin-wght-normal.woff2` of the npm package
`@fontsource-variable/source-serif-4` at 5.3.1.
"""

import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "book/_static/vendor/headings"
CHARACTERS = {*range(0x20, 0x7F), *map(ord, "\xa0–—‘’“”…±×→⟨⟩")}
WEIGHTS = (500, 700)  # of the one axis that is kept


def cut(font: str) -> None:
    """Write the part of a variable font that headings need."""
    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    whole = instancer.instantiateVariableFont(TTFont(font), {"wght": WEIGHTS})
    options = subset.Options(layout_features=["kern", "liga"], hinting=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=CHARACTERS)
    cutter.subset(whole)
    whole.flavor = "woff2"
    whole.save(TARGET / "SourceSerif4.woff2")


if __name__ == "__main__":
    cut(*sys.argv[1:])
