"""Chromium with limited network access, and the complete layout of a page."""

import functools
import gzip
import http.server
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.serving import serving as serving_with


@contextmanager
def serving(folder: str) -> Iterator[str]:
    """Serve a folder on this machine, and yield the address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with serving_with(functools.partial(Quiet, directory=folder)) as address:
        yield address


# Playwright's own list but for what a site on this machine never meets, and the pop-ups
# of the address bar: two pages more a window, drawn though nobody sees them.
UNUSED = (
    "AimEnabled,AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,LensOverlay,MediaRouter,NetworkTimeServiceQuerying,"
    "OptimizationHints,PaintHolding,ThirdPartyStoragePartitioning,"
    "WebUIOmniboxAimPopup,WebUIOmniboxPopup"
)


def start_chromium(playwright: Any) -> Any:
    """Start the system's Chromium if there is one, or else playwright's own.

    The browser can reach only this machine.
    """
    return playwright.chromium.launch(
        executable_path=shutil.which("chromium"),
        args=[
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            f"--disable-features={UNUSED}",
        ],
    )


def sent(path: Path) -> int:
    """Return the size of a file as sent, which is compressed if that is shorter."""
    body = path.read_bytes()
    return min(len(body), len(gzip.compress(body)))


# The parts of a long page that are not laid out yet, as in `attnsel.css`.
WAITING = (
    ".piecemeal .bd-article section > section > :not(section, h2, h3, h4, .laid-out)"
)


def wait_for_layout(tab: Any) -> None:
    """Wait until the layout of an open page is complete."""
    tab.wait_for_function(f"!document.querySelector('{WAITING}')")
