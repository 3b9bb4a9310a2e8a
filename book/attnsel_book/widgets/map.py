"""A scatter of tokens whose axes are chosen, and whose points are named on demand."""

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

LOG_RANGE = 1e9  # greatest over least number of a logarithmic axis: halves hold no more
MOST_POINTS = 1500  # a picture of more is heavier than the figure that replaces it


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


def scatter_still(
    labels: Sequence[str],
    columns: Sequence[Tensor],
    colours: Sequence[str],
    scales: Sequence[str],
) -> str:
    """Draw points in their colours, with two labelled columns (V,) across and up.

    A scale is "linear", "log" or "symlog", which is linear up to the median size and
    logarithmic beyond. Of many points one in so many is drawn, and said to be.
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
