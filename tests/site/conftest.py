"""Fixtures that the tests of the built site share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser import serving


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Serve the site on this machine, and yield its address."""
    site = Path(__file__).resolve().parents[2] / "_build" / "html"
    with serving(str(site)) as found:
        yield found
