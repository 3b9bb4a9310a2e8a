"""What is tried in turns: too much for each push, and another part at each commit."""

import subprocess
from pathlib import Path


def commit() -> int:
    """Return the number of the commit, 0 in a copy without its history."""
    call = ["git", "rev-parse", "--short=8", "HEAD"]
    folder = Path(__file__).parent
    return int(subprocess.run(call, capture_output=True, cwd=folder).stdout or b"0", 16)
