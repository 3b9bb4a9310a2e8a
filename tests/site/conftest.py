"""What the tests of the built site share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser import serving


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The site, served on this machine."""
    site = Path(__file__).resolve().parents[2] / "_build" / "html"
    with serving(str(site)) as found:
        yield found
