"""Old paths of modules that have moved: they import with a DeprecationWarning."""

import importlib
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Kept for one version: these paths go in 0.4.
MOVED = {
    "attnsel.checks": "attnsel.validation",
    "attnsel.evidence": "attnsel.significance",
    "attnsel.evidence.groups": "attnsel.significance.groups",
    "attnsel.evidence.leans": "attnsel.significance.lean",
    "attnsel.evidence.luck": "attnsel.significance.exact_test",
    "attnsel.inputs": "attnsel.labels",
    "attnsel.inputs.frequency": "attnsel.encoding",
    "attnsel.inputs.labels": "attnsel.labels",
    "attnsel.inputs.rows": "attnsel.labels",
    "attnsel.reporting": "attnsel_report",
    "attnsel.reporting.baseline": "attnsel_report.baseline",
    "attnsel.reporting.command": "attnsel_report.command",
    "attnsel.reporting.diagnosis": "attnsel_report.diagnosis",
    "attnsel.reporting.estimator": "attnsel_report.estimator",
    "attnsel.reporting.evidence": "attnsel_report.tables",
    "attnsel.reporting.findings": "attnsel_report.result",
    "attnsel.reporting.report": "attnsel_report.report",
    "attnsel.reporting.splits": "attnsel_report.splits",
    "attnsel.scale.columns": "attnsel.encoding",
    "attnsel.texts.folders": "attnsel_report.readers.folders",
    "attnsel.texts.lines": "attnsel_report.readers.lines",
    "attnsel.texts.refusals": "attnsel_report.readers.refusals",
    "attnsel.texts.tables": "attnsel_report.readers.files",
}


class _MovedModules(MetaPathFinder, Loader):
    """Finds a module at its old path, as the module at its new one."""

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        # A package, so that modules are found below it.
        is_moved = fullname in MOVED
        return ModuleSpec(fullname, self, is_package=True) if is_moved else None

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, MOVED[module.__name__]
        message = f"{old} has moved; import {new} instead"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        found = importlib.import_module(new)
        vars(found).setdefault("__path__", [])  # more may be below its old path
        sys.modules[old] = found


# First, so that an empty folder at an old path, left by an update, is not found.
sys.meta_path.insert(0, _MovedModules())
