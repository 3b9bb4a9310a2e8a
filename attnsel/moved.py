"""Old paths of modules that have moved: they import with a DeprecationWarning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

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
    "attnsel.scale.columns": "attnsel.scale.disk",
    "attnsel.texts.folders": "attnsel_report.readers.folders",
    "attnsel.texts.lines": "attnsel_report.readers.lines",
    "attnsel.texts.refusals": "attnsel_report.readers.refusals",
    "attnsel.texts.tables": "attnsel_report.readers.files",
}


class _MovedModules(MetaPathFinder, Loader):
    """Finds a module at its old path, as the module at its new one."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname not in MOVED:
            return None
        # A package, so that modules are found below it.
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = MOVED[spec.name]
        warnings.warn(
            f"{spec.name} has moved; import {new} instead",
            DeprecationWarning,
            stacklevel=2,
        )
        module = importlib.import_module(new)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back: it has run at its new path."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


# First, so that an empty folder at an old path, left by an update, is not found.
sys.meta_path.insert(0, _MovedModules())
