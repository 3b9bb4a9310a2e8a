"""Functions of the book's scripts, called in node."""

import atexit
import functools
import json
import re
import subprocess
from pathlib import Path
from typing import Any

from attnsel_book.widgets.embedding import source
from tools.site.node import node


def stored(page: str) -> Any:
    """Return the data that a figure passes to its script."""
    (text,) = re.findall(r'getElementById\("attnsel-\w+"\), (.*?)\);\n', page)
    return json.loads(text)


def committed(path: Path) -> Any:
    """Return the reviews that a stored script passes to a function."""
    return json.loads(path.read_text("utf-8").partition("(")[2].removesuffix(");\n"))


def call(scripts: list[str], expression: str, data: Any = None) -> Any:
    """Run scripts in node, and return the value of an expression in `data`."""
    return evaluate("".join(map(source, scripts)), expression, data)


SERVER = """
const answer = async (line) => {
  const [code, expression, data] = JSON.parse(line);
  const body = `"use strict";\\n${code}\\nreturn (${expression});`;
  return {value: await new Function("data", body)(data)};
};
const listed = (_, x) => ArrayBuffer.isView(x) ? [...x] : x;
require("readline").createInterface({input: process.stdin}).on("line", (line) =>
  answer(line).catch((error) => ({error: error.stack})).then((found) =>
    console.log(JSON.stringify(found, listed))));
"""


@functools.cache
def server() -> subprocess.Popen[str]:
    """Start a node process that evaluates each line of its input."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [node(), "-e", SERVER], stdin=pipe, stdout=pipe, text=True
    )
    atexit.register(process.communicate)
    return process


def evaluate(code: str, expression: str, data: Any = None) -> Any:
    """Run code in node, and return the value of an expression or of its promise."""
    process = server()
    assert process.stdin and process.stdout
    print(json.dumps([code, expression, data]), file=process.stdin, flush=True)
    found = json.loads(process.stdout.readline())
    assert "error" not in found, found["error"]
    return found["value"]
