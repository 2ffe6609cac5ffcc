"""What a study of packs gives: packs, where and when each job ran, and the totals."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from penstock.metrics.losses import RunLosses
from penstock.model.scales import duration
from penstock.model.tabular import Tabular, shown


@dataclass(frozen=True)
class Pack:
    """Jobs that start together on one I/O node; the node's next pack starts when all of them have ended."""

    jobs: tuple[str, ...]
    io_node: int
    start: float
    end: float
    max_stretch: float
    processors: int  # that its jobs use, of those the I/O node has
    load: float  # L: I/O seconds over the longest time alone, as announced


@dataclass(frozen=True)
class PackedJob:
    """Where and when a job ran. Its stretch counts from its start: (end - start) / time alone."""

    name: str
    io_node: int
    pack: int | None  # place in `Packing.packs`; None when backfilled
    nodes: int
    start: float
    end: float
    stretch: float
    io_share: float  # of its time alone, at the full rate of an I/O node
    release: float = 0.0
    wait: float = 0.0  # in the queue, from its release to its start

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {name: value for name, value in asdict(self).items() if name != "io_share"}


@dataclass(frozen=True, kw_only=True)
class Packing(RunLosses, Tabular):
    """Jobs mapped to I/O nodes and run there. What is lost counts from the start of each job, not from its release.

    Shares are of the processor time from the first release to the end of the last job.
    """

    mapping: str  # the policy, with the parameters that were set
    sensitivity: float | str | None  # as asked: a number, "inf" or "alpha"; None if the mapping has none
    io_nodes: int
    processors: int  # that each I/O node has; a pack counts those it uses
    sharing: str
    alpha: float  # I/O load of the jobs: processors per I/O node · I/O seconds / processor seconds
    packs: tuple[Pack, ...]  # none when backfilled
    begin: float  # the first release
    makespan: float
    bound: float  # no schedule can end earlier
    mean_pack_max_stretch: float | None
    max_stretch: float
    mean_stretch: float
    mean_wait: float  # in the queue
    max_wait: float
    exec: float  # share of processor time in which jobs compute or transfer
    delay: float  # in which they wait for I/O
    idle: float  # in which no job has the processor
    seconds: float  # CPU time in the engine
    jobs: tuple[PackedJob, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One row per job."""
        return [asdict(job) for job in self.jobs]

    def headline(self) -> str:
        """The mapping, when it ends, and how long jobs take."""
        return f"{self.mapping}: makespan {duration(self.makespan)}, mean stretch {shown(self.mean_stretch)}"

    @property
    def makespan_alone(self) -> float | None:
        """When the last pack would end if each were over with its longest job, run alone; None when backfilled."""
        if not self.packs:
            return None
        longest, there = [0.0] * len(self.packs), [0.0] * len(self.packs)
        for job in self.jobs:
            place = job.pack or 0
            longest[place] = max(longest[place], (job.end - job.start) / job.stretch)
            there[place] = max(there[place], job.release)
        free = [0.0] * self.io_nodes
        for place, pack in sorted(enumerate(self.packs), key=lambda each: each[1].start):
            free[pack.io_node] = max(free[pack.io_node], there[place]) + longest[place]
        return max(free)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        packs = [{**asdict(pack), "jobs": list(pack.jobs)} for pack in self.packs]
        return plain | {"packs": packs, "jobs": [job.to_dict() for job in self.jobs]}
