"""The external links: `python -m tools.links` lists them with the files they are in.

With `--check` each is requested, which needs the network, and the status is 1 if one
is broken. A site that answers 401, 403 or 429 turns scripts away: its links are shown
as such and count as sound.
"""

from __future__ import annotations

import argparse
import json
import re
import urllib.error
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools import repository

# Round brackets belong to a link where they come in pairs.
LINK = re.compile(
    r"https?://(?!127\.0\.0\.1|localhost)(?:[^\s<>\"'`\\\[\]{}()]|\([^\s()]*\))+"
)
TURNED_AWAY = {401, 403, 429}
PATIENCE = 20.0  # seconds for one answer


def text_of(path: Path) -> str:
    """Return what people wrote in a file: of a notebook the cells, not the outputs."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])


def links(root: Path = repository.ROOT) -> dict[str, list[str]]:
    """Return all external links, sorted, and for each the files that it is in."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in [*repository.files(root), *sorted(root.glob("book/*.bib"))]:
        written = {link.rstrip(".,;:!?*") for link in LINK.findall(text_of(path))}
        for link in written:
            found[link].append(path.relative_to(root).as_posix())
    return dict(sorted(found.items()))


def answer(link: str, patience: float = PATIENCE) -> str:
    """Request a link; return what is wrong with it, or "" if it leads somewhere."""
    request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0"})
    try:
        with urllib.request.urlopen(request, timeout=patience):
            return ""
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.reason}"
    except (OSError, ValueError) as error:  # no such host, no answer, no such scheme
        return f"{type(error).__name__}: {error}"


def check(found: dict[str, list[str]], patience: float = PATIENCE) -> int:
    """Request all links and print those with a fault; return how many are broken."""
    with ThreadPoolExecutor(8) as pool:
        faults = list(pool.map(lambda link: answer(link, patience), found))
    broken = 0
    for (link, files), fault in zip(found.items(), faults, strict=True):
        turned_away = fault[:3].isdecimal() and int(fault[:3]) in TURNED_AWAY
        broken += bool(fault) and not turned_away
        if fault:
            kind = "unknown" if turned_away else "broken"
            print(f"{kind}: {link} ({', '.join(files)}): {fault}")
    print(f"{len(found)} links, {broken} broken")
    return broken


def main() -> int:
    """List the links or check them; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="request each link")
    found = links()
    if parser.parse_args().check:
        return int(check(found) > 0)
    for link, files in found.items():
        print(f"{link}  {', '.join(files)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
