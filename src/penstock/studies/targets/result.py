"""What a study of targets gives: who uses which, how loaded they are, and how the applications fared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from penstock.metrics.losses import RunLosses
from penstock.model.tabular import Tabular, shown


@dataclass(frozen=True)
class TargetUse:
    """One target of the platform."""

    name: str
    limit: float | None  # the most it can move, bytes/s; None: not limited
    applications: int  # how many use it
    stress: float  # the share of its time that they would keep it busy if nobody were in the way, when it is most
    busy: float  # the share of the interval in which it was transferring
    in_service: bool


@dataclass(frozen=True)
class Striped:
    """One application on its targets. io_slowdown = rho_io · rho_con; None if it moved nothing in the interval."""

    name: str
    nodes: int
    count: int
    targets: tuple[int, ...]  # places in the platform's list, rising
    bandwidth: float  # b(n), when nothing is in its way
    stress: float  # how many targets it keeps busy, on average
    shares: tuple[float, ...]  # for each of its targets, the part of its time that it keeps it busy
    io_slowdown: float | None  # I/O seconds over what they would be on the best number of targets, all alone
    rho_io: float  # the part that comes from the number of targets
    rho_con: float | None  # the part that comes from others on the same targets
    io_seconds: float  # in which it had an operation under way
    moved: float  # bytes
    compute_done: float  # seconds
    start: float  # its release, or the begin of the window if that is later
    completion: float | None  # None: it did not complete in the interval
    stretch: float | None  # likewise; over what it takes alone on its best number of targets
    yield_: float | None  # progress, bytes at the best bandwidth, over its age; None: it had not started
    cut: bool  # by its walltime, before it had completed

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = asdict(self)
        return plain | {"yield": plain.pop("yield_"), "targets": list(self.targets), "shares": list(self.shares)}


@dataclass(frozen=True, kw_only=True)
class Allotment(RunLosses, Tabular):
    """Targets given out, and what came of it: until the first completion (P4 §2.3), or over the lives of all."""

    allocation: str
    placement: str
    sharing: str
    knowledge: str  # what the policies were told of the profiles
    error: float
    seed: int
    load: float  # Σ stress / N of those that run at a time, the highest of all times
    least_load: float  # the same if everyone had the number of targets with the lowest stress
    until: str  # where the metrics stop: with the "first" completion, or when "all" have ended or the window does
    interval: float  # seconds up to there, from the begin of the run
    mean_io_slowdown: float | None
    machine_idletime: float  # share of the machine's node seconds that were not computing
    imbalance: float  # stress of the most loaded target less that of the least loaded one
    events: int
    seconds: float  # in the engine
    applications: tuple[Striped, ...]
    targets: tuple[TargetUse, ...]
    runs: int = 0  # of the engine, in a local search that improved it

    def rows(self) -> list[dict[str, Any]]:
        """One row per application."""
        return [
            {**each.to_dict(), "targets": ",".join(map(str, each.targets)), "shares": None}
            for each in self.applications
        ]

    def headline(self) -> str:
        """The two policies, and how much longer I/O takes."""
        return f"{self.allocation} with {self.placement}: mean I/O slowdown {shown(self.mean_io_slowdown)}"

    @property
    def mean_rho_io(self) -> float | None:
        """The part of the slowdown that comes from the numbers of targets, mean over those who moved something."""
        return _mean(each.rho_io for each in self.applications if each.rho_con is not None)

    @property
    def mean_rho_con(self) -> float | None:
        """The part that comes from others on the same targets, likewise."""
        return _mean(each.rho_con for each in self.applications if each.rho_con is not None)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        whole = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return whole | {
            "counts": {each.name: each.count for each in self.applications},
            "targets": {each.name: list(each.targets) for each in self.applications},
            "applications": [each.to_dict() for each in self.applications],
            "target_use": [asdict(target) for target in self.targets],
        }


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
