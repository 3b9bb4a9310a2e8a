"""A scatter plot of tokens in which readers choose the axes and search for words."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from IPython.display import HTML
from matplotlib import pyplot
from torch import Tensor

from attnsel.validation import check_choice, check_number, check_shape
from attnsel_book.style import NEGATIVE, POSITIVE, figure_html
from attnsel_book.widgets.embedding import embed, packed, state_line

LOG_RANGE = 1e9  # largest ratio of numbers on a logarithmic axis, with 16-bit floats
MOST_POINTS = 1500  # a picture of more points would be larger than the live figure


def scatter_explorer(
    tokens: Sequence[str],
    columns: Mapping[str, Any],
    *,
    title: str,
    log: Collection[str] = (),
    slider: tuple[str, float, float] | None = None,
) -> HTML:
    """Return a scatter plot in which readers choose the axes and search for words.

    Args:
        tokens: names of the V points; the search finds the name that a reader types, or
            else the first name that begins with the typed text.
        columns: V numbers for each label. At first, the axes show the first two
            columns. A point is blue if its number in the first column is positive, and
            otherwise orange. With `slider`, each entry is a pair: numbers before a
            step, and changes per unit of the step size. The changes then decide the
            colours.
        title: name of the figure for screen readers.
        log: labels of the columns with a logarithmic scale. Their numbers are positive,
            and the largest is at most 10^9 times the smallest.
        slider: label, smallest and largest step size. Each axis is then linear up to
            the median absolute value of its numbers and logarithmic beyond, and a line
            states the correlation of the two columns on the axes.
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
    """Return a picture of the scatter plot before a reader chooses anything."""
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


def scatter_still(
    labels: Sequence[str],
    columns: Sequence[Tensor],
    colours: Sequence[str],
    scales: Sequence[str],
) -> str:
    """Return a picture of coloured points, with one labelled column (V,) on each axis.

    Each of the `scales` is "linear", "log", or "symlog", which is linear up to the
    median absolute value and logarithmic beyond. If there are more than `MOST_POINTS`
    points, only one in k is drawn, and a line states the number k.
    """
    figure, axes = pyplot.subplots(figsize=(5, 3.6))
    every = math.ceil(len(colours) / MOST_POINTS)
    across, up = (numbers[::every] for numbers in columns)
    axes.scatter(across, up, s=3, c=colours[::every], lw=0)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    for name, numbers, scale in zip("xy", columns, scales, strict=True):
        most, near = float(numbers.abs().max()), float(numbers.abs().median())
        if scale == "symlog" and most:
            near = near or most
            getattr(axes, f"set_{name}scale")(scale, linthresh=near)
            decade = 10.0 ** math.floor(math.log10(most))
            tens = [decade] if decade < 200 * near else [decade, decade / 100]
            axes.set(**{f"{name}ticks": sorted([0, *tens, *(-ten for ten in tens)])})
        elif scale == "log":
            axes.set(**{f"{name}scale": scale})
    axes.minorticks_off()
    picture = figure_html(figure, f"Tokens by {labels[0]}, across, and {labels[1]}.")
    drawn = f"One token in {every} is drawn." if every > 1 else ""
    return picture + state_line(drawn, "To choose the axes and to find a token")


def _check_drawable(label: str, numbers: Tensor, is_log: bool) -> None:
    """Raise a ValueError if a number cannot be drawn on an axis of this scale."""
    if is_log and not bool((numbers > 0).all()):
        raise ValueError(f"columns: {label}: expected finite numbers above 0")
    if not bool(numbers.isfinite().all()):
        raise ValueError(f"columns: {label}: expected finite numbers")
    if is_log and float(numbers.max() / numbers.min()) > LOG_RANGE:
        raise ValueError(
            f"columns: {label}: expected a ratio of at most {LOG_RANGE:g}, got numbers "
            f"from {float(numbers.min()):g} to {float(numbers.max()):g}"
        )
