"""A pytest plugin that compares the outputs of cells with their stored outputs.

The plugin nbval runs the cells. By itself it compares only the lines of claims, without
their values. This plugin compares texts, tables and figures of all cells that are not
tagged `nbval-ignore-output`: words exactly, and numbers as far as machines agree. For
example, a cell that is changed to take the smallest value instead of the largest fails
until somebody runs its chapter again.
"""

import math
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from tools.execute import LIVE, remove_chance

# Machines round differently, and training amplifies the differences.
Slack = tuple[float, float]  # relative, absolute
SHOWN: Slack = 0.03, 0.0
CLAIMED: Slack = 0.3, 3e-4  # a claim is checked by its own bounds
POINTS = 2.0  # tolerance of a coordinate in a figure, in points (72 per inch)
NOISE = 1e-6  # smaller numbers need only have the same order of magnitude

NUMBER = re.compile(r"(?<![\w#])[-+−]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.I)
# Names that depend on all digits of what they name, pixels, and arrays in base64.
CHANCE = re.compile(
    r"(?<=[#\"])(?:[mp]|image)[0-9a-f]{10}\b|\battnsel-[0-9a-f]{12}\b"
    r"|(?<=base64,)[^\"]+|[\w+/]{60,}"
)
PATH = re.compile(r'(?<= d=")[^"]*')


def corners(path: re.Match[str]) -> str:
    """Return the extent, the start and the end of a path in a figure.

    The number of points of a line is not compared, because rounding may change it.
    """
    numbers = [float(n) for n in re.findall(r"-?[\d.]+(?:e-?\d+)?", path[0])]
    xs, ys = numbers[::2], numbers[1::2]
    if not ys:
        return ""
    return f"{min(xs)} {max(xs)} {min(ys)} {max(ys)} {xs[0]} {ys[0]} {xs[-1]} {ys[-1]}"


def shown(outputs: list[Any]) -> Iterator[tuple[str, str]]:
    """Yield MIME types and texts of outputs, then all text that a cell has printed."""
    printed = ""
    for output in outputs:
        if output["output_type"] == "stream":
            printed += output["text"] if output["name"] == "stdout" else ""
            continue
        data = output.get("data", {})
        # The plain text of a table depends on the width of the terminal.
        spare = "text/plain" if "text/html" in data else LIVE
        yield from ((kind, data[kind]) for kind in sorted(data) if kind != spare)
    if printed:
        yield "printed", printed


def near(a: str, b: str, kind: str, slack: Slack) -> bool:
    """Return whether two printed numbers may be the same result on two machines."""
    x, y = (float(n.replace(",", "").replace("−", "-")) for n in (a, b))
    if abs(x) < NOISE and abs(y) < NOISE:
        return max(abs(x), abs(y)) <= 10 * min(abs(x), abs(y)) + 1e-15
    last = 0.0
    if "e" not in a.lower():
        last = 1.01 * 10.0 ** -len(a.partition(".")[2])
    if "svg" in kind:
        last = POINTS
    return math.isclose(x, y, rel_tol=slack[0], abs_tol=max(last, slack[1]))


def difference(stored: list[Any], new: list[Any], slack: Slack = SHOWN) -> str:
    """Return the first difference between outputs as text, or an empty string."""
    for old, now in zip_longest(shown(stored), shown(new), fillvalue=("nothing", "")):
        if old[0] != now[0]:
            return f"{now[0]} where {old[0]} is stored"
        if old[1] == now[1]:
            continue
        texts = [CHANCE.sub("", text) for text in (old[1], now[1])]
        if "svg" in old[0]:
            texts = [PATH.sub(corners, text) for text in texts]
        words = [NUMBER.split(text) for text in texts]
        for a, b in zip_longest(*words, fillvalue="(the end)"):
            if a != b:
                same = [x == y for x, y in zip_longest(a, b)].index(False)
                part = slice(max(0, same - 20), same + 40)
                return f"{b[part]!r} where {a[part]!r} is stored ({old[0]})"
        for a, b in zip(*(NUMBER.findall(text) for text in texts), strict=True):
            if a != b and not near(a, b, old[0], slack):
                return f"{b} where {a} is stored ({old[0]})"
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """After nbval has run a cell, compare its output with the stored output."""
    yield
    if not hasattr(item, "cell"):
        return  # a test, and not a cell
    shows = item.test_outputs
    for output in shows:
        remove_chance(output.get("data", {}), item.cell.id)
    tags = item.cell.metadata.get("tags", [])
    if "nbval-ignore-output" in tags:
        return
    slack = CLAIMED if "nbval-check-output" in tags else SHOWN
    if found := difference(item.cell.outputs, shows, slack):
        pytest.fail(
            f"{item.nodeid} shows {found}. If that is meant: make execute "
            f"CHAPTERS={item.path.stem}, and read the text around it",
            pytrace=False,
        )
