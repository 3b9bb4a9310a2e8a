"""Run the notebooks of chapters, and store the results in the same files.

`python -m tools.execute` runs all notebooks of the book, unless names of chapters
follow. A notebook gets new outputs, clean metadata, a sentence about time and memory,
and the current numbers in its text (`tools/glued.py`). Its file is replaced only if all
cells ran without a warning.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from attnsel.files import write_files
from tools import glued

BOOK = Path(__file__).resolve().parent.parent / "book"
SUMMARY_TAG = "run-summary"
LIVE = "application/vnd.jupyter.widget-view+json"
README_TAG = "readme-figure"  # the cell whose figure the README shows
README_FIGURE = BOOK / "_static" / "overview.svg"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = [5, 10, 15, 20, 30, 40, 50, 60, 90, 120, 180, 240, 300, 600]
# CPU seconds and memory that a kernel used. Wall time depends on other processes, too.
# Linux's getrusage also counts the process that started the kernel; /proc does not.
USED = """
import os, pathlib, re, resource, sys
print(sum(os.times()[:4]))
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]))
else:
    unit = 1 if sys.platform == "darwin" else 1024
    print(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def summary(seconds: float, peak_bytes: float, old: str) -> str:
    """Return the sentence about time and memory at the beginning of a chapter.

    The time in the sentence `old` stays if the new time is up to a third shorter on the
    same number of cores. The memory stays if the new memory differs by up to a third.
    Therefore a rerun usually does not change the file.
    """
    rounded = next((s for s in SECONDS if seconds <= s), SECONDS[-1])
    gigabytes = max(0.1, round(peak_bytes / 1e9, 1))
    cores = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
    stored = re.search(r"about (\d+) s on (\d+) CPU cores? and ([\d.]+) GB", old)
    if stored:
        if int(stored[2]) == cores and 2 / 3 <= seconds / float(stored[1]) <= 1:
            rounded = int(stored[1])
        if 2 / 3 <= peak_bytes / 1e9 / float(stored[3]) <= 4 / 3:
            gigabytes = float(stored[3])
    return (
        f"*From top to bottom this chapter takes about {rounded} s on {cores} CPU "
        f"core{'s' if cores > 1 else ''} and {gigabytes:.1f} GB of memory.*"
    )


def clean(notebook: Any) -> None:
    """Remove metadata and random ids of a run, and widgets, which need a kernel."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in notebook.cells:
        kept = {k: v for k, v in cell.metadata.items() if k in ("tags", "mystnb")}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if stays(o.get("data", {}))]
            for output in cell.outputs:
                remove_chance(output.get("data", {}), cell.id)


def stays(data: Any) -> bool:
    """Remove any widget from an output; return False if there was one but no SVG."""
    return data.pop(LIVE, None) is None or "image/svg+xml" in data


def remove_chance(data: Any, cell: str) -> None:
    """Remove random parts, such as ids, from an output of the cell with id `cell`."""
    # An object without a text form shows its address; a styled table has a random id.
    for kind, chance, lasting in (
        ("text/plain", r" at 0x[0-9a-f]+(?=>)", ""),
        ("text/html", r"\bT_[0-9a-f]{5}(?=[_\"\s])", f"T_{cell}"),
    ):
        if kind in data:
            data[kind] = re.sub(chance, lasting, data[kind])


def noise(notebook: Any) -> list[str]:
    """Return the texts that cells wrote to standard error."""
    return [
        output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]


def run(path: Path, timeout: int) -> str:
    """Run one notebook and replace its file; return a line about time and memory.

    Raises:
        RuntimeError: if a cell fails, warns or writes to standard error, or if the text
            mentions a number that no cell stores.
    """
    notebook = nbformat.read(path, as_version=4)
    old = glued.stored(notebook, path.stem)
    clean(notebook)
    notebook.cells.append(nbformat.v4.new_code_cell(USED))
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=timeout,
            kernel_name="python3",
            record_timing=False,
            coalesce_streams=True,  # the pieces of a stream differ between runs
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env=os.environ | {"ATTNSEL_PROGRESS": "0"})
        except (CellExecutionError, TimeoutError) as error:
            raise RuntimeError(f"a cell fails\n{error}") from None
    used = notebook.cells.pop().outputs[0].text.split()
    seconds, peak = map(float, used)
    written = noise(notebook)
    if written:
        raise RuntimeError("it writes to standard error\n" + "\n".join(written))
    text = ""
    for cell in notebook.cells:
        if SUMMARY_TAG in cell.metadata.get("tags", []):
            text = summary(seconds, peak, cell.source)
            cell.source = text
    numbers = glued.all_stored() | glued.stored(notebook, path.stem)
    try:
        glued.write(notebook, path.stem, numbers, old)
    except ValueError as error:
        raise RuntimeError(str(error)) from None
    clean(notebook)
    nbformat.validate(notebook)
    files: dict[Path, bytes | dict[str, Any]] = {
        path: f"{nbformat.writes(notebook)}\n".encode()
    }
    for cell in notebook.cells:
        if README_TAG in cell.metadata.get("tags", []):
            files[README_FIGURE] = cell.outputs[0].data["image/svg+xml"].encode()
    write_files(files)
    return f"{seconds:.0f} s, {peak / 1e9:.2f} GB: {text or 'no summary cell'}"


def main() -> int:
    """Run all chapters, or only those named as arguments; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "chapters", nargs="*", help='names such as "model", or paths; default: all'
    )
    parser.add_argument("--timeout", type=int, default=600, help="seconds per cell")
    arguments = parser.parse_args()
    paths = [
        Path(name) if name.endswith(".ipynb") else BOOK / f"{name}.ipynb"
        for name in arguments.chapters
    ] or sorted(BOOK.glob("*.ipynb"))
    missing = [str(path) for path in paths if not path.is_file()]
    if missing:
        parser.error(f"no such chapter: {', '.join(missing)}")
    failed = 0
    for path in paths:
        try:
            print(f"{path.name}: {run(path, arguments.timeout)}", flush=True)
        except (RuntimeError, OSError) as error:
            failed += 1
            print(f"{path.name} is left as it was: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
