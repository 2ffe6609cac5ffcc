"""What an application asks of the machine, as a study of plans reckons: how much it moves, how long it runs alone."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from penstock.model import COMPUTE, WRITE, Application, Phase, Repeat, Scenario, Trace, Write


class Needs(NamedTuple):
    """When it runs, if alone; how many bytes a second it moves meanwhile; the largest write at a stretch."""

    start: float
    end: float
    demand: float
    burst: float

    def meets(self, other: Needs) -> bool:
        """Whether two run at the same time."""
        return self.start < other.end and other.start < self.end


class _Sum(NamedTuple):
    seconds: float = 0.0
    bytes: float = 0.0
    burst: float = 0.0

    def plus(self, other: _Sum, times: int = 1) -> _Sum:
        burst = max(self.burst, other.burst)
        return _Sum(self.seconds + times * other.seconds, self.bytes + times * other.bytes, burst)


def needs_of(application: Application, scenario: Scenario) -> Needs:
    """Reckoned with its cap, or with what the machine can move if it has none."""
    phases = application.phases
    found = _of_trace(phases) if isinstance(phases, Trace) else _of_phases(phases)
    alone = found.seconds + found.bytes / _cap(application, scenario)
    start = max(application.release, scenario.window.begin if scenario.window else 0.0)
    demand = found.bytes / alone if alone > 0.0 else 0.0
    return Needs(start, inf if application.endless else start + alone, demand, found.burst)


def _of_phases(phases: Iterable[Phase]) -> _Sum:
    """Of an endless loop one round counts: the ratio of its sums is what matters."""
    whole = _Sum()
    for phase in phases:
        if isinstance(phase, Repeat):
            inner = _of_phases(phase.phases)
            whole = inner if phase.endless else whole.plus(inner, int(phase.repeat))
        elif hasattr(phase, "compute"):
            whole = whole.plus(_Sum(seconds=phase.amount))
        else:
            whole = whole.plus(_Sum(bytes=phase.amount, burst=phase.amount if isinstance(phase, Write) else 0.0))
    return whole


def _of_trace(trace: Trace) -> _Sum:
    computes, writes = trace.kind == COMPUTE, trace.kind == WRITE
    burst = float(trace.amount[writes].max()) if writes.any() else 0.0
    return _Sum(float(trace.amount[computes].sum()), float(trace.amount[~computes].sum()), burst)


def _cap(application: Application, scenario: Scenario) -> float:
    platform = scenario.platform
    own = [application.bandwidth, application.read_bandwidth, application.write_bandwidth]
    own += [max(application.profile.values())] if application.profile else []
    if stated := [each for each in own if each]:
        return min(stated) / application.node_skew
    if platform.node_bandwidth:
        return application.nodes * platform.node_bandwidth / application.node_skew
    nodes = platform.io_nodes.bandwidth if platform.io_nodes else None
    whole = [each for each in (platform.bandwidth, platform.write_bandwidth, platform.read_bandwidth, nodes) if each]
    return min(whole, default=inf) / application.node_skew
