"""The metrics of a run: one number per question, and one row per application (names as in the JSON contract)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from penstock.metrics.losses import RunLosses
from penstock.model.tabular import Tabular, shown

if TYPE_CHECKING:
    from penstock.engine.passage import Passage
    from penstock.engine.timeline import Timeline


@dataclass(frozen=True)
class ApplicationResult:
    """How one application fared; `completion` and `stretch` are None if it did not finish inside the window."""

    name: str
    yield_: float
    completion: float | None
    stretch: float | None
    compute_done: float  # seconds inside the run
    transferred: float  # bytes inside the run
    cut: bool = False  # by its walltime, before it had finished

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {
            "name": self.name,
            "yield": self.yield_,
            "completion": self.completion,
            "stretch": self.stretch,
            "compute_done": self.compute_done,
            "transferred": self.transferred,
            "cut": self.cut,
        }


@dataclass(frozen=True)
class ResourceUse:
    """What one resource of a whole machine had to do."""

    name: str
    kind: str  # io_node, target, link or buffer
    busy: float  # seconds with bytes on their way through it
    moved: float  # bytes

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"name": self.name, "kind": self.kind, "busy": self.busy, "moved": self.moved}


@dataclass(frozen=True, kw_only=True)
class Result(RunLosses, Tabular):
    """One scenario under one sharing policy. A metric that does not apply is None."""

    sharing: str
    end: float
    events: int
    seconds: float
    min_yield: float
    utilization: float
    efficiency: float
    makespan: float | None
    max_stretch: float | None
    mean_stretch: float | None
    pressure: float | None
    io_weight: float
    bound_min_yield: float | None  # volume bound (models: P1 window bound); windows only
    bound_interval: float  # the tighter one: every operation within its earliest start and deadline
    distance_to_bound: float | None  # 1 - min_yield / best valid bound
    applications: tuple[ApplicationResult, ...]
    # Only where the exact optimum was sought: the makespan over that of the best exclusive schedule known, and over
    # what no exclusive schedule can beat. The two are one if it was proved.
    ratio_to_optimum: float | None = None
    ratio_to_bound: float | None = None
    # Only where a reference was sought: the minimum yield over the best known, and over what no schedule beats.
    share_of_reference: float | None = None
    share_of_bound: float | None = None
    # Only where asked for: the mean over time of the lowest yield, and the lowest share of a quarter of the run that
    # somebody spent usefully.
    even_yield: float | None = None
    sliding_min: float | None = None
    # Only of a whole machine.
    resources: tuple[ResourceUse, ...] | None = None
    rule: str = field(default="", compare=False, repr=False)  # how the policy describes itself; not in the JSON
    # What the platform moves at most, in bytes/s, where one number says that; not in the JSON.
    capacity: float | None = field(default=None, compare=False, repr=False)
    closed: bool = field(default=True, compare=False)  # everybody is there from beginning to end; not in the JSON
    timeline: Timeline | None = field(default=None, compare=False, repr=False)
    passage: Passage | None = field(default=None, compare=False, repr=False)  # of a whole machine; not in the JSON

    def rows(self) -> list[dict[str, Any]]:
        """One row per application."""
        return [application.to_dict() for application in self.applications]

    def headline(self) -> str:
        """The policy and what it came to."""
        return f"{self.sharing}: min yield {shown(self.min_yield)}, {shown(self.node_hours_lost)} node-hours lost"

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, without the timeline, and without what nobody sought: evenness, an optimum, a reference.

        What is lost comes after the rest, as it came to it.
        """
        left_out = ["applications", "capacity", "closed", "passage", "resources", "rule", "timeline"]
        if self.ratio_to_optimum is None:
            left_out += ["ratio_to_optimum", "ratio_to_bound"]
        if self.share_of_reference is None:
            left_out += ["share_of_reference", "share_of_bound"]
        if self.even_yield is None:
            left_out += ["even_yield", "sliding_min"]
        names = sorted(self.__dataclass_fields__, key=RunLosses.__dataclass_fields__.__contains__)
        plain = {name: getattr(self, name) for name in names if name not in left_out}
        applications = [application.to_dict() for application in self.applications]
        uses = {} if self.resources is None else {"resources": [each.to_dict() for each in self.resources]}
        return plain | {"applications": applications} | uses
