"""Our Sphinx extensions, one module per subject; `tools.site` loads all of them."""

from typing import Any

EXTENSIONS = (
    "bundle",
    "claims",
    "colab",
    "exercises",
    "formulas",
    "lab",
    "live",
    "openings",
    "pages",
    "reference",
    "results",
    "search",
    "map_strip",
    "numbers",
    "svg",
    "tables",
)


def setup(app: Any) -> dict[str, bool]:
    """Load all our Sphinx extensions."""
    for name in EXTENSIONS:
        app.setup_extension(f"{__name__}.{name}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
