"""What other policies would have given on the traffic of a journal, beside what was really given."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from penstock.errors import InvalidOption
from penstock.lookback.traffic import JournalTraffic, traffic
from penstock.metrics.result import Result
from penstock.policies.sharing import Sharing, find
from penstock.studies import share as runs


@dataclass(frozen=True)
class JobOutcome:
    """One job: its yield, and the seconds that it took longer than alone."""

    name: str
    yield_: float
    wait: float

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "yield": self.yield_, "wait": self.wait}


@dataclass(frozen=True)
class Account:
    """All jobs under one policy; `sharing` is None for what really happened."""

    sharing: str | None
    min_yield: float
    mean_yield: float
    efficiency: float
    makespan: float
    max_wait: float
    mean_wait: float
    jobs: tuple[JobOutcome, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return vars(self) | {"jobs": [job.to_dict() for job in self.jobs]}


@dataclass(frozen=True)
class Shadow:
    """What happened, and what would have."""

    traffic: JournalTraffic
    real: Account
    would: tuple[Account, ...]
    left_out: tuple[str, ...] = ()  # policies that plan ahead, which cannot where bytes cross several resources

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        resources = self.traffic.resources
        return {
            "resource": ", ".join(resources),
            "capacity": sum(resources.values()),
            "resources": [{"name": name, "capacity": capacity} for name, capacity in resources.items()],
            "capacity_changes": self.traffic.changes,
            "policies": list(self.traffic.policies),
            "jobs": len(self.traffic.jobs),
            "operations": sum(job.operations for job in self.traffic.jobs),
            "unfinished": self.traffic.unfinished,
            "on_names": self.traffic.on_names,
            "elsewhere": self.traffic.elsewhere,
            "left_out": list(self.left_out),
            "real": self.real.to_dict(),
            "would": [account.to_dict() for account in self.would],
        }


def shadow(
    directory: str | os.PathLike[str],
    policies: Sequence[str | Sharing],
    resource: str | None = None,
    progress: Callable[[str, float, int], None] | None = None,
    since: float = -inf,
) -> Shadow:
    """Run the traffic of a journal again under each of the policies; from `since` on (seconds since 1970).

    Where the controller had several resources, each is shared by the policy, as on a whole machine.
    """
    found = traffic(directory, resource, since)
    asked = [find(each) for each in policies]
    kept = [each for each in asked if found.scenario.plan is None or not each.prepare]
    if not kept:
        raise InvalidOption(
            f"{asked[0].label} plans ahead, which it cannot where bytes cross {len(found.resources)} resources; "
            f"look at one of them with --resource ({', '.join(list(found.resources)[:3])})"
        )
    results = runs.compare(found.scenario, kept, progress=progress)
    left_out = tuple(each.label for each in asked if each not in kept)
    return Shadow(found, _real(found), tuple(_would(found, result) for result in results), left_out)


def _real(found: JournalTraffic) -> Account:
    return _account(found, None, [job.completion for job in found.jobs])


def _would(found: JournalTraffic, result: Result) -> Account:
    completions = [each.completion for each in result.applications]
    return _account(found, result.sharing, [float(each or 0.0) for each in completions])


def _account(found: JournalTraffic, sharing: str | None, completions: Sequence[float]) -> Account:
    """The same measures for what happened and for what would have, from when each job ended."""
    ages = [end - job.release for job, end in zip(found.jobs, completions, strict=True)]
    fared = tuple(
        JobOutcome(job.name, job.ideal / age if age > 0.0 else 1.0, age - job.ideal)
        for job, age in zip(found.jobs, ages, strict=True)
    )
    makespan, nodes = max(completions), sum(job.nodes for job in found.jobs)
    yields, waits = [each.yield_ for each in fared], [each.wait for each in fared]
    return Account(
        sharing=sharing,
        min_yield=min(yields),
        mean_yield=sum(yields) / len(yields),
        efficiency=sum(job.nodes * job.ideal for job in found.jobs) / (nodes * makespan),
        makespan=makespan,
        max_wait=max(waits),
        mean_wait=sum(waits) / len(waits),
        jobs=fared,
    )
