"""Dependencies, version, changelog and README, as users of the package see them."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable

import pytest
import yaml

import attnsel
from support.imports import ROOT, needed, normal
from tools.release import main, notes
from tools.try_wheel import example

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The packages that each folder needs in addition to the core.
ROOMS = {
    "report": ["report/attnsel_report"],
    "hub": ["attnsel_readers/hub.py"],
    "book": ["book/attnsel_book"],
}


def declared(lines: Iterable[str]) -> set[str]:
    names = {re.split(r"[\[<>=!~ ]", line)[0] for line in lines}
    return {normal(name) for name in names} - {"attnsel"}


def modules(*rooms: str) -> set[str]:
    """Return the code of folders and single files."""
    found: set[str] = set()
    for room in rooms:
        path = ROOT / room
        paths = [path] if path.suffix else path.rglob("*.py")
        found |= {path.read_text(encoding="utf-8") for path in paths}
    return found


def test_dependencies_are_what_is_imported():
    core = declared(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    # Loading a file of texts runs the readers, without the rest of the report.
    first = modules("attnsel", "attnsel_readers")
    assert core == needed(first - modules(*ROOMS["hub"]))
    assert len(core) <= 10
    for name, rooms in ROOMS.items():
        added = needed(modules(*rooms)) - core
        if name == "book":
            added -= declared(extras["report"] + extras["hub"])
        assert declared(extras[name]) == added, name


# From a zip, first as if these packages were not installed, then with them.
FROM_A_ZIP = """
import sys
missing = ["jinja2", "matplotlib", "sklearn", "datasets", "huggingface_hub"]
sys.modules.update(dict.fromkeys(missing))
sys.path.insert(0, "package.zip")
import attnsel
assert "package.zip" in attnsel.__file__
corpus = attnsel.load_corpus("mine.csv", min_count=1)
attnsel.fit(attnsel.AttentionClassifier(len(corpus.vocab), 4), corpus, steps=2, lr=0.1)
for ask in ("attnsel.report", "attnsel_book"):
    try:
        attnsel.report if ask == "attnsel.report" else __import__(ask)
    except ModuleNotFoundError as error:
        print(error)
print(len(attnsel.load_corpus("imdb", limit=50, min_count=1)))
try:
    attnsel.load_corpus("someone/reviews")
except ModuleNotFoundError as error:
    print(error)
for name in missing:
    del sys.modules[name]
print(sorted(corpus.vocab), attnsel.Report.__module__)
"""


def test_the_package_works_from_a_zip_and_says_what_to_type_for_the_extras(tmp_path):
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as file:
        rooms = ("attnsel", "report/attnsel_report", "attnsel_readers")
        for folder in map(ROOT.joinpath, rooms):
            for path in folder.rglob("*.*"):
                if path.suffix != ".pyc":
                    file.write(path, path.relative_to(folder.parent))
    rows = "".join(f"a {'good' if i % 2 else 'bad'} film,{i % 2}\n" for i in range(40))
    (tmp_path / "mine.csv").write_text("text,label\n" + rows)
    settings = {k: v for k, v in os.environ.items() if not k.startswith("ATTNSEL")}
    settings |= {"ATTNSEL_PROGRESS": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FROM_A_ZIP],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    report, book, imdb, hub, last = done.stdout.splitlines()
    assert imdb == "50"
    assert report.endswith('not installed; type pip install "attnsel[report]"')
    assert report.startswith("jinja2, sklearn: ")
    assert (
        book == 'matplotlib, sklearn: not installed; type pip install "attnsel[book]"'
    )
    assert 'type pip install "attnsel[hub]"' in hub
    assert last == "['a', 'bad', 'film', 'good'] attnsel_report.result"


def test_the_version_stands_in_one_place_and_its_citation():
    assert PROJECT["dynamic"] == ["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == attnsel.__version__


def test_a_version_has_notes_and_a_version_in_the_making_none(monkeypatch, capsys):
    if "dev" in attnsel.__version__:
        with pytest.raises(ValueError, match="no dated section"):
            main(f"v{attnsel.__version__}")
    monkeypatch.setattr(attnsel, "__version__", "0.2.0")
    main("v0.2.0")
    printed = capsys.readouterr().out
    assert re.search(r"^### (Added|Changed|Fixed|Removed)$", printed, re.MULTILINE)
    assert "\n## " not in printed
    with pytest.raises(SystemExit, match=r"the tag v9\.9\.9 is not"):
        main("v9.9.9")


def test_notes_are_the_section_of_a_version():
    text = "# Changelog\n\n## [Unreleased]\n\n- c\n\n## [1.1.0] - 2030-01-02\n\n- b\n\n"
    text += "## [1.0.0] - 2030-01-01\n\n- a\n\n[1.0.0]: https://example.org\n"
    assert notes(text, "1.1.0") == "- b"
    assert notes(text, "1.0.0") == "- a"
    for version in ("Unreleased", "2.0.0", "1.0", "1.0.0.0"):
        with pytest.raises(ValueError, match="no dated section"):
            notes(text, version)


README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_the_example_of_the_readme_prints_what_the_readme_says(capsys):
    exec(example(README), {})
    *accuracies, labels = capsys.readouterr().out.splitlines()
    for line in accuracies:
        assert line.split()[-1] in README.partition("It prints ")[2]
    assert labels == "['positive', 'negative']"


def test_the_readme_lists_the_first_chapters_and_the_minutes_of_their_exercises():
    rows = re.findall(r"/book/(\w+)\.html\).*/\1\.ipynb\) \| (\d+) min \|", README)
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))["parts"]
    chapters = [c["file"][5:] for part in parts[1:3] for c in part["chapters"]]
    assert [name for name, _ in rows] == chapters
    for name, minutes in rows:
        text = (ROOT / "book" / "text" / f"{name}.md").read_text(encoding="utf-8")
        each = re.findall(r"^:+\{exercise\}.*?(\d+) min\)", text, re.MULTILINE)
        assert sum(map(int, each)) == int(minutes), name
