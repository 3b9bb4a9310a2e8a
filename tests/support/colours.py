"""Contrasts between marks and the page."""

import numpy as np
from matplotlib.colors import to_hex, to_rgb

# The filter by which the style sheet of the site inverts the colours of a figure.
DARK = "filter: invert(0.93) hue-rotate(180deg);"
TURNED = np.array(
    [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]
)  # the matrix of `hue-rotate(180deg)`


def contrast(one: str, two: str, alpha: float = 1) -> float:
    """Return the WCAG contrast between a colour, drawn with `alpha`, and its ground."""
    top, below = (np.array(to_rgb(colour)) for colour in (one, two))
    mixed = np.stack([alpha * top + (1 - alpha) * below, below])
    linear = np.where(mixed <= 0.03928, mixed / 12.92, ((mixed + 0.055) / 1.055) ** 2.4)
    dark, bright = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return float((bright + 0.05) / (dark + 0.05))


def in_the_dark(colour: str) -> str:
    """Return the colour that the dark theme shows for a colour of a figure."""
    turned = TURNED @ (0.93 - 0.86 * np.array(to_rgb(colour)))
    return to_hex(tuple(np.clip(turned, 0, 1)))


def least_contrast(colour: str, alpha: float = 1) -> float:
    """Return the smaller of a mark's contrasts with the page in the two themes."""
    mixed = to_hex(tuple(alpha * np.array(to_rgb(colour)) + 1 - alpha))
    dark = contrast(in_the_dark(mixed), in_the_dark("#ffffff"))
    return min(contrast(mixed, "#ffffff"), dark)
