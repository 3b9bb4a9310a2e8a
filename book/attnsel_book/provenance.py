"""Which numbers of a chapter are stored results: found in its cells as they run.

A name is `STORED` if it is assigned from a function marked by `reads_stored`, and
`LIVE` if it depends on a setting or on a function of `attnsel`; what is computed from
names has the origins of all of them.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Flag
from types import ModuleType
from typing import Any, TypeVar

Reader = TypeVar("Reader", bound=Callable[..., Any])
_IN_QUERY = re.compile(r"@(\w+)")  # a name in `frame.query("size == @DIM")`


class Origin(Flag):
    """Where a number comes from."""

    PLAIN = 0
    STORED = 1
    LIVE = 2


def reads_stored(function: Reader) -> Reader:
    """Mark a function that returns results of a run that is stored with the book."""
    function.reads_stored = True  # type: ignore[attr-defined]
    return function


class Tracer:
    """The origins of the names of one chapter, and of the calls in its present cell."""

    def __init__(self, namespace: Mapping[str, Any], settings: Iterable[str]) -> None:
        self._namespace = namespace
        self._settings = frozenset(settings)
        self._names = dict.fromkeys(self._settings, Origin.LIVE)
        # By the first and last line of a statement, the origins of what it shows.
        self._shown: dict[tuple[int, int], dict[str, Origin]] = {}
        self._body: list[ast.stmt] = []

    def read(self, source: str) -> None:
        """Follow the names through a cell that is about to run."""
        self._shown = {}
        try:
            self._body = ast.parse(source).body
        except SyntaxError:  # the cell says so itself when it runs
            self._body = []
        for statement in self._body:
            self._follow(statement)

    def at(self, line: int, shown: str) -> Origin:
        """Return the origin of what a statement shows under a name.

        Args:
            line: line of the present cell.
            shown: "claim", or a name that `glue` stores.
        """
        around = [span for span in self._shown if span[0] <= line <= span[1]]
        if not around:
            return Origin.PLAIN
        origins = self._shown[min(around, key=lambda span: span[1] - span[0])]
        return origins.get(shown, origins["all"])

    def of_display(self) -> Origin:
        """Return the origin of the table or figure that the present cell ends with."""
        last = self._body[-1] if self._body else None
        if not isinstance(last, ast.Expr):
            return Origin.PLAIN
        names = {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}
        if names & {"claim", "glue", "check", "settings", "stop_unless", "guess"}:
            return Origin.PLAIN
        if ast.unparse(last) == "plt.show()":
            return self._union(
                node for node in self._body if isinstance(node, ast.Expr | ast.For)
            )
        return self._of(last)

    def _union(self, nodes: Iterable[ast.AST]) -> Origin:
        found = Origin.PLAIN
        for node in nodes:
            found |= self._of(node)
        return found

    def _of(self, node: ast.AST) -> Origin:
        """Return the origin of an expression, or of all names in a statement."""
        bound = {
            name.id
            for part in ast.walk(node)
            if isinstance(part, ast.comprehension)
            for name in ast.walk(part.target)
            if isinstance(name, ast.Name)
        }
        arguments = {part.arg for part in ast.walk(node) if isinstance(part, ast.arg)}
        found = Origin.PLAIN
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id not in bound | arguments:
                found |= self._of_name(part.id)
            elif isinstance(part, ast.Attribute):
                found |= _of_object(self._object(part))
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                for name in _IN_QUERY.findall(part.value):
                    found |= self._names.get(name, Origin.PLAIN)
        return found

    def _of_name(self, name: str) -> Origin:
        if name in self._names:
            return self._names[name]
        return _of_object(self._namespace.get(name))

    def _object(self, node: ast.AST) -> Any:
        """Return the object that `module.name` names, None for all else."""
        if isinstance(node, ast.Name):
            value = self._namespace.get(node.id)
            return value if isinstance(value, ModuleType) else None
        if isinstance(node, ast.Attribute):
            return getattr(self._object(node.value), node.attr, None)
        return None

    def _set(self, target: ast.AST, origin: Origin) -> None:
        """Give the names of a target an origin; a part of a value adds its own."""
        if isinstance(target, ast.Name):
            is_setting = target.id in self._settings
            self._names[target.id] = Origin.LIVE if is_setting else origin
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._set(part, origin)
        elif isinstance(target, ast.Starred):
            self._set(target.value, origin)
        else:
            self._add(target, origin)

    def _add(self, target: ast.AST, origin: Origin) -> None:
        """Add an origin to the value that a part, or a method, belongs to."""
        while isinstance(target, ast.Attribute | ast.Subscript | ast.Call):
            target = target.func if isinstance(target, ast.Call) else target.value
        if isinstance(target, ast.Name) and not isinstance(
            self._namespace.get(target.id), ModuleType
        ):
            self._names[target.id] = self._of_name(target.id) | origin

    def _follow(self, node: ast.stmt) -> None:
        """Follow the names through one statement."""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = {
                name.id
                for name in ast.walk(node)
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            }
            outer = {name: self._names.pop(name, None) for name in inside}
            origin = self._of(node)
            self._names.update({k: v for k, v in outer.items() if v is not None})
            self._names[node.name] = origin
        elif hasattr(node, "body"):
            for _ in range(2):  # what the end of a loop sets, its start may use
                if isinstance(node, ast.For):
                    self._set(node.target, self._of(node.iter))
                for body in (node.body, getattr(node, "orelse", [])):
                    before = dict(self._names)
                    for part in body:
                        self._follow(part)
                    for name, origin in before.items():  # the body may not run
                        self._names[name] |= origin
        else:
            self._simple(node)

    def _simple(self, node: ast.stmt) -> None:
        """Follow a statement without a body, and note what it shows."""
        if isinstance(node, ast.Assign):
            for target in node.targets:
                parts, values = _elements(target), _elements(node.value)
                if len(parts) == len(values):
                    for part, value in zip(parts, values, strict=True):
                        self._set(part, self._of(value))
                else:
                    self._set(target, self._of(node.value))
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._set(node.target, self._of(node.value))
        elif isinstance(node, ast.AugAssign):
            self._add(node.target, self._of(node.value))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute):  # such as rows.append(x)
                given = [*call.args, *(keyword.value for keyword in call.keywords)]
                self._add(call.func, self._union(given))
        shown = {"all": self._of(node)}
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
                if inner.func.id == "claim" and len(inner.args) > 1:
                    shown["claim"] = self._of(inner.args[1])
                elif inner.func.id == "glue":
                    shown |= {k.arg or "": self._of(k.value) for k in inner.keywords}
        span = node.lineno, node.end_lineno or node.lineno
        earlier = self._shown.get(span, {})
        self._shown[span] = {
            name: origin | earlier.get(name, Origin.PLAIN)
            for name, origin in shown.items()
        }


def _elements(node: ast.expr) -> list[ast.expr]:
    """Return the parts of a tuple, or the expression as the only one."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _of_object(value: Any) -> Origin:
    """Return the origin of what a function of the packages returns."""
    if getattr(value, "reads_stored", False) is True:
        return Origin.STORED
    if inspect.isroutine(value) or inspect.isclass(value):
        package = (getattr(value, "__module__", "") or "").partition(".")[0]
        return Origin.LIVE if package == "attnsel" else Origin.PLAIN
    return Origin.PLAIN
