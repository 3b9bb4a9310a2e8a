"""Functions of the book's scripts, called in node."""

import json
import re
import subprocess
from typing import Any

from attnsel_book.figures import source
from tools.node import node


def stored(page: str) -> Any:
    """Return the data that a figure gives its script."""
    (text,) = re.findall(r'getElementById\("attnsel-\w+"\), (.*?)\);\n', page)
    return json.loads(text)


def call(scripts: list[str], expression: str, data: Any = None) -> Any:
    """Return the value of an expression on `data` after these scripts, as JSON."""
    return evaluate("".join(map(source, scripts)), expression, data)


def evaluate(code: str, expression: str, data: Any = None) -> Any:
    """Return the value of an expression, or of its promise, on `data` after a code."""
    code = (
        f'"use strict";\n{code}\n'
        'const data = JSON.parse(require("fs").readFileSync(0, "utf8"));\n'
        "const listed = (_, x) => ArrayBuffer.isView(x) ? [...x] : x;\n"
        f"(async () => console.log(JSON.stringify(await ({expression}), listed)))();"
    )
    done = subprocess.run(
        [node(), "-e", code],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        timeout=600,  # a busy machine
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
