"""Import paths of earlier versions: `from penstock.sharing import sharing` in a user's file gives today's module.

The name finds the very module of today, not a copy, so that classes and registries are the same under both names.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

# Old → new, below `penstock`; what lies below a package moves with it unless it has a line of its own.
MOVED = {
    "sharing": "policies.sharing",
    "allocation": "policies.allocation",
    "placement": "policies.placement",
    "buffering": "policies.buffering",
    "mapping": "policies.mapping",
    "decision": "studies.decision",
    "runs": "studies.share",
    "schedule": "studies.schedules",
    "exact": "studies.optimum",
    "packing": "studies.packs",
    "targets": "studies.targets",
    "buffers": "studies.buffers",
    "sizing": "studies.sizing",
    "profiles": "studies.profiles",
    "shadow": "lookback",
    "shadow.policies": "lookback.shadow",
    "live.wire": "wire.messages",
    "live.tokens": "wire.tokens",
    "campaign.advice": "campaign.recommendation",
    "report.theme": "report.parts.theme",
    "report.allotment_plot": "report.targets.plot",
    "report.campaign_pareto": "report.campaign.pareto",
    "report.pack_plot": "report.packs.plot",
    "report.profile_plot": "report.profiles.plot",
}


def home(name: str) -> str | None:
    """Today's full name of a module under an earlier one; None if it has not moved.

    >>> home("penstock.sharing.order"), home("penstock.model")
    ('penstock.policies.sharing.order', None)
    """
    first, _, rest = name.partition(".")
    if first != "penstock":
        return None
    parts = rest.split(".")
    for length in range(len(parts), 0, -1):
        if new := MOVED.get(".".join(parts[:length])):
            return ".".join(["penstock", new, *parts[length:]])
    return None


class _Renamed:
    """A finder and loader that hands out modules under the names that they had."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        today = home(name) if name.startswith("penstock.") else None
        # A loader by what it can do; its base class would cost every start-up another import.
        return ModuleSpec(name, self, origin=today) if today else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        assert spec.origin is not None
        module = import_module(spec.origin)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # Importing under the old name has put its own specification there.
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """From now on old names are found. First in line: below a moved package the usual finder would load a copy."""
    sys.meta_path.insert(0, _Renamed())
