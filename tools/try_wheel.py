"""Run the README's example with an installed wheel instead of the working tree.

`python -m tools.try_wheel WHEEL FOLDER` replaces FOLDER by a new environment. There,
Python finds the wheel and the packages of the current environment, but neither the
editable attnsel nor the working tree. A path file adds the folder of these packages to
the search path. Python ignores the path files in that folder, for example the one of
the editable attnsel.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = re.compile(
    r"^```python\n(import attnsel\n.*?)^```$", re.MULTILINE | re.DOTALL
)
# Runs before the example, and checks that the wheel is imported and contains its types.
LOOK = """\
import attnsel, importlib.metadata, pathlib, sys
folder = pathlib.Path(attnsel.__file__).parent
assert folder.is_relative_to(sys.prefix), folder
assert attnsel.__version__ == importlib.metadata.version("attnsel")
assert (folder / "py.typed").is_file()
print("attnsel", attnsel.__version__, "in", folder)
"""


def example(text: str) -> str:
    """Return the Python example in the README's `text`."""
    (code,) = EXAMPLE.findall(text)
    return code


def environment(folder: Path, wheel: Path) -> Path:
    """Install a wheel in a new environment, and return the path of its Python."""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install"]
    options = ["--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, *options, str(wheel)], check=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    here = sysconfig.get_path("purelib")
    (packages / "dependencies.pth").write_text(f"{here}\n", encoding="utf-8")
    return python


def main(wheel: str, folder: str) -> None:
    """Install a wheel, and run the README's example with warnings as errors."""
    place = Path(folder).resolve()
    python = environment(place, Path(wheel).resolve())
    code = LOOK + example((ROOT / "README.md").read_text(encoding="utf-8"))
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    command = [str(python), "-I", "-W", "error", "-c", code]
    subprocess.run(command, check=True, cwd=place, env=outside)


if __name__ == "__main__":
    main(*sys.argv[1:])
