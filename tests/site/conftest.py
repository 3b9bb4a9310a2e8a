"""What the tests of the built site share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.measure_pages import serving


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site, served on this machine."""
    site = Path(__file__).resolve().parents[2] / "_build" / "html"
    with serving(str(site)) as found:
        yield found
