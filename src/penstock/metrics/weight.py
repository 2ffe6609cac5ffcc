"""A metric of a workload, its I/O weight (P2): how many applications' worth of time it wants from the storage."""

from __future__ import annotations

from penstock.engine.compile import limits
from penstock.engine.tally import tally
from penstock.model import Application, Scenario


def io_weight(scenario: Scenario) -> float:
    """Sum over the applications of I/O time / (I/O + compute time), alone and without noise.

    Of an application that goes on forever only the loop counts: everything before it is nothing against it.
    """
    return sum(_share(application, scenario) for application in scenario.applications)


def _share(application: Application, scenario: Scenario) -> float:
    times = tally(application.phases, *limits(application, scenario))
    return times.transfer / (times.compute + times.transfer)
