"""Figures that Python draws again when a reader changes one of their controls."""

import html
import importlib.util
import inspect
import math
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from IPython.display import display
from matplotlib import pyplot
from matplotlib.figure import Figure

from attnsel_book.style import svg

LIVE = "application/vnd.jupyter.widget-view+json"
MISSING = (
    "This figure moves only with ipywidgets, which is not installed. Run %pip install "
    "ipywidgets, and restart the kernel."
)


def interactive_figure(
    draw: Callable[..., Figure], **choices: Sequence[Any] | str
) -> None:
    """Display a figure with a control for each argument in `choices`.

    Each change of a control calls `draw` again in the notebook's kernel, and the new
    figure replaces the old one. The notebook stores the first figure, with the initial
    values of the controls, as a picture for readers without a kernel.

    Args:
        draw: function that returns a figure and has a default for each argument that
            has a control.
        choices: values of each argument. Increasing numbers make a slider, and a list
            of words makes a menu. A string is the initial text of a text field.

    Raises:
        ValueError: if the default of a slider or a menu is not one of its `choices`.
    """
    start = {name: _start(draw, name, choices[name]) for name in choices}
    picture = _drawn(draw, start)
    bundle: dict[str, Any] = {"image/svg+xml": picture, "text/plain": "a figure"}
    if importlib.util.find_spec("ipywidgets") is None:
        print(MISSING)
    else:
        bundle[LIVE] = _widget_of(draw, choices, start, picture)
    display(bundle, raw=True)


def _start(draw: Callable[..., Figure], name: str, values: Sequence[Any] | str) -> Any:
    """Return the value at which the control of an argument starts."""
    if isinstance(values, str):
        return values
    default = inspect.signature(draw).parameters[name].default
    for value in values:
        same = value == default
        if same or (not isinstance(value, str) and math.isclose(value, default)):
            return value
    raise ValueError(
        f"the default {name}={default!r} is not one of the values "
        f"{', '.join(map(str, values))} of its control; add {default!r} to the values, "
        "or change the default"
    )


def _drawn(draw: Callable[..., Figure], values: Mapping[str, Any]) -> str:
    """Return the figure that `draw` makes of these values, as SVG."""
    figure = draw(**values)
    pyplot.close(figure)  # so that the cell does not show it a second time
    return svg(figure)


def _widget_of(
    draw: Callable[..., Figure],
    choices: Mapping[str, Sequence[Any] | str],
    start: Mapping[str, Any],
    picture: str,
) -> dict[str, Any]:
    """Return the widget of a notebook, with controls above a picture."""
    import ipywidgets  # not at the top, because a chapter runs without it

    shown = ipywidgets.HTML(picture)
    parts = {
        name: _part(ipywidgets, name, values, start[name])
        for name, values in choices.items()
    }

    def redraw(_change: Any) -> None:
        try:
            shown.value = _drawn(
                draw, {name: part.value for name, part in parts.items()}
            )
        except Exception:  # a widget would hide the error in a log
            shown.value = f"<pre>{html.escape(traceback.format_exc(limit=-1))}</pre>"

    for part in parts.values():
        part.observe(redraw, names="value")
    box = ipywidgets.VBox([*parts.values(), shown])
    return {"version_major": 2, "version_minor": 0, "model_id": box.model_id}


def _part(ipywidgets: Any, name: str, values: Sequence[Any] | str, start: Any) -> Any:
    """Return the control of one argument."""
    look: Any = {
        "description": name.replace("_", " "),
        "style": {"description_width": "9em"},
        "layout": {"width": "min(36em, 100%)"},
    }
    if isinstance(values, str):
        return ipywidgets.Text(start, continuous_update=False, **look)
    if all(isinstance(value, str) for value in values):
        return ipywidgets.Dropdown(options=list(values), value=start, **look)
    options = [(f"{value:,.4g}", value) for value in values]
    return ipywidgets.SelectionSlider(options=options, value=start, **look)
