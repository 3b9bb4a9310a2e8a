"""What the tests of the built site share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser import serving

BOTH = 10_000  # of a test that changes the window itself


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Look at a page on a phone, then at a desk, then in ways that need both.

    To change a window takes long.
    """
    first: dict[str, int] = {}

    def place(numbered: tuple[int, pytest.Item]) -> tuple[int, int]:
        i, item = numbered
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if "view" not in params:
            return i, 0
        return first.setdefault(params["view"], i), params.get("width", BOTH)

    items[:] = [item for _, item in sorted(enumerate(items), key=place)]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The site, served on this machine."""
    site = Path(__file__).resolve().parents[2] / "_build" / "html"
    with serving(str(site)) as found:
        yield found
