"""What jobs asked for, taken out of a journal as a scenario: the volumes that they moved and the time they computed.

A scenario shares one bandwidth. Where a controller shares several resources, one of them is looked at: a phase counts
with the part of its bytes that went there, and one that used others only counts as time. Phases that had not ended are
left out, so that what really happened and what is simulated is the same work.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from penstock.errors import InvalidOption
from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.core.resources import Routes
from penstock.live.journal import JournalEntry, JournalError
from penstock.lookback.phases import PastPhase, Phases
from penstock.lookback.walk import walk
from penstock.model import Scenario


@dataclass(frozen=True)
class Real:
    """How a job really fared: when it began and ended, in seconds from the beginning, and what it would take alone."""

    name: str
    nodes: int
    release: float
    completion: float
    ideal: float
    operations: int


@dataclass(frozen=True)
class JournalTraffic:
    """The traffic on one resource."""

    scenario: Scenario
    resource: str
    capacity: float
    changes: int  # of the capacity; the one that was in force longest is taken
    policies: tuple[str, ...]  # that really decided, the longest first
    jobs: tuple[Real, ...]
    unfinished: int  # phases that were left out


class _Watch(Phases):
    """Phases, and the settings of the last controller."""

    settings: ControllerSettings

    def happened(self, state: ControllerState, entry: JournalEntry, wall: float) -> None:
        """Remember the settings."""
        self.settings = state.settings
        super().happened(state, entry, wall)


def traffic(directory: str | os.PathLike[str], resource: str | None = None) -> JournalTraffic:
    """What a journal says was asked for, of one resource: the one named, or the one that moved most."""
    watch = _Watch(job="")
    walk(directory, watch)
    watch.finish()
    ended = [phase for phase in watch.closed if phase.moved > 0.0]
    if not ended:
        raise JournalError(f"{directory}: no job has finished any I/O, so there is nothing to try a policy on")
    routes = Routes(watch.settings.resources)
    name = _chosen(routes, ended, resource)
    share = {key: _share(routes, name, *key) for key in {(phase.direction, phase.targets) for phase in ended}}
    capacities = watch.capacity[name]
    capacity = max(capacities, key=capacities.__getitem__)
    jobs = _jobs(ended, share)
    begin = min(job[0].posted - job[0].work for job in jobs.values())
    names = _unique_names(jobs)
    documents = [_document(names[app], job, share, capacity, begin) for app, job in jobs.items()]
    scenario = Scenario.from_document(
        {"version": 1, "platform": {"bandwidth": capacity}, "applications": documents}, str(directory)
    )
    real = tuple(_real(names[app], job, share, capacity, begin) for app, job in jobs.items())
    policies = tuple(sorted(watch.policies, key=lambda each: -watch.policies[each]))
    left = len(watch.open)
    return JournalTraffic(scenario, name, capacity, len(capacities) - 1, policies, real, left)


def _chosen(routes: Routes, phases: Sequence[PastPhase], asked: str | None) -> str:
    if asked is not None:
        if asked not in routes.place:
            raise InvalidOption(f"--resource is {asked!r}; known: {', '.join(routes.place)}")
        return asked
    moved: Counter[str] = Counter()
    for phase in phases:
        for name in routes.place:
            moved[name] += _share(routes, name, phase.direction, phase.targets) * phase.moved  # type: ignore[assignment]
    return max(routes.place, key=lambda name: moved[name])


def _share(routes: Routes, name: str, direction: str, targets: tuple[str, ...]) -> float:
    """The part of such a phase that goes to a resource."""
    shares = dict(routes.find(direction, targets).shares)
    return shares.get(routes.place[name], 0.0)


Shares = Mapping[tuple[str, tuple[str, ...]], float]


def _jobs(phases: Sequence[PastPhase], share: Shares) -> dict[int, list[PastPhase]]:
    """The phases of each application that used the resource at all. Who came first is first: that breaks ties."""
    jobs: dict[int, list[PastPhase]] = {}
    for phase in sorted(phases, key=lambda each: (each.app, each.posted)):
        jobs.setdefault(phase.app, []).append(phase)
    return {app: job for app, job in jobs.items() if any(share[each.direction, each.targets] for each in job)}


def _unique_names(jobs: Mapping[int, Sequence[PastPhase]]) -> dict[int, str]:
    counts = Counter(job[0].job for job in jobs.values())
    return {app: job[0].job if counts[job[0].job] == 1 else f"{job[0].job}#{app}" for app, job in jobs.items()}


def _document(name: str, job: Sequence[PastPhase], share: Shares, capacity: float, begin: float) -> dict[str, Any]:
    phases: list[dict[str, float]] = []
    for work, phase in zip(_works(job), job, strict=True):
        part = share[phase.direction, phase.targets]
        phases.append({"compute": work})
        phases.append({phase.direction: _moved(phase) * part} if part else {"compute": _seconds(phase)})
    return {
        "name": name,
        "nodes": _nodes(job),
        "bandwidth": _limit(job, share, capacity),
        "release": job[0].posted - job[0].work - begin,
        "phases": phases,
    }


def _real(name: str, job: Sequence[PastPhase], share: Shares, capacity: float, begin: float) -> Real:
    limit = _limit(job, share, capacity)
    ideal = sum(_works(job))
    for phase in job:
        part = share[phase.direction, phase.targets]
        ideal += _moved(phase) * part / limit if part else _seconds(phase)
    ended = max(phase.ended or 0.0 for phase in job)
    return Real(name, _nodes(job), job[0].posted - job[0].work - begin, ended - begin, ideal, len(job))


def _works(job: Sequence[PastPhase]) -> list[float]:
    """Seconds between phases, as the journal has them, which are what the job computed, and waited for nobody."""
    gaps = [max(0.0, after.posted - (before.ended or after.posted)) for before, after in pairwise(job)]
    return [job[0].work, *gaps]


def _limit(job: Sequence[PastPhase], share: Shares, capacity: float) -> float:
    """What a job can use of the resource."""
    parts = [phase.limit * share[phase.direction, phase.targets] for phase in job]
    return min(capacity, max(parts))


def _nodes(job: Sequence[PastPhase]) -> int:
    return max(1, round(max(phase.nodes for phase in job)))


def _moved(phase: PastPhase) -> float:
    """What a phase can have moved: a command that counts nothing says in the end that it moved all it had announced."""
    return min(phase.moved, phase.limit * _seconds(phase))


def _seconds(phase: PastPhase) -> float:
    return (phase.ended or phase.posted) - phase.posted
