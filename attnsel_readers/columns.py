"""The class `Columns`, and functions that find the wanted columns of a table."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from attnsel.validation import shortened

SHOWN = 20  # names of columns in a message


class Columns(NamedTuple):
    """The names of the columns that contain texts and labels, and the sample size.

    Attributes:
        text: name of the column of texts, or a list of names of columns whose texts are
            joined.
        label: name of the column of labels; None if the texts have no labels.
        limit: number of rows to sample; None for all rows.
    """

    text: Any
    label: Hashable | None
    limit: int | None = None


def find_columns(there: Sequence[Hashable], wanted: Columns) -> Columns:
    """Return the names that the wanted columns have in a table.

    The name in the table may differ from the wanted name in case and in surrounding
    spaces. If a table has one or two columns without names, the first contains the
    texts and the second contains the labels.

    Raises:
        KeyError: if a wanted column is missing, or if two columns have a wanted name;
            the message lists the columns of the table.
    """
    text: Any
    if isinstance(wanted.text, (list, tuple)):
        text = [_find_column(there, name, -1) for name in wanted.text]
    else:
        text = _find_column(there, wanted.text, 0)
    if wanted.label is None:
        return Columns(text, None)
    return Columns(text, _find_column(there, wanted.label, 1))


def _find_column(there: Sequence[Hashable], wanted: Hashable, place: int) -> Hashable:
    alike = [name for name in there if name == wanted]
    if not alike:
        alike = [name for name in there if plain_name(name) == plain_name(wanted)]
    unnamed = list(range(len(there)))
    is_named = list(there) != unnamed or str(wanted).isdecimal()
    if not alike and not is_named and len(there) <= 2 and place in there:
        return place
    # pandas calls a second column of a name "text.1".
    names = [f"{name:.60}" if isinstance(name, str) else name for name in there]
    if len(alike) != 1 or f"{alike[0]}.1" in there:
        raise KeyError(
            f"expected one column {wanted!r}, got {shortened(names, SHOWN)}; name your "
            "columns with text= and label=, or give their positions, from 0, if the "
            "first line contains no names"
        )
    return alike[0]


def plain_name(name: Hashable) -> str:
    """Return the name of a column in lower case, without surrounding spaces.

    Zero-width characters, which some files begin with, count as spaces.
    """
    return str(name).strip("\u200b\ufeff \t\r\n").casefold()
