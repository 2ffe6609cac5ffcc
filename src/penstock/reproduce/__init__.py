"""The papers' evaluations, run again: each figure or table is an experiment, which is campaigns, numbers and a drawing.

experiment    what an experiment is             catalogue    all of them, by id
reproduction  from an id to files               means, bins  from results to numbers with intervals
figures       the drawings they share           tables       the same for terminals
p1_… p5       the experiments, by paper
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.reproduce.catalogue import IDS, find
    from penstock.reproduce.experiment import Experiment, ExperimentSettings
    from penstock.reproduce.reproduction import Reproduction, reproduce

_HOME = {
    "IDS": "catalogue",
    "Experiment": "experiment",
    "Reproduction": "reproduction",
    "ExperimentSettings": "experiment",
    "find": "catalogue",
    "reproduce": "reproduction",
}

__all__ = ["IDS", "Experiment", "ExperimentSettings", "Reproduction", "find", "reproduce"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'penstock.reproduce' has no attribute {name!r}")
    return getattr(import_module(f"penstock.reproduce.{_HOME[name]}"), name)
