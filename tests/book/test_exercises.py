"""Each check accepts the solution that it shows, and names each known mistake."""

import ast
import dataclasses
import functools
import inspect
import re
import threading
import time
from collections import Counter
from itertools import combinations
from math import comb, exp, log1p
from operator import mul
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import attnsel
from attnsel.corpus import Corpus
from attnsel_book.exercises import check, how_many_are_yours, mine, running
from attnsel_book.exercises.checking import exercise, judge
from attnsel_book.exercises.messages import code, difference
from attnsel_book.exercises.storage import (
    functions,
    keep,
    parts,
    source_of,
)
from support.chapters import BOOK, CHAPTERS, cells_of
from support.display import displayed
from support.tried import TASKS, by_name, of_each, time_enough  # noqa: F401

pytestmark = pytest.mark.usefixtures("time_enough")


@pytest.fixture(autouse=True)
def a_folder_of_ones_own(tmp_path, monkeypatch):
    """Run a test in an empty folder, because right answers are saved there."""
    monkeypatch.chdir(tmp_path)


class Place(NamedTuple):
    """The place of an exercise in the book.

    Attributes:
        above: cells before the check.
        output: output of the check in the book.
        text: text of the exercise.
    """

    above: list[Any]
    output: Any
    text: str


CHECK = re.compile(r'^\w+ = check\(\s*"([\w-]+)"', re.MULTILINE)
EFFORT = r"\((?=[●○]{3},)●+○*, [1-9]\d? min\)"
EXERCISE = re.compile(r"^(:{3,})\{exercise\}.*?^\1$", re.MULTILINE | re.DOTALL)


def in_the_book() -> dict[str, Place]:
    found = {}
    for chapter in CHAPTERS:
        cells = cells_of(chapter)
        for i, cell in enumerate(cells):
            for name in CHECK.findall(cell.source if "outputs" in cell else ""):
                text = "\n".join(c.source for c in cells[:i])
                tasks = [found[0] for found in EXERCISE.finditer(text)]
                own = [task for task in tasks if f":label: ex-{name}\n" in task]
                found[name] = Place(cells[:i], cell.outputs[0], "".join(own))
    return found


PLACES = in_the_book()


def code_of(place: Place) -> list[ast.stmt]:
    """Return the statements of the cells before a check."""
    sources = [c.source for c in place.above if c.cell_type == "code"]
    return [x for s in sources if "%pip" not in s for x in ast.parse(s).body]


@of_each
def test_an_exercise_is_stated_as_contributing_says(name):
    task, place = TASKS[name], PLACES[name]
    file = f"{inspect.getfile(task.solution)}, {name}"
    chapter = f"book/text/{task.solution.__module__.split('.')[-2]}.md, {name}"
    types = task.solution.__annotations__
    assert len(task.mistakes) >= 3, f"{file}: state at least three mistakes"
    assert task.hints[0] != task.hints[1], f"{file}: write two hints"
    assert set(types) == {*inspect.signature(task.solution).parameters, "return"}, (
        f"{file}: annotate each argument and the result"
    )
    assert inspect.getdoc(task.solution), f"{file}: say in a docstring what is returned"
    assert re.search(rf"{EFFORT}\n:label: ex-{name}\n", place.text), (
        f"{chapter}: end the title with (●●○, 10 min) or so; the label is ex-{name}"
    )
    stubs = [x for x in code_of(place) if isinstance(x, ast.FunctionDef)]
    stubs = [x for x in stubs if x.name == task.solution.__name__]
    shown = ast.parse(task.text).body[0]
    shown.body[1:] = ast.parse("...").body
    assert [ast.unparse(stub) for stub in stubs] == [ast.unparse(shown)], (
        f"{chapter}: the stub is the solution's first lines and docstring, then ..."
    )
    assert place.output.metadata["check"] == {"name": name, "state": "open"}, (
        f"{chapter}: run the chapter (make execute) with the stub unfinished"
    )


@of_each
def test_an_answer_is_judged_on_arguments_that_stay_the_same(name):
    task = TASKS[name]
    first, again = ([list(map(content, x)) for x in task.cases()] for _ in range(2))
    assert first == again != []
    sizes = [len(re.findall(r"\d\S*", str(arguments))) for arguments in first]
    assert sizes[0] <= 1.9 * min(sizes), f"{name}: begin with a small example"
    assert judge(task, lambda *_: ...).state == "open"
    assert judge(task, lambda *_: None).state == "open"
    for sentence in task.mistakes:
        verdict = judge(task, task.mistaken(sentence))
        assert verdict.state == "wrong", sentence
        assert [said for said in task.mistakes if said in verdict.text] == [sentence]


@of_each
def test_the_solution_that_is_shown_is_right_with_what_its_chapter_imports(name):
    task, names = TASKS[name], {"attnsel": attnsel}  # by the first cell
    for node in code_of(PLACES[name]):
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(ast.unparse(node), names)
    exec(task.text, names)
    verdict = judge(task, names[task.solution.__name__])
    assert verdict.state == "right", verdict.text


def content(argument: Any) -> Any:
    """Return the content of an exercise's argument as values that can be compared."""
    if isinstance(argument, Corpus):
        return argument.counts.toarray().tolist(), argument.targets.tolist()
    if isinstance(argument, torch.nn.Module):
        return [values.tolist() for values in argument.parameters()]
    if isinstance(argument, torch.Tensor):
        return argument.to_dense().tolist()
    if isinstance(argument, np.ndarray):
        return repr(argument.tolist())  # nan is not equal to itself
    return argument


@pytest.mark.parametrize(
    ("text", "count"), [("sum(y)", 0), ("np.ndarray", 0), ("corpus", 3)]
)
def test_a_mistake_replaces_what_the_body_contains_once(text, count):
    mistakes = {"x": f"{text} -> z"}
    task = dataclasses.replace(TASKS["one-step-alpha"], mistakes=mistakes)
    message = f"one_step/exercises.py: .* {re.escape(repr(text))}, .* {count} times"
    with pytest.raises(ValueError, match=message):
        task.mistaken("x")


def test_each_check_has_its_exercise_and_each_folder_is_a_package():
    assert PLACES.keys() == TASKS.keys()
    folders = {path.parent for path in BOOK.glob("attnsel_book/chapters/*/*.py")}
    bare = [path for path in folders if not (path / "__init__.py").exists()]
    assert not bare, "without an __init__.py its exercises are not found"


def test_a_check_displays_the_verdict_and_help_that_is_folded():
    _, (output,) = displayed(check, "one-step-alpha", lambda corpus: ...)
    line = "○ one-step-alpha: write your lines in place of the dots"
    assert output.data["text/plain"].startswith(line)
    page = output.data["text/html"]
    assert page.count("<details") == 3
    first, second = TASKS["one-step-alpha"].hints
    assert 0 < page.index(first) < page.index(second)
    assert "corpus.counts.T @ corpus.signs" in page
    assert output.metadata == {"check": {"name": "one-step-alpha", "state": "open"}}


def test_a_check_returns_the_function_to_go_on_with():
    solution = TASKS["one-step-alpha"].solution

    def mine(corpus):
        return solution(corpus)

    answers = (mine, lambda corpus: -mine(corpus), lambda corpus: ..., solution)
    found = [displayed(check, "one-step-alpha", answer) for answer in answers]
    assert [inspect.unwrap(used) for used, _ in found] == [mine, *3 * [solution]]
    lines = [output.data["text/plain"] for _, (output,) in found]
    right = (
        "✓ one-step-alpha: right on 10 examples. From here on your function is used."
    )
    assert lines[0].startswith(right)
    assert [line[0] for line in lines] == list("✓✗○○")
    until = ["it is right,", "then", "then"]
    for line, when in zip(lines[1:], until, strict=True):
        said = f"Until {when} the package's function is used"
        assert said in line.partition("\n")[0]
    assert "this is the package's function; write your own" in lines[3]


def alpha_in_a_file(corpus):
    return corpus.counts.T @ corpus.signs.numpy() / len(corpus)


def test_a_right_function_is_there_in_the_next_chapter(capsys):
    solution = TASKS["one-step-alpha"].solution
    assert mine("one-step-alpha") is solution
    printed = capsys.readouterr().out
    assert "package's function is used, because there is no my_attnsel.py" in printed
    _, (output,) = displayed(check, "one-step-alpha", alpha_in_a_file)
    assert "It is kept in my_attnsel.py" in str(output.data)
    kept = Path("my_attnsel.py")
    text = kept.read_text()
    assert parts(text)[1] == {"one-step-alpha": source_of(alpha_in_a_file)}
    changed = text.replace("alpha_in_a_file(corpus)", "alpha(corpus: attnsel.Corpus)")
    for right in (text, changed):
        kept.write_text(right)
        mine("one-step-alpha")
        assert "your function is used" in capsys.readouterr().out
    for broken, why in (
        ("def my_alpha(corpus): return 0", "does not pass: return numbers of"),
        ("def my_alpha(", "fails: SyntaxError"),
        ("my_alpha = 3", "fails: it defines nothing"),
    ):
        kept.write_text(f"# exercise: one-step-alpha\n{broken}\n")
        assert mine("one-step-alpha") is solution
        assert f"my_attnsel.py {why}" in capsys.readouterr().out
    kept.write_text("# exercise: model-logit\n")
    assert mine("one-step-alpha") is solution
    assert "does not contain this exercise" in capsys.readouterr().out


def test_a_chapter_that_is_opened_again_takes_the_function_of_the_reader():
    Path("my_attnsel.py").write_text(
        f"# exercise: one-step-alpha\n{source_of(alpha_in_a_file)}\n"
    )
    used, (output,) = displayed(check, "one-step-alpha", lambda corpus: ...)
    assert inspect.unwrap(used).__name__ == "alpha_in_a_file"
    assert "Until then your function in my_attnsel.py is used." in str(output.data)


def test_functions_of_the_file_use_those_above_them():
    keep({"a": "def f(x):\n    return x + 1", "b": "def g(x):\n    return f(x) * 2"})
    assert functions()["b"](3) == 8
    keep({"a": "def f(x):\n    return x"})
    assert functions()["b"](3) == 6


def test_what_a_reader_added_to_the_file_is_used_and_remains():
    keep({"a": "def f(x):\n    return math.cos(x)"})
    file = Path("my_attnsel.py")
    file.write_text(f"\ufeffimport math\n{file.read_text()}", encoding="utf-8")
    keep({"b": "def g(x):\n    return x"})
    assert functions()["a"](0) == 1
    assert "import math" in file.read_text()


def test_an_error_in_the_file_is_told_with_its_line_and_that_of_the_beginning(capsys):
    file = Path("my_attnsel.py")
    use = "# exercise: one-step-alpha\ndef f(corpus):\n    return helper(corpus)\n"
    file.write_text(f"import nowhere_to_be_found\n\n\n{use}")
    mine("one-step-alpha")
    said = capsys.readouterr().out
    assert "the beginning of my_attnsel.py fails: ModuleNotFoundError" in said
    file.write_text("import math\n\n# exercise: one-step-alpha\ndef f(corpus)\n")
    mine("one-step-alpha")
    assert "my_attnsel.py, line 4)" in capsys.readouterr().out


def test_a_file_that_cannot_be_read_is_named_and_does_not_change(capsys):
    file = Path("my_attnsel.py")
    file.write_bytes(b"# caf\xe9\n")
    _, (output,) = displayed(check, "one-step-alpha", alpha_in_a_file)
    assert "my_attnsel.py cannot be read or written (" in str(output.data)
    assert mine("one-step-alpha") is TASKS["one-step-alpha"].solution
    assert "my_attnsel.py cannot be read ('utf-8' codec" in capsys.readouterr().out
    assert file.read_bytes() == b"# caf\xe9\n"


def test_the_file_names_the_book():
    keep({"a": "f = len"})
    title = re.search("^title: (.*)", (BOOK.parent / "_config.yml").read_text(), re.M)
    assert f'"{title[1]}"' in Path("my_attnsel.py").read_text()


def test_only_a_function_that_works_here_counts_as_the_readers():
    works = running.in_form(len, returning(int))
    fails = running.in_form(lambda x: [][x], returning(str))
    parts = {"one": works, "two": fails, "three": returning(int)}
    said = "You wrote 2 of the 3 parts; still open: three."
    assert how_many_are_yours(parts) == said
    fails(3)
    said = "You wrote 1 of the 3 parts; still open: two, three."
    assert how_many_are_yours(parts) == said
    assert how_many_are_yours({"one": works}) == "You wrote 1 of the 1 parts."


def alpha_with_a_helper(corpus):
    return alpha_in_a_file(corpus)


def test_what_a_later_chapter_cannot_use_is_not_called_kept(capsys):
    _, (output,) = displayed(check, "one-step-alpha", alpha_with_a_helper)
    shown = str(output.data)
    assert "right on" in shown and "It is kept" not in shown
    assert "cannot use it, because" in shown
    remedy = "import or define alpha_in_a_file inside the function, or at the beginning"
    assert f"; {remedy} of my_attnsel.py." in shown
    mine("one-step-alpha")
    assert "the package's function is used" in capsys.readouterr().out


ROW = [1, 2]


def returning(kind):
    """Return a solution whose stub announces results of this type."""

    def solution(x):
        return f"the package's {x}"

    solution.__annotations__["return"] = kind
    return solution


def test_where_the_next_cell_makes_a_function_fail_the_packages_is_used(capsys):
    for fails, why in (
        (lambda x: [][x], "list index out of range"),
        (functools.partial([].pop), "pop from empty list"),
    ):
        used = running.in_form(fails, returning(str))
        assert used(3) == used(3) == "the package's 3"
        assert f"fails here (IndexError: {why})" in capsys.readouterr().out


def smallest_of_all_sets(Q, b):
    for size in range(1, len(Q)):
        for S in combinations(range(len(Q)), size):
            if (Q @ b) * (Q @ b - sum(Q[s] * b[s] for s in S)) < 0:
                return list(S)


def cheapest_of_all_misses(votes, there, relevant):
    def with_miss(i, s):
        Q = [[float(t == r) for t in range(len(votes[0]))] for r in relevant]
        Q[i] = [float(t == s) for t in range(len(votes[0]))]
        return Q

    def loss(Q):
        logits = [sum(map(mul, *rows)) for rows in zip(Q, votes, strict=True)]
        return sum(log1p(exp(-f)) for f in logits)

    misses = ((i, s) for i, s in zip(*there.nonzero(), strict=True) if s != relevant[i])
    return min((with_miss(i, s) for i, s in misses), key=loss)


def share_of_all_labels(n):
    labels = range(2**n)
    return sum(abs(2 * x.bit_count() - n) > 0.8 * n for x in labels) / 2**n


def share_of_all_draws(x, m, n_1, n):
    drawn = Counter(sum(s < n_1 for s in S) for S in combinations(range(n), m))
    likely = sum(count for count in drawn.values() if count <= drawn[x])
    return likely / comb(n, m)


@pytest.mark.parametrize(
    ("name", "slow", "limit", "why"),
    [
        (
            "memorized-chance",
            lambda n: 2 * sum(comb(n, k) for k in range((n + 9) // 10)) / 2**n,
            0.1,
            "not ended",
        ),
        (
            "memorized-chance",
            lambda n: 2 * sum(comb(n, k) * 0.5**n for k in range((n + 9) // 10)),
            60,
            "Overflow",
        ),
        ("explanation-flip", smallest_of_all_sets, 2, "not ended"),
        ("memorized-chance", share_of_all_labels, 2, "not ended"),
        ("own-texts-p", share_of_all_draws, 2, "not ended"),
        ("convergence-cheapest", cheapest_of_all_misses, 2, "not ended"),
    ],
)
def test_an_answer_meets_what_the_next_cell_gives_it(
    monkeypatch, name, slow, limit, why
):
    monkeypatch.setattr(running, "LIMIT", limit)
    verdict = judge(TASKS[name], slow)
    assert verdict.state == "right" and why in verdict.text and verdict.is_for_small
    used, (output,) = displayed(check, name, slow)
    assert used is TASKS[name].solution
    text = output.data["text/plain"]
    assert "right, but" in text and "The next cells use the package's" in text
    assert not Path("my_attnsel.py").exists()


@pytest.fixture
def waiting(monkeypatch):
    """Return a function that makes a slow answer with a record of its calls."""
    monkeypatch.setattr(running, "LIMIT_HERE", 0.2)
    solution = TASKS["memorized-chance"].solution

    def make(wait):
        calls = []

        def slow(n):
            calls.append(n)
            wait(n)
            return solution(n)

        return calls, running.in_form(slow, solution), solution

    return make


def compute(seconds):
    """Use the processor for some seconds, which can take longer on a busy machine."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_where_the_next_cell_takes_too_long_the_packages_is_used(waiting, capsys):
    calls, used, solution = waiting(lambda n: compute(60 if n > 1000 else 0))
    assert used(10) == solution(10)
    assert capsys.readouterr().out == ""
    for _ in range(2):  # the second time without waiting
        assert used(2000) == solution(2000)
    assert calls == [10, 2000]
    said = capsys.readouterr().out
    assert said.count("0.2 s); the package's function is used") == 1


def test_many_calls_are_too_slow_though_each_is_quick(waiting, capsys):
    calls, used, solution = waiting(lambda n: compute(0.06))
    for n in range(10, 20):
        assert used(n) == solution(n)
    assert 1 < len(calls) <= 4
    said = capsys.readouterr().out
    assert (
        said.count("its calls have taken 0.2 s); the package's function is used") == 1
    )


def test_time_in_which_a_function_waits_is_not_counted(waiting, capsys):
    _, used, solution = waiting(lambda n: time.sleep(0.5))
    assert used(10) == solution(10)
    assert running.is_yours(used) and capsys.readouterr().out == ""


def test_the_time_of_the_package_is_not_that_of_the_reader(monkeypatch, capsys):
    monkeypatch.setattr(running, "LIMIT_HERE", 0.2)

    def solution(n: int) -> float:
        compute(0.15)
        return 1.0

    used = running.in_form(lambda n: compute(0.01) or [][n], solution)
    for _ in range(3):
        assert used(3) == 1.0
    said = capsys.readouterr().out  # once, and nothing about time
    assert said.count("IndexError") == said.count("fails here") == 1


@pytest.mark.parametrize(
    ("kind", "given", "wanted"),
    [
        (np.ndarray, torch.tensor([1.0, 2], requires_grad=True), np.array([1.0, 2])),
        (np.ndarray, [torch.tensor(1), 2.5], np.array([1, 2.5])),
        (np.ndarray, {3}, np.array([3])),
        (torch.Tensor, ROW, torch.tensor(ROW)),
        (torch.Tensor, np.eye(2), torch.eye(2, dtype=torch.float64)),
        (tuple[np.ndarray, float], (ROW, np.float32(0.5)), (np.array(ROW), 0.5)),
        (bool, np.True_, True),
        (list[float], ROW, [1.0, 2.0]),
        (
            tuple[list[list[int]], list[int]],
            ([np.array([0.0, 1])], (torch.tensor(1.0),)),
            ([[0, 1]], [1]),
        ),
    ],
)
def test_the_next_lines_get_the_kind_that_the_stub_says(kind, given, wanted):
    found = running.in_form(lambda x: x, returning(kind))(given)
    assert type(found) is type(wanted)
    assert code(found) == code(wanted)


def test_a_result_of_the_announced_kind_is_left_as_it_is():
    x = torch.ones(2, requires_grad=True)

    def solution() -> torch.Tensor:
        return torch.zeros(2)

    assert running.in_form(lambda: x, solution)() is x


def test_an_unknown_name_is_reported():
    with pytest.raises(ValueError, match="no exercise 'nothing'; there are "):
        check("nothing", len)


@pytest.mark.parametrize(
    ("mine", "wanted", "words"),
    [
        ([1.0, 2], [1.0, 2 + 1e-9], None),
        ([-1.0, -2], [1.0, 2], "the sign is reversed"),
        ([2.0, 4], [1.0, 2], "your result is 2 times the expected one"),
        ([2.0, 3], [1.0, 2], "your result is too large by 1"),
        ([1.0], [1.0, 2], "shape (2,); your function returned numbers of shape (1,)"),
        ([1.0, np.nan], [1.0, 2], "your result is nan at index 1, where a number"),
        ([1.0, 0], [1.0, np.nan], "nan is expected at index 1"),
        ([-1.0, 2], [1.0, 2], "sizes of the numbers are right, but some signs are"),
        ([2.0, 1, 3], [1.0, 2, 3], "the numbers are right, but their order is wrong"),
        ([1, 0, 0], [False, True, False], "2 of 3 numbers are wrong"),
        ([[1.0, 5], [3, 4]], [[1.0, 2], [3, 4]], "at index 0, 1 is 5 and should be 2"),
        ({"a"}, [1.0], "your function returned a set"),
        ((x for x in [1.0]), [1.0], "which np.array(list(...)) turns into numbers"),
        ([[1.0], [2.0, 3.0]], [1.0], "other things, or rows of unequal length"),
        ([[1.0, 2], [3, 4]], torch.tensor([[1.0, 2], [3, 4]]), None),
        ([1, 0], np.array([True, False]), None),
        ([-5.0, -1e-10], [-5.0, 0.0], None),  # rounding, beside the -5
        (3, 4.5, "your result is 3, and 4.5 is expected"),  # any number is a multiple
        ([3.0], 3, "return one number; your function returned numbers of shape (1,)"),
        ([np.inf, 5], [np.inf, 1], "the number at index 1 is 5 and should be 1"),
        ([-np.inf, 5, 6], [np.inf, 5, 6], "index 0 is -inf and should be inf"),
        ([1e-17, 1], [0.0, 0], "1 of 2 numbers is wrong; the number at index 1 is 1"),
        ([1.0001, 2.0002], [1.0, 2], "your result is 1.0001 times the expected one"),
        ([3.0, 2.00006], [3.0, 2], "1 of 2 numbers is wrong; the number at index 1"),
        ([1e6, 1e6], [1.0, 2], "2 of 2 numbers are wrong; the number at index 0"),
    ],
)
def test_a_difference_is_put_in_words(mine, wanted, words):
    found = difference([(mine, wanted)])
    assert (words or "") in (found or "") and bool(found) == bool(words)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (([6.0], [3.0]), "your result is 2 times the expected one in all examples"),
        (
            ([7.0], [3.0]),
            "in each example your result is a multiple of the expected one, but the "
            "factor differs between examples, from 2 to 2.33333",
        ),
        (
            ([6.0, 1], [3.0]),
            "2 of 2 numbers are wrong; the number at index 0 is 2 and should be 1",
        ),
    ],
)
def test_a_factor_is_one_of_all_examples(second, words):
    assert difference([([2.0, 4], [1.0, 2]), second]) == words


@pytest.mark.parametrize(
    ("mine", "wanted"),
    [
        (0.0, 1e-6),  # the sizes differ, though not beside the 1 of another example
        (1e-6, 2e-6),
    ],
)
def test_small_numbers_are_compared_with_those_of_their_example(mine, wanted):
    words = f"your result is {mine:g}, and {wanted:g} is expected"
    assert difference([(1.0, 1.0), (mine, wanted)]) == words


def test_a_sentence_about_all_examples_does_not_come_from_one():
    alpha, calls = TASKS["one-step-alpha"].solution, []

    def first(corpus):
        calls.append(corpus)
        return (-1 if len(calls) == 1 else 1) * alpha(corpus)

    assert "some signs are wrong" in judge(TASKS["one-step-alpha"], first).text
    task, factors = TASKS["one-step-gradient"], iter([3])  # a second call fails
    verdict = judge(task, lambda *given: next(factors) * task.solution(*given))
    assert verdict.text == "your result is 3 times the expected one"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[0.5], [2]]), "np.array([[0.5], [2. ]])"),
        (np.array([np.nan, -np.inf]), "np.array([ np.nan, -np.inf])"),
        (torch.tensor(1.5).double(), "torch.tensor(1.5, dtype=torch.float64)"),
        ((0.1 + 0.2, True), "(0.3, True)"),
        (np.float64(2), "2.0"),
        ("a", "'a'"),
        (np.zeros((40, 256)), "<ndarray of shape (40, 256)>"),
        ([[0.5] * 3] * 40, "<list of shape (40, 3)>"),
        (len, "<function len>"),
        (
            Corpus.from_tokens([[0]] * 12, [0, 1] * 6, ["a"]),
            f"attnsel.Corpus.from_tokens({[[0]] * 12}, {[0, 1] * 6}, ['a'])",
        ),
        (
            Corpus.from_tokens([[0]] * 13, [0] + [0, 1] * 6, ["a"]),
            "<Corpus of 13 sequences, 1 tokens>",
        ),
    ],
)
def test_a_value_is_shown_as_it_can_be_pasted(value, text):
    assert code(value) == text
    if not text.startswith("<"):
        names = {"np": np, "torch": torch, "attnsel": attnsel}
        again = eval(text, names)
        assert code(again) == text


def test_expected_and_got_are_always_shown():
    verdict = judge(TASKS["one-step-alpha"], lambda corpus: [1.0, 2.0, 3.0])
    assert verdict.text.startswith(
        "3 of 3 numbers are wrong; the number at index 0 is 1 and"
    )
    assert verdict.example.splitlines()[2:] == [
        "# expected: torch.tensor([0., 1., 0.], dtype=torch.float64)",
        "# got: [1.0, 2.0, 3.0]",
    ]


def test_a_mistake_is_known_though_one_case_overflows():
    def over_the_vocabulary(ids, a, b):
        w = np.exp(a)
        return (w / w.sum())[ids] @ b[ids]

    task = TASKS["model-logit"]
    found = judge(task, over_the_vocabulary).text
    assert found.endswith("; you summed over the whole vocabulary")


def test_a_mistake_is_that_of_a_wrong_result():
    def no_single_points(x, y):
        mean, deviation = TASKS["reviews-bins"].solution(x, y)
        return mean, np.where(deviation == 0, np.nan, deviation)

    found = judge(TASKS["reviews-bins"], no_single_points).text
    assert found.startswith("your result is nan at index 1, ")


def test_an_error_of_a_check_is_not_taken_for_one_of_the_type():
    def fault(result):
        raise ValueError("three classes")

    task = dataclasses.replace(TASKS["one-step-lengths"], fault=fault)
    assert judge(task, task.solution).text == (
        "return sequences of token ids, and labels, with alpha_0 > 0 > beta_0; "
        "your result cannot be checked (ValueError: three classes)"
    )


def test_what_is_printed_is_shown_once_and_not_on_the_page(capsys):
    def prints(corpus):
        print("here")
        return 0

    verdict = judge(TASKS["one-step-alpha"], prints)
    assert verdict.example.count("here") == 1
    assert capsys.readouterr().out == ""


def test_a_case_without_result_is_reported_unless_nothing_was_written():
    alpha = TASKS["one-step-alpha"].solution
    prints, forgets = print, lambda corpus: alpha(corpus) if len(corpus) == 2 else None
    for answer in (prints, forgets):
        verdict = judge(TASKS["one-step-alpha"], answer)
        assert verdict.state == "wrong"
        what = "your function returns nothing here; end every branch with return"
        assert verdict.text == what


@pytest.mark.parametrize("caught", [False, True])
def test_a_loop_without_end_is_reported(caught, monkeypatch):
    monkeypatch.setattr(running, "LIMIT", 0.1)
    stop, threads = [], []

    def endless(corpus):
        threads.append(threading.current_thread())
        while not stop:
            try:
                time.sleep(0.001)
            except BaseException:
                if not caught:
                    raise

    verdict = judge(TASKS["one-step-alpha"], endless)
    (thread,) = threads
    assert thread.daemon  # whatever it catches, Python ends without it
    if not caught:
        thread.join(60)
        assert not thread.is_alive()
    stop.append(True)
    assert verdict.text == "your function fails: it has not ended after 0.1 s"


def test_arguments_are_copies():
    task = TASKS["one-step-alpha"]

    def spoils(corpus):
        corpus.counts.data[:] = 0
        return task.solution(corpus)

    assert judge(task, spoils).state == "wrong"
    assert judge(task, task.solution).state == "right"


def test_an_exercise_is_written_down_rightly():
    common: dict[str, Any] = {"mistakes": {}, "hints": ("", "")}
    with pytest.raises(ValueError, match="is an exercise already"):
        exercise("one-step-alpha", expected=len, **common)
    with pytest.raises(ValueError, match="give either expected= or fault="):
        exercise("new", **common)
