"""Errors for files that cannot be read, usually with a line of code as a remedy.

The line unpacks or converts the file, in Python or in a shell after `python -c`.
"""

import re
import sqlite3
from contextlib import closing, suppress
from pathlib import Path, PurePath

# By ending: the kind of file, and the pandas call that reads it as a data frame.
CALLS = {
    ".pkl": (
        "a pickle, which can run code, so make sure that you trust it",
        "read_pickle({})",
    ),
    ".h5": ("an HDF file", "read_hdf({})"),
    ".sav": ("an SPSS file", "read_spss({})"),
    ".sas7bdat": ("a SAS file", "read_sas({}, encoding='utf-8')"),
    ".html": ("an HTML page", "read_html({})[0]"),
}
CALLS |= {".pickle": CALLS[".pkl"], ".hdf5": CALLS[".h5"], ".htm": CALLS[".html"]}
DATABASES = (".db", ".sqlite", ".sqlite3")
ARCHIVE = re.compile(r"(\.tar|\.tgz|\.tbz2|\.txz|\.tar\.\w+)$", re.IGNORECASE)
NO_TABLES = (".7z", ".rar", ".pdf", ".docx", ".doc", ".rtf", ".odt", ".epub")


def refuse_unreadable(path: PurePath | str) -> None:
    """Raise a ValueError with a remedy if a file is of a kind that cannot be read."""
    name = str(path)
    ending = PurePath(name.lower()).suffix
    if ending in CALLS:
        what, call = CALLS[ending]
        raise ValueError(f"{name} is {what}; {into_csv(name, call.format(repr(name)))}")
    if ending in DATABASES:
        raise ValueError(f"{name} is a database; {_of_database(name)}")
    if ARCHIVE.search(name):
        raise ValueError(f"{name} is an archive; {unpack(name)}")
    if ending in NO_TABLES:
        raise ValueError(
            f"{name} contains no table; give its texts and labels as a table of two "
            "columns, text and label, such as a CSV file"
        )


def unpack(name: str) -> str:
    """Return code that unpacks an archive, followed by the name of the new folder."""
    folder = ARCHIVE.sub("", re.sub(r"\.zip$", "", name, flags=re.IGNORECASE))
    # shutil knows endings in small letters only
    kind = ", 'zip'" if name.lower().endswith(".zip") else ""
    line = f"`import shutil; shutil.unpack_archive({name!r}, {folder!r}{kind})`"
    return f"unpack it with {line}, and then read the folder {folder!r}"


def into_csv(
    name: str, call: str, imports: str = "pandas", *, has_names: bool = True
) -> str:
    """Return the code that writes a CSV file, followed by the name of this file."""
    target = str(PurePath(name).with_suffix(".csv"))
    if target == name:
        target = str(PurePath(name).with_suffix("")) + "-mended.csv"
    options = "index=False" if has_names else "index=False, header=False"
    line = f"`import {imports}; pandas.{call}.to_csv({target!r}, {options})`"
    return f"convert the file with {line}, and then read {target!r}"


def _of_database(name: str) -> str:
    """Return the line that converts the first table of a database to a CSV file."""
    table = "reviews"
    with suppress(sqlite3.Error):
        if Path(name).is_file():
            with closing(sqlite3.connect(name)) as database:
                tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
                table = next(iter(database.execute(tables)), (table,))[0]
    call = f"read_sql('SELECT * FROM {table}', sqlite3.connect({name!r}))"
    return into_csv(name, call, imports="pandas, sqlite3")
