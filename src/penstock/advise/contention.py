"""Advice: is there contention? How much jobs ask of the file system, what they lose by waiting, who, when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.advise.estimate import DAY, DayBlocks, Estimate, percentiles, student
from penstock.advise.machine import storage_bandwidth
from penstock.advise.runs import Fate
from penstock.advise.site import LoggedSite
from penstock.kernels.arrays import Floats
from penstock.metrics.losses import HOUR
from penstock.model import Scenario
from penstock.studies.share import study_of
from penstock.traces.pieces import curve

MOST = 5  # who lose most, and hours that are worst
_DRAWS = 2_000
_SEED = 20_261_117


@dataclass(frozen=True)
class HourlyDemand:
    """What jobs ask for, by the hour, as a share of the bandwidth."""

    begin: Floats  # seconds since the first start
    share: Floats

    def to_dict(self) -> dict[str, list[float]]:
        """The JSON form."""
        return {"begin": self.begin.tolist(), "share": self.share.tolist()}


@dataclass(frozen=True)
class Contention:
    """Under the policy in use, simulated. `node_hours` and who lost them: None where nodes are unknown."""

    pressure: Estimate
    node_hours: float | None
    share: Estimate
    losers: tuple[tuple[str, float], ...]  # name and node-hours, or job-hours where nodes are unknown
    demand: HourlyDemand

    @property
    def worst_hours(self) -> list[dict[str, float]]:
        """The hours in which most was asked for."""
        order = np.argsort(-self.demand.share, kind="stable")[:MOST]
        return [
            {"begin": float(self.demand.begin[i]), "demand": float(self.demand.share[i])}
            for i in order
            if self.demand.share[i] > 0.0
        ]

    def lost(self) -> dict[str, Any]:
        """The JSON form of what is lost."""
        by = [
            {"name": name, "node_hours" if self.node_hours is not None else "job_hours": lost}
            for name, lost in self.losers
        ]
        ends = {"share_low": self.share.to_dict()["low"], "share_high": self.share.to_dict()["high"]}
        return {
            "node_hours": self.node_hours,
            "share": self.share.value,
            **ends,
            "by": by,
            "worst_hours": self.worst_hours,
        }


def contention(site: LoggedSite, scenario: Scenario, fate: Fate, days: DayBlocks) -> Contention:
    """What the run under the policy in use says."""
    nodes = np.array([float(each.nodes) for each in scenario.applications])
    order = np.argsort(-fate.lost, kind="stable")[:MOST]
    names = [each.name for each in scenario.applications]
    return Contention(
        pressure_of(site, scenario, days),
        float(fate.lost.sum()) if site.nodes_known else None,
        _share(fate, nodes, days),
        tuple((names[i], float(fate.lost[i])) for i in order if fate.lost[i] > 1e-9),
        _demand(site, scenario),
    )


def overloaded(pressure: Estimate) -> bool:
    """Whether more may be asked for than the file system can move."""
    return (pressure.value if np.isnan(pressure.high) else pressure.high) >= 1.0


def pressure_of(site: LoggedSite, scenario: Scenario, days: DayBlocks) -> Estimate:
    """Bytes asked for over what the file system could move: per day, or of the jobs drawn anew."""
    bandwidth = storage_bandwidth(scenario) or np.inf
    if scenario.window is not None:
        return Estimate(study_of(scenario, bounds=False).pressure or 0.0)
    volume = site.volume
    if days.enough:
        return _not_below_zero(student(np.bincount(days.of, volume, days.count) / (bandwidth * days.length * DAY)))
    span = max(row.start + row.seconds for row in site.rows) - min(row.start for row in site.rows)
    rng = np.random.default_rng(_SEED)
    drawn = volume[rng.integers(0, len(volume), (_DRAWS, len(volume)))].sum(axis=1)
    return percentiles(drawn / (bandwidth * span), float(volume.sum()) / (bandwidth * span))


def _share(fate: Fate, nodes: Floats, days: DayBlocks) -> Estimate:
    used = nodes * fate.seconds / HOUR
    whole = float(fate.lost.sum() / used.sum()) if used.sum() else 0.0
    if not days.enough:
        return Estimate(whole)
    lost, there = np.bincount(days.of, fate.lost, days.count), np.bincount(days.of, used, days.count)
    by_day = np.divide(lost, there, out=np.full(days.count, np.nan), where=there > 0)
    _, low, high = student(by_day)
    return _not_below_zero(Estimate(whole, min(low, whole), max(high, whole)))


def _not_below_zero(found: Estimate) -> Estimate:
    """A share; few days that differ much would give an interval that begins below nothing."""
    return found._replace(low=max(found.low, 0.0))


def _demand(site: LoggedSite, scenario: Scenario) -> HourlyDemand:
    rows = [row for row in site.rows if row.volume]
    if not rows:
        return HourlyDemand(np.zeros(1), np.zeros(1))
    start, end, volume = (
        np.concatenate(column)
        for column in zip(
            *((row.pieces.start + row.start, row.pieces.end + row.start, row.pieces.volume) for row in rows),
            strict=True,
        )
    )
    first = min(row.start for row in site.rows)
    hours = int(np.ceil((float(end.max()) - first) / HOUR)) or 1
    edges: Floats = first + HOUR * np.arange(hours + 1, dtype=np.float64)
    moved = np.diff(curve(start, end, volume).by(edges))
    return HourlyDemand(edges[:-1] - first, moved / HOUR / (storage_bandwidth(scenario) or np.inf))
