"""What advice is: five answers, each with figure, interval and ground, and what could not be seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.advise.buffers import BufferAnswer
from penstock.advise.contention import Contention
from penstock.advise.policies import TieGroup
from penstock.advise.sensitivity import Sensitivity
from penstock.advise.targets import TargetsAnswer
from penstock.traces.inspecting import Inspected


@dataclass(frozen=True)
class Data:
    """Whether these data can answer at all."""

    jobs: int
    moving: int  # of them, move bytes
    days: int
    by_days: bool  # intervals compare days; else they hold within these
    node_hour_coverage: float | None
    grade: str | None
    run_time_error: float | None  # median of |simulated - observed| / observed, under the policy in use
    flags: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**vars(self), "flags": list(self.flags)}


@dataclass(frozen=True)
class Assumption:
    """A number that was used, and where it comes from."""

    name: str
    value: float | int | str
    origin: str  # given, measured, lower_bound or assumed


@dataclass(frozen=True)
class Advice:
    """`tried` is what was found for sharing; where that is no answer, `policy` is None and `why_not` says why."""

    data: Data
    assumptions: tuple[Assumption, ...]
    contention: Contention
    policy: TieGroup | None
    tried: TieGroup
    targets: TargetsAnswer | None
    buffer: BufferAnswer | None
    why_not: dict[str, str]
    sensitivity: tuple[Sensitivity, ...]
    not_seen: tuple[str, ...]
    next: tuple[str, ...]
    inspected: Inspected = field(repr=False, compare=False)
    seconds: float = 0.0
    runs: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "data": self.data.to_dict(),
            "assumptions": [dict(vars(each)) for each in self.assumptions],
            "lost": self.contention.lost(),
            "pressure": self.contention.pressure.to_dict(),
            "demand": self.contention.demand.to_dict(),
            "policy": self.policy and self.policy.to_dict(),
            "targets": self.targets and self.targets.to_dict(),
            "buffer": self.buffer and self.buffer.to_dict(),
            "why_not": self.why_not,
            "sensitivity": [each.to_dict() for each in self.sensitivity],
            "swept": {"of": self.tried.of, "against": self.tried.against, "goal": self.tried.goal},
            "tried": self.tried.to_dict(),
            "not_seen": list(self.not_seen),
            "next": list(self.next),
            "applications": [dict(row.facts) for row in self.inspected.rows],
            "skipped": [{"file": each.file, "why": each.why} for each in self.inspected.skipped],
            "runs": self.runs,
            "seconds": self.seconds,
        }
