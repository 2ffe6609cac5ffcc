"""What sizing a buffer gives: the size, the shares, and what proves that nothing smaller will do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from penstock.model.scales import byte_scale
from penstock.model.tabular import Tabular
from penstock.studies.buffer_words import FOREVER
from penstock.studies.sizing.lead import Infeasible
from penstock.studies.sizing.replay import usage_of
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.traffic import Traffic

_ROUNDING = 1e-9
HOLDS_FOR = "planned"  # the strategy that follows the schedule for which the size is enough


@dataclass(frozen=True)
class Burst:
    """Bytes that move between two instants, against what the file system can carry meanwhile."""

    begin: float
    end: float
    direction: str  # read, write or both; port: in and out of the buffer, which nobody demands
    demand: float
    room: float
    weight: float  # how often the difference counts in the proof
    by: dict[str, float]  # the demand by application, the largest first


@dataclass(frozen=True)
class Proof:
    """Σ weight·(demand - room) - rest is a size below which nothing will do."""

    size: float
    bursts: tuple[Burst, ...]  # those that count most first
    rest: float = 0.0  # of a linear program: what its other prices take off
    instant: float | None = None  # when the buffer is full, if that is the same in every schedule


@dataclass(frozen=True)
class Sizing(Tabular):
    """The smallest buffer under a partition (P5 §6)."""

    partition: str
    size: float  # bytes; NaN: no size is enough, `infeasible` says why
    shares: dict[str, float] | None  # S_k, or what each needs alone; None where nobody has a share of his own
    method: str
    seconds: float
    events: int
    proof: Proof
    traffic: Traffic = field(repr=False, compare=False)  # that the schedule serves; isolated: of whom needs most
    draw_up: Callable[[], BufferSchedule] = field(repr=False, compare=False)
    infeasible: Infeasible | None = None

    def rows(self) -> list[dict[str, Any]]:
        """One row per application: its share of the buffer, in bytes."""
        return [{"name": name, "share": share} for name, share in (self.shares or {}).items()]

    def headline(self) -> str:
        """The partition and the size."""
        return f"{self.partition}: {byte_scale(self.size, pure=False).show(self.size)}"

    @property
    def lead(self) -> float:
        """How long before its release the input of an application may be fetched."""
        return self.traffic.lead

    @cached_property
    def schedule(self) -> BufferSchedule:
        """What moves between the buffer and the file system, and when; drawn up when it is asked for."""
        return self.draw_up()

    @cached_property
    def peaks(self) -> dict[str, float]:
        """The most that each application holds at a time in that schedule."""
        usages = usage_of(self.schedule, self.traffic)
        most = [float(usage.max(initial=0.0)) for usage in usages]
        # Totals of weeks differ by some bytes of rounding where nothing is held.
        return {
            name: held if held > _ROUNDING * self.size else 0.0
            for name, held in zip(self.traffic.names, most, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        limits, possible = self.traffic.limits._asdict(), self.infeasible is None
        return {
            "partition": self.partition,
            "size": self.size if possible else None,
            "shares": self.shares,
            "method": self.method,
            "seconds": self.seconds,
            "events": self.events,
            "limits": {name: limit if limit < float("inf") else None for name, limit in limits.items()},
            "lead": self.lead if math.isfinite(self.lead) else FOREVER,
            "infeasible": None if self.infeasible is None else self.infeasible._asdict(),
            "holds_for": HOLDS_FOR if possible else None,
            "peaks": self.peaks if possible else None,
            "proof": asdict(self.proof) if possible else None,
        }
