"""Penstock decides who may do I/O when, at which rate, through which targets and with how much burst buffer.

>>> import penstock
>>> scenario = penstock.generate("example-1", m=4)
>>> penstock.simulate(scenario, sharing="fcfs").sharing
'fcfs'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock import _moved

if TYPE_CHECKING:
    from penstock.errors import PenstockError
    from penstock.metrics.comparison import Comparison
    from penstock.metrics.result import Result
    from penstock.model import Scenario, load, save
    from penstock.studies.attack import attack
    from penstock.studies.buffers import buffer
    from penstock.studies.decision import decide
    from penstock.studies.optimum import optimum
    from penstock.studies.packs import pack
    from penstock.studies.planning import plan
    from penstock.studies.reference import reference
    from penstock.studies.schedules import follow
    from penstock.studies.share import compare, simulate
    from penstock.studies.sizing import size_buffer
    from penstock.studies.targets import allocate
    from penstock.workloads import generate

# Imported when first used: `import penstock` and `penstock --help` must not wait for Numba.
_HOME = {
    "Comparison": "metrics.comparison",
    "PenstockError": "errors",
    "Result": "metrics.result",
    "Scenario": "model",
    "allocate": "studies.targets",
    "attack": "studies.attack",
    "buffer": "studies.buffers",
    "compare": "studies.share",
    "decide": "studies.decision",
    "follow": "studies.schedules",
    "generate": "workloads",
    "load": "model",
    "optimum": "studies.optimum",
    "pack": "studies.packs",
    "plan": "studies.planning",
    "reference": "studies.reference",
    "save": "model",
    "simulate": "studies.share",
    "size_buffer": "studies.sizing",
}

__all__ = [
    "Comparison",
    "PenstockError",
    "Result",
    "Scenario",
    "allocate",
    "attack",
    "buffer",
    "compare",
    "decide",
    "follow",
    "generate",
    "load",
    "optimum",
    "pack",
    "plan",
    "reference",
    "save",
    "simulate",
    "size_buffer",
]


_moved.install()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("penstock")
    if name not in _HOME:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = getattr(import_module(f"penstock.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
