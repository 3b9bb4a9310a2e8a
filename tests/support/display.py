"""The outputs that a call displays in a notebook."""

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


def displayed(call: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, list]:
    """Return the result of a call, and the outputs that it displays."""
    InteractiveShell.instance()
    with capture_output() as captured:
        returned = call(*given, **named)
    return returned, captured.outputs
