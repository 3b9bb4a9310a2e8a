"""Plant faults in `attnsel`, one at a time, and see what notices.

`python -m tools.mutants` runs the unit tests, and the chapter that has most to do with
it (on the bundled corpus), on a copy of the tree for each fault, and writes the table
`tools/mutants.md`; with words after it, only of the faults whose description holds one
of them. The tests are taken to pass without a fault: run `make test-unit` first.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import NamedTuple

import nbformat

from tools.colab import ROOT

TABLE = ROOT / "tools" / "mutants.md"
PATIENCE = 600  # seconds for one run; a fault that makes it hang is noticed too
LEFT_OUT = (".git", ".venv", "_build", ".*_cache", ".hypothesis", "__pycache__")
# These look at pages, files and disks, not at what the package computes.
ELSEWHERE = (
    "colab",
    "faults",
    "hub",
    "notebooks",
    "runner",
    "site",
)
PAGE = ("book", "scripts", "live", "explorer", "widgets")  # the tests of the room
HEAD = f"""\
# Faults planted, and what notices them

Audit of {date.today():%Y-%m-%d}.

`python -m tools.mutants` plants these faults in a copy of `attnsel`, one at a time,
runs the unit tests and, on generated reviews, the chapter that has most to do with it,
and writes this table. It names the first test and the first cell that fail; a dash
stands where no chapter shows the fault.

| fault | module | unit test | chapter |
| --- | --- | --- | --- |"""
NONE = "none"


class Fault(NamedTuple):
    """A text of a module of `attnsel` and the wrong one to put in its place."""

    what: str
    module: str
    old: str
    new: str
    chapter: str = ""  # the one that should notice, if any can

    @property
    def path(self) -> str:
        """The file of the module, from the root of the repository."""
        suffix = "" if Path(self.module).suffix else ".py"
        return f"attnsel/{self.module}{suffix}"


FAULTS = [
    # The model and its gradient
    Fault(
        "no shift of the scores before the exponential",
        "model",
        "w = torch.exp(a - top)",
        "w = torch.exp(a)",
    ),
    Fault(
        "no shift in a sequence's softmax",
        "model",
        "torch.exp(stored - top[rows])",
        "torch.exp(stored)",
        chapter="model",
    ),
    Fault(
        "one shift where the scores spread too far for it",
        "model",
        "torch.float32: 60.0",
        "torch.float32: 600.0",
        chapter="model",
    ),
    Fault(
        "attention normalized by the length",
        "model",
        "torch.cat((w * b, w), dim=1)",
        "torch.cat((w * b, torch.ones_like(w)), dim=1)",
        chapter="model",
    ),
    Fault(
        "attention without counts",
        "model",
        "w = C.values() * torch.exp(",
        "w = torch.exp(",
        chapter="model",
    ),
    Fault(
        "no gradient through the sum of the weights",
        "model",
        "logits = sums[:, :-1] / sums[:, -1:]",
        "logits = sums[:, :-1] / sums[:, -1:].detach()",
        chapter="one_step",
    ),
    Fault(
        "p and v exchanged in the gradient of E",
        "learners",
        "torch.mm(g[i], P,",
        "torch.mm(g[i], P.flip(0),",
        chapter="synthetic",
    ),
    Fault(
        "gradient of p from the values' half",
        "learners",
        "torch.mm(g[i].T, E[i]",
        "torch.mm(g[i].flip(1).T, E[i]",
        chapter="synthetic",
    ),
    Fault(
        "initial entries of variance 1/d^2",
        "model",
        "entries.mul_(dim**-0.5)",
        "entries.mul_(1 / dim)",
        chapter="deviations",
    ),
    Fault(
        "seed ignored",
        "model",
        "manual_seed(seed)",
        "manual_seed(0)",
        chapter="deviations",
    ),
    # Training
    Fault(
        "sign of the loss",
        "model",
        "softplus(-signs",
        "softplus(signs",
        chapter="one_step",
    ),
    Fault(
        "sign of the one step along v",
        "train",
        "model.directions(), alpha=-lr",
        "model.directions(), alpha=lr",
        chapter="one_step",
    ),
    Fault(
        "one step that moves the model it was given",
        "train",
        "stepped = copy.deepcopy(model)",
        "stepped = model",
        chapter="one_step",
    ),
    Fault(
        "test accuracy of the training corpus",
        "train",
        "self.learner.logits(self.test)",
        "self.learner.logits(self.corpus[: len(self.test)])",
        chapter="memorized",
    ),
    Fault(
        "a zero logit counted as right",
        "model",
        "to(logits) * logits > 0",
        "to(logits) * logits >= 0",
    ),
    Fault(
        "a draw between classes counted as right",
        "model",
        "logits[is_own] > highest_other",
        "logits[is_own] >= highest_other",
    ),
    Fault(
        "snapshots one step late",
        "train",
        "training.measure(step in snapshots,",
        "training.measure(step - 1 in snapshots,",
        chapter="settings",
    ),
    # More classes, a key-query matrix
    Fault(
        "no gradient of the values where the scores spread",
        "model",
        "gap = b[columns] - limit[rows]",
        "gap = b.detach()[columns] - limit[rows]",
        chapter="model",
    ),
    Fault(
        "key-query matrix transposed",
        "model",
        "self.key_query @ self.cls",
        "self.cls @ self.key_query",
        chapter="deeper",
    ),
    Fault(
        "sign of the query of a key-query matrix",
        "model",
        "query = self.key_query @ self.cls",
        "query = -self.key_query @ self.cls",
        chapter="deeper",
    ),
    Fault(
        "Adam's rate for a matrix that of a vector",
        "learners",
        "len(self.model.cls) ** -0.5",
        "1.0",
        chapter="deeper",
    ),
    Fault(
        "sign of 1/K in the signed frequency of K classes",
        "theory",
        ".double() - 1 / corpus.n_classes",
        ".double() + 1 / corpus.n_classes",
        chapter="classes",
    ),
    Fault(
        "outputs of K classes taken as orthonormal",
        "theory",
        "lr * rates @ (v @ v.T)",
        "lr * rates",
        chapter="classes",
    ),
    # Deeper models
    Fault(
        "residual around the hidden layer left out",
        "deep",
        "hidden + gathered if self.residual",
        "hidden if self.residual",
        chapter="deeper",
    ),
    Fault(
        "residual around the first layer left out",
        "deep",
        "H + read if self.residual",
        "H if self.residual",
        chapter="deeper",
    ),
    Fault(
        "hidden layer transposed",
        "deep",
        "gathered @ self.hidden.T",
        "gathered @ self.hidden",
        chapter="deeper",
    ),
    Fault(
        "sign of the scores of the second layer",
        "deep",
        "torch.softmax(H[:, :, 0] + logs",
        "torch.softmax(-H[:, :, 0] + logs",
        chapter="deeper",
    ),
    Fault(
        "counts left out of the first softmax",
        "deep",
        "torch.baddbmm(logs[:, None],",
        "torch.baddbmm(logs[:, None].clamp(max=0),",
        chapter="deeper",
    ),
    Fault(
        "counts left out of the second softmax",
        "deep",
        "H[:, :, 0] + logs",
        "H[:, :, 0] + logs.clamp(max=0)",
        chapter="deeper",
    ),
    Fault(
        "first key-query matrix transposed",
        "deep",
        "X @ self.first_key_query",
        "X @ self.first_key_query.T",
        chapter="deeper",
    ),
    Fault(
        "no gradient through the attention below an MLP",
        "deep",
        "per_sample_weights=q",
        "per_sample_weights=q.detach()",
        chapter="deeper",
    ),
    # Several processes, checkpoints
    Fault(
        "gradients of processes not weighted by their parts",
        "learners",
        "summed(self.share * g)",
        "summed(g)",
    ),
    Fault(
        "optimizer's state not restored",
        "train",
        'self.learner.set_state(state["optimizers"])',
        "pass",
    ),
    # Theory
    Fault(
        "no 1/2 in Lemma 4.1",
        "theory",
        ".square().sum()) / 2 * rates",
        ".square().sum()) * rates",
        chapter="one_step",
    ),
    Fault(
        "Lemma 4.1 with the mean length",
        "theory",
        "mean_count(corpus, _class_weights(corpus) / lengths)",
        "mean_count(corpus, _class_weights(corpus) / lengths.double().mean())",
        chapter="one_step",
    ),
    Fault(
        "the margin of the wrong side",
        "theory",
        "points[local[:, 0]] - points[local[:, 1]]",
        "points[local[:, 1]] - points[local[:, 0]]",
        chapter="max_margin",
    ),
    # The flow
    Fault(
        "sign of the pull of the top token",
        "flow",
        "pull[top] = -y",
        "pull[top] = y",
        chapter="max_margin",
    ),
    Fault(
        "sign of the logistic factor",
        "flow",
        "log_expit(-y * logits)[row]",
        "log_expit(y * logits)[row]",
        chapter="floating_point",
    ),
    Fault(
        "flow without counts",
        "flow",
        "[field.token] + field.log_counts",
        "[field.token]",
        chapter="convergence",
    ),
    Fault(
        "no tilt of g in the Jacobian of the flow",
        "flow",
        "self.attention * (1 + (y * expit(y * logits))[row] * lead)",
        "self.attention",
    ),
    # The certificate
    Fault(
        "the selection level without the mean",
        "flow",
        "self.selection_level = float(miss.min()) / n",
        "self.selection_level = float(miss.min())",
        chapter="convergence",
    ),
    Fault(
        "the direction level twice too high",
        "flow",
        "self.margin / (2 * self.A * (self.margin + self.D))",
        "self.margin / (self.A * (self.margin + self.D))",
        chapter="convergence",
    ),
    Fault(
        "the certificate's constant without the path to the lower level",
        "flow",
        "return log_excess, theta, path + spare",
        "return log_excess, theta, spare",
        chapter="convergence",
    ),
    Fault(
        "the certificate's constant with half the leads",
        "flow",
        "math.log(2 * self.A * self.rho)",
        "math.log(self.A * self.rho)",
        chapter="convergence",
    ),
    # Assumption 1 and the margin problem
    Fault(
        "a lean of 0.05 passes for none",
        "theory",
        "> 1e-12 * mean_count(corpus, weights).numpy()",
        "> 0.05",
        chapter="synthetic",
    ),
    Fault(
        "no check of the solver's answer",
        "theory",
        "if not residual < 1e-6:",
        "if residual > 1e6:",
    ),
    # Data
    Fault(
        "labels swapped",
        "corpus",
        "(2 * self.targets - 1)",
        "(1 - 2 * self.targets)",
        chapter="model",
    ),
    Fault(
        "stale cache: its key ignores the settings",
        "texts/cache",
        "content.digest(), settings))",
        "content.digest()))",
    ),
    Fault(
        "stale cache: its key ignores the data",
        "texts/cache",
        "hashlib.sha256(path.read_bytes())",
        "hashlib.sha256()",
    ),
    Fault(
        "stale cache: its key ignores the vocabulary",
        "texts/loading",
        "named, text, label, fit, limit, seed",
        "named, text, label, min_count, max_tokens, limit, seed",
    ),
    Fault(
        "the training file for the test split",
        "texts/hub",
        'f"{split}.parquet"',
        '"train.parquet"',
    ),
    Fault(
        "generated test reviews that are the training ones",
        "texts/hub",
        'stream = {"train": 0, "test": 1}[split]',
        "stream = 0",
        chapter="memorized",
    ),
    Fault(
        "four stars read as negative",
        "texts/hub",
        'frame["label"] > 2)',
        'frame["label"] > 3)',
    ),
    Fault(
        "a new label in a test split passes for a missing one",
        "encoding",
        "if name not in number:",
        "if False:",
    ),
    Fault(
        "labels of the first rows for those that are kept",
        "corpus",
        "torch.from_numpy(numbers[kept])",
        "torch.from_numpy(numbers[: len(kept)])",
    ),
    Fault(
        "stars in alphabetical order",
        "encoding",
        "return int(number[1])",
        "return number[1]",
    ),
    Fault(
        "a vocabulary fitted to rows that are left out",
        "encoding",
        "numbers[start:stop] >= 0",
        "numbers[start:stop] >= -1",
    ),
    Fault(
        "rows of the Hub unchecked",
        "texts/hub",
        "and rows != published:",
        "and False:",
    ),
    Fault(
        "rows left out and not told of",
        "texts/loading",
        "report_left_out(corpus.left_out, n",
        "report_left_out({}, n",
    ),
    # The page
    Fault(
        "the apostrophe of phones not straightened",
        "book/textbox.js",
        '.replaceAll("’", "\'")',
        "",
    ),
    Fault(
        "numbers are no tokens of the page",
        "book/textbox.js",
        "[\\\\p{L}\\\\p{N}]+(?:'",
        "[\\\\p{L}]+(?:'",
    ),
    Fault(
        "the page's softmax without its total",
        "book/textbox.js",
        "odds.map((w) => w / total)",
        "odds",
    ),
    Fault(
        "the page sums attention over unknown words",
        "book/textbox.js",
        "id < 0 ? 0 : Math.exp(scores[id] - most)",
        "Math.exp(id < 0 ? 0 : scores[id] - most)",
    ),
    Fault(
        "signs lost in packed numbers",
        "book/tips.js",
        "(h >> 15 ? -unit : unit)",
        "unit",
    ),
    Fault(
        "the flow of the page without counts",
        "book/plane.js",
        "dot(places[s], p) + Math.log(count)",
        "dot(places[s], p)",
    ),
    Fault(
        "sign of the shift in the pull of the page",
        "book/plane.js",
        "signs[n] * (gaps[i] - shift)",
        "signs[n] * (gaps[i] + shift)",
    ),
    Fault(
        "the pull of the page without its logistic factor",
        "book/plane.js",
        "(total * far)",
        "total",
    ),
    Fault(
        "a margin of the page that some pair violates",
        "book/plane.js",
        "leads.every((lead) =>",
        "leads.some((lead) =>",
    ),
    Fault(
        "the change of a step added once for all sizes",
        "book/map.js",
        "b + size * change[i]",
        "b + change[i]",
    ),
    Fault(
        "a correlation about zero",
        "book/map.js",
        "f(a - mx, y[i] - my)",
        "f(a, y[i])",
    ),
    Fault(
        "a claim without its upper bound",
        "book/claims",
        "between[0] <= x <= between[1]",
        "between[0] <= x",
    ),
    Fault(
        "a claim of nan holds",
        "book/claims",
        "if not (holds and math.isfinite(x))",
        "if not (holds or math.isnan(x))",
    ),
    Fault(
        "packed numbers in the wrong order of bytes",
        "book/figures",
        '"<f2"',
        '">f2"',
    ),
    Fault(
        "colour of the least class",
        "book/figures",
        "CLASSES[row.index(value)]",
        "CLASSES[row.index(min(row))]",
    ),
    # Evidence
    Fault(
        "z with the variance of labels drawn anew, not permuted",
        "report/luck",
        "(n - per_class) / (n * (n - 1))",
        "(n - per_class) / (n * n * (n - 1))",
        chapter="one_step",
    ),
    Fault(
        "z that takes the counts of a sequence as independent",
        "report/luck",
        "counts.multiply(counts).sum(axis=0) - total**2 / n",
        "total - total**2 / n",
    ),
    Fault(
        "no prior in the shrunken lean",
        "report/luck",
        "return (found + a) / (held + a.sum())",
        "return (found + 1e-9 * a) / (held + 1e-9 * a.sum())",
        chapter="own_texts",
    ),
    Fault(
        "finds where luck is likely",
        "report/luck",
        "q_values(corpus) <= rate",
        "q_values(corpus) > rate",
        chapter="own_texts",
    ),
    # What the chapters show
    Fault(
        "bins off by one",
        "statistics",
        "(edges[:-1] + edges[1:]) / 2",
        "edges[1:]",
        chapter="reviews",
    ),
    Fault(
        "values in place of ranks",
        "statistics",
        "np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))",
        "np.corrcoef(x, y)",
        chapter="reviews",
    ),
]


def planted(fault: Fault | None, folder: Path) -> Path:
    """Copy the tree, with the fault in it if there is one, and return the copy."""
    tree = folder / "tree"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT))
    if fault is not None:
        module = tree / fault.path
        text = module.read_text(encoding="utf-8")
        if text.count(fault.old) != 1:
            raise ValueError(
                f"{fault.what}: {module.name} holds {fault.old!r} not once"
            )
        module.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    return tree


def run(tree: Path, *arguments: str) -> list[str]:
    """Run pytest in a copy; return the names of what failed, as it prints them."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE", *arguments]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "PYTHONPATH": str(tree),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ATTNSEL_CACHE": cache,
            "ATTNSEL_DATA": "",
            "ATTNSEL_PROGRESS": "0",
            "HF_HOME": f"{cache}/hub",
            "HF_ENDPOINT": "http://127.0.0.1:9",
            "OMP_NUM_THREADS": "1",
        }
        try:
            done = subprocess.run(
                command,
                cwd=tree,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return ["takes too long"]
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::\S.*?)(?: - .*)?$", done.stdout, re.M)
    if done.returncode and not failed:
        failed = [f"pytest ends with {done.returncode}"]
    return failed


def own_tests(tree: Path, fault: Fault) -> list[str]:
    """Return the test files that import a fault's module, that of its name first."""
    stem = Path(fault.module).stem
    if fault.module.startswith("book/"):
        return [f"tests/test_{name}.py" for name in PAGE]
    imports = re.compile(rf"^(?:from|import) .*\b{stem}\b", re.M)
    files = sorted(tree.glob("tests/test_*.py"), key=lambda p: p.stem != f"test_{stem}")
    left_out = {f"test_{name}" for name in ELSEWHERE}
    return [
        str(path.relative_to(tree))
        for path in files
        if path.stem not in left_out
        and (path.stem == f"test_{stem}" or imports.search(path.read_text("utf-8")))
    ]


def run_tests(tree: Path, fault: Fault) -> str:
    """Return the first unit test that fails, of its module's and then of all."""
    ignored = [f"--ignore=tests/test_{name}.py" for name in ELSEWHERE]
    # One file after the other: the first one notices nearly all faults.
    for tests in [*([path] for path in own_tests(tree, fault)), [*ignored, "tests"]]:
        if failed := run(tree, "-x", *tests):
            return failed[0].split("::")[-1]
    return ""


def run_chapter(tree: Path, chapter: str) -> str:
    """Return the name of the first cell of a chapter that fails, or nothing."""
    options = ["--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout=300", "-x"]
    options += ["--nbval-sanitize-with", "tests/nbval.cfg", "-W", "default"]
    failed = run(tree, *options, f"book/{chapter}.ipynb")
    number = re.search(r"Cell (\d+)$", failed[0]) if failed else None
    if number is None:
        return failed[0] if failed else ""
    notebook = nbformat.read(tree / "book" / f"{chapter}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return str(code[int(number[1])].id)


def judge(fault: Fault) -> tuple[str, str]:
    """Return the test and the cell of the fault's chapter that notice it first."""
    with tempfile.TemporaryDirectory() as folder:
        tree = planted(fault, Path(folder))
        test = run_tests(tree, fault)
        return test, run_chapter(tree, fault.chapter) if fault.chapter else ""


def row(fault: Fault, test: str, cell: str) -> str:
    """Return the row of the table on a fault."""
    where = f"{fault.chapter} (`{cell}`)" if cell else NONE if fault.chapter else "-"
    noticed = f"`{test}`" if test else NONE
    return f"| {fault.what} | `{fault.module}` | {noticed} | {where} |"


def table() -> dict[str, str]:
    """Return the rows of the table as it stands, by what the fault is."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = [line for line in lines if line.startswith("| ")][2:]
    return {line.split(" | ")[0].removeprefix("| "): line for line in rows}


def main(*words: str) -> int:
    """Judge the faults that hold one of the words, or all; return the exit status."""
    chosen = [f for f in FAULTS if not words or any(word in f.what for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        tree = planted(None, Path(folder))
        named = sorted({fault.chapter for fault in chosen} - {""})
        failed = [name for name in named if run_chapter(tree, name)]
    if failed:
        sys.exit(f"these chapters fail without any fault: {', '.join(failed)}")
    missed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for fault, found in zip(chosen, pool.map(judge, chosen), strict=True):
            missed += not any(found)
            line = row(fault, *found)
            print(line, flush=True)
            # After each, so that an interrupted run keeps what it has found.
            rows = table() | {fault.what: line}
            kept = [rows[f.what] for f in FAULTS if f.what in rows]
            TABLE.write_text("\n".join([HEAD, *kept]) + "\n", encoding="utf-8")
    print(f"{len(chosen)} faults planted, {len(chosen) - missed} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
