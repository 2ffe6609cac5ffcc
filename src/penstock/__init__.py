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
    from penstock.buffers import buffer
    from penstock.decision import decide
    from penstock.errors import PenstockError
    from penstock.exact import optimum
    from penstock.metrics.result import Result
    from penstock.model import Scenario, load, save
    from penstock.packing import pack
    from penstock.runs import compare, simulate
    from penstock.schedule import follow
    from penstock.sizing import size_buffer
    from penstock.targets import allocate
    from penstock.workloads import generate

# Imported when first used: `import penstock` and `penstock --help` must not wait for Numba.
_HOME = {
    "PenstockError": "errors",
    "Result": "metrics.result",
    "Scenario": "model",
    "allocate": "targets",
    "buffer": "buffers",
    "compare": "runs",
    "decide": "decision",
    "follow": "schedule",
    "generate": "workloads",
    "load": "model",
    "optimum": "exact",
    "pack": "packing",
    "save": "model",
    "simulate": "runs",
    "size_buffer": "sizing",
}

__all__ = [
    "PenstockError",
    "Result",
    "Scenario",
    "allocate",
    "buffer",
    "compare",
    "decide",
    "follow",
    "generate",
    "load",
    "optimum",
    "pack",
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
