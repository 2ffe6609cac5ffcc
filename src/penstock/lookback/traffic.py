"""What jobs asked for, looking back at a journal, as a scenario: what they moved and how long they computed.

Which resources are looked at, and how a phase counts there, is in `sight`. Phases that had not ended are left out, so
that what really happened and what is simulated is the same work.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.journal import JournalEntry, JournalError
from penstock.lookback.phases import PastPhase, Phases
from penstock.lookback.sight import Sight, sight
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
    """The traffic on one resource, or on all that were used."""

    scenario: Scenario
    resources: Mapping[str, float]  # name and capacity
    changes: int  # of capacities; those that were in force longest are taken
    policies: tuple[str, ...]  # that really decided, the longest first
    jobs: tuple[Real, ...]
    unfinished: int  # phases that were left out
    on_names: int = 0  # phases of operations on names, which the simulator does not know
    elsewhere: int = 0  # phases on other targets than those of their job's plan, which count as time


class _Watch(Phases):
    """Phases, and the settings of the last controller."""

    settings: ControllerSettings

    def happened(self, state: ControllerState, entry: JournalEntry, wall: float) -> None:
        """Remember the settings."""
        self.settings = state.settings
        super().happened(state, entry, wall)


def traffic(directory: str | os.PathLike[str], resource: str | None = None, since: float = -inf) -> JournalTraffic:
    """What a journal says was asked for: of the resource that is named, else of all that were used (see `sight`).

    With `since` (seconds since 1970), by phases that were announced from then on.
    """
    watch = _Watch(job="")
    walk(directory, watch, since)
    watch.finish()
    ended = [phase for phase in watch.closed if phase.moved > 0.0 and phase.wall >= since]
    if not ended:
        raise JournalError(f"{directory}: no job has finished any I/O, so there is nothing to try a policy on")
    capacity = {name: max(known, key=known.__getitem__) for name, known in watch.capacity.items()}
    seen = sight(watch.settings.resources, capacity, ended, resource)
    jobs = _jobs(ended, seen)
    begin = min(job[0].posted - job[0].work for job in jobs.values())
    names = _unique_names(jobs)
    return JournalTraffic(
        scenario=_scenario(jobs, names, seen, begin, str(directory)),
        resources={name: capacity[name] for name in seen.resources},
        changes=sum(len(watch.capacity[name]) - 1 for name in seen.resources),
        policies=tuple(sorted(watch.policies, key=lambda each: -watch.policies[each])),
        jobs=tuple(_real(names[app], job, seen, begin) for app, job in jobs.items()),
        unfinished=len(watch.open),
        on_names=watch.on_names,
        elsewhere=sum(not seen.part(phase) for job in jobs.values() for phase in job) if seen.whole else 0,
    )


def _scenario(
    jobs: Mapping[int, Sequence[PastPhase]], names: Mapping[int, str], seen: Sight, begin: float, source: str
) -> Scenario:
    """With all resources, under a plan that has everybody's targets."""
    documents = [_document(names[app], job, seen, begin) for app, job in jobs.items()]
    document: dict[str, Any] = {"version": 1, "platform": dict(seen.platform), "applications": documents}
    if seen.whole:
        placed = {names[app]: list(seen.targets[app]) for app in jobs}
        document["plan"] = {"placement": placed} if "targets" in seen.platform else {}
    return Scenario.from_document(document, source)


def _jobs(phases: Sequence[PastPhase], seen: Sight) -> dict[int, list[PastPhase]]:
    """The phases of each application that counts at all. Who came first is first: that breaks ties."""
    jobs: dict[int, list[PastPhase]] = {}
    for phase in sorted(phases, key=lambda each: (each.app, each.posted)):
        jobs.setdefault(phase.app, []).append(phase)
    return {app: job for app, job in jobs.items() if any(map(seen.part, job))}


def _unique_names(jobs: Mapping[int, Sequence[PastPhase]]) -> dict[int, str]:
    counts = Counter(job[0].job for job in jobs.values())
    return {app: job[0].job if counts[job[0].job] == 1 else f"{job[0].job}#{app}" for app, job in jobs.items()}


def _document(name: str, job: Sequence[PastPhase], seen: Sight, begin: float) -> dict[str, Any]:
    phases: list[dict[str, float]] = []
    for work, phase in zip(_works(job), job, strict=True):
        part = seen.part(phase)
        phases.append({"compute": work})
        phases.append({phase.direction: _moved(phase) * part} if part else {"compute": _seconds(phase)})
    return {
        "name": name,
        "nodes": _nodes(job),
        "bandwidth": _limit(job, seen),
        "release": job[0].posted - job[0].work - begin,
        "phases": phases,
    }


def _real(name: str, job: Sequence[PastPhase], seen: Sight, begin: float) -> Real:
    limit = _limit(job, seen)
    ideal = sum(_works(job))
    for phase in job:
        part = seen.part(phase)
        ideal += _moved(phase) * part / limit if part else _seconds(phase)
    ended = max(phase.ended or 0.0 for phase in job)
    return Real(name, _nodes(job), job[0].posted - job[0].work - begin, ended - begin, ideal, len(job))


def _works(job: Sequence[PastPhase]) -> list[float]:
    """Seconds between phases, as the journal has them, which are what the job computed, and waited for nobody."""
    gaps = [max(0.0, after.posted - (before.ended or after.posted)) for before, after in pairwise(job)]
    return [job[0].work, *gaps]


def _limit(job: Sequence[PastPhase], seen: Sight) -> float:
    """What a job can use of what is looked at."""
    return max(seen.most(phase) for phase in job if seen.part(phase))


def _nodes(job: Sequence[PastPhase]) -> int:
    return max(1, round(max(phase.nodes for phase in job)))


def _moved(phase: PastPhase) -> float:
    """What a phase can have moved: a command that counts nothing says in the end that it moved all it had announced."""
    return min(phase.moved, phase.limit * _seconds(phase))


def _seconds(phase: PastPhase) -> float:
    return (phase.ended or phase.posted) - phase.posted
