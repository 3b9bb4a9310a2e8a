"""The font of formulas, cut to what they may hold: `python -m tools.math_font FONT`.

FONT is `files/stix-two-math-latin-400-normal.woff` of the npm package
`@fontsource/stix-two-math` at 5.3.0 (`npm pack @fontsource/stix-two-math@5.3.0`).
"""

import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "book/_static/vendor/math"
RANGES = [
    (0x20, 0x7E),  # ASCII
    (0x391, 0x3C9),  # Greek
    (0x2190, 0x2195),  # arrows
    (0x21D0, 0x21D4),
    (0x2200, 0x2212),  # operators and relations
    (0x221D, 0x222B),
    (0x2282, 0x228B),
    (0x2295, 0x2299),
    (0x22A4, 0x22A5),
    (0x22C0, 0x22C6),
    (0x22EE, 0x22F1),
    (0x2308, 0x230B),
    (0x1D400, 0x1D467),  # bold and italic letters
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D550),  # double-struck capitals
    (0x1D6E2, 0x1D71B),  # italic Greek
]
OTHERS = (
    "ϑϕϖϰϱϵ"
    "\xa0¨¬¯°±´·×÷ıȷˆˇ˘˙˚˜\u0302\u0303\u0304\u0307"
    "\u2002\u2003\u2009‖…′″‴‾\u2061\u2062\u2063\u2064"
    "ℂℎℋℐℒℓℕℙℚℛℜℝℤℬℰℱℳ↦∓∖∗∘√∼≃≅≈≔≠≡≤≥≪≫≺≻≼≽⏞⏟□⟂⟨⟩⟶⟹⩽⩾⪯⪰𝚤𝚥𝟙"
)
CHARACTERS = {code for first, last in RANGES for code in range(first, last + 1)}
CHARACTERS |= set(map(ord, OTHERS))
# Alternates that browsers and Temml's style ask for: script letters, primes, letters in
# scripts and under accents.
FEATURES = ["ss01", "ss04", "ssty", "dtls", "flac", "kern", "mark", "ccmp"]


def cut(font: str) -> None:
    """Write the part of a font that formulas may need, with its table for formulas."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    whole = TTFont(font)
    options = subset.Options(layout_features=FEATURES, hinting=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=CHARACTERS)
    cutter.subset(whole)
    whole.flavor = "woff2"
    whole.save(TARGET / "STIXTwoMath.woff2")


if __name__ == "__main__":
    cut(*sys.argv[1:])
