"""What is in logs or in a scenario: a row per job, its bytes over time, and how good the evidence is.

Of logs, bytes are where the source saw them; of a scenario, where its phases put them if each job is alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.model import COMPUTE, WRITE, Application, Repeat, Scenario, Trace
from penstock.traces.pieces import IoPieces
from penstock.traces.result import Imported, ImportedApplication, Skipped

GRADES = "ABCD"
BYTES = 0.8  # of all: a site has the grade that so much of its bytes reaches


@dataclass(frozen=True)
class InspectedJob:
    """One job. `pieces` are since `start`; what nobody knows is None or empty."""

    name: str
    start: float
    seconds: float
    pieces: IoPieces
    quality: str
    facts: Mapping[str, Any]  # as printed by --json
    observed_seconds: float | None = None
    simulated_seconds: float | None = None

    @property
    def volume(self) -> float:
        """Bytes."""
        return self.pieces.total


@dataclass(frozen=True)
class Inspected:
    """All rows, by start, and what was left out."""

    rows: tuple[InspectedJob, ...]
    bandwidth: float | None
    bandwidth_origin: str
    skipped: tuple[Skipped, ...]
    dropped: int
    notes: tuple[str, ...]
    seconds: float
    more: Mapping[str, Any]

    @property
    def grade(self) -> str:
        """The worst grade that is needed to have 80 % of all bytes; nothing where no source was graded."""
        total = sum(row.volume for row in self.rows if row.quality)
        reached = 0.0
        for grade in GRADES:
            reached += sum(row.volume for row in self.rows if row.quality == grade)
            if reached >= BYTES * total > 0:
                return grade
        return ""

    def to_dict(self) -> dict[str, Any]:
        """As printed by `--json`."""
        checked = any(row.simulated_seconds is not None for row in self.rows)
        times = ("observed_seconds", "simulated_seconds") if checked else ()
        return {
            "jobs": len(self.rows),
            "skipped": [{"file": each.file, "why": each.why} for each in self.skipped],
            "dropped": self.dropped,
            "grade": self.grade or None,
            "bandwidth": self.bandwidth,
            "bandwidth_origin": self.bandwidth_origin,
            **self.more,
            "notes": self.notes,
            "applications": [dict(row.facts) | {name: getattr(row, name) for name in times} for row in self.rows],
            "seconds": self.seconds,
        }


def inspect_import(found: Imported) -> Inspected:
    """What an import found."""
    platform = (found.scenario.provenance or {}).get("platform")
    origin = platform.get("bandwidth") if isinstance(platform, dict) else ""
    return Inspected(
        rows=tuple(_of_log(each) for each in found.applications),
        bandwidth=found.scenario.platform.bandwidth,
        bandwidth_origin=str(origin or ""),
        skipped=found.skipped,
        dropped=found.dropped,
        notes=found.notes,
        seconds=found.seconds,
        more=found.more,
    )


def inspect_scenario(scenario: Scenario) -> Inspected:
    """What a scenario holds, and what its provenance says."""
    told = scenario.provenance or {}
    applications, platform = told.get("applications"), told.get("platform")
    about = applications if isinstance(applications, dict) else {}
    return Inspected(
        rows=tuple(_of_scenario(each, scenario, about) for each in scenario.applications),
        bandwidth=scenario.shared_bandwidth,
        bandwidth_origin=str(platform.get("bandwidth") or "") if isinstance(platform, dict) else "",
        skipped=(),
        dropped=0,
        notes=_notes(scenario),
        seconds=0.0,
        more={},
    )


def _notes(scenario: Scenario) -> tuple[str, ...]:
    told = [] if scenario.provenance else ["the scenario does not say where its numbers come from"]
    endless = any(each.endless for each in scenario.applications)
    return (*told, "of loops without an end one round is shown") if endless else tuple(told)


def checked(rows: Sequence[InspectedJob], scenario: Scenario) -> tuple[InspectedJob, ...]:
    """The rows with what each job takes when all are simulated together under fair-share."""
    from penstock.studies.share import simulate  # noqa: PLC0415 - loads the engine

    result = simulate(scenario, "fair-share")
    ends = {each.name: each.completion for each in result.applications}
    begin = {each.name: each.release for each in scenario.applications}
    return tuple(
        replace(row, simulated_seconds=None if (end := ends.get(row.name)) is None else end - begin[row.name])
        for row in rows
    )


def _of_log(each: ImportedApplication) -> InspectedJob:
    job = each.job
    return InspectedJob(each.name, job.start, job.seconds, job.pieces, job.quality, each.to_dict(), job.seconds)


def _of_scenario(each: Application, scenario: Scenario, about: Mapping[str, Any]) -> InspectedJob:
    facts = {**(about.get("*") or {}), **(about.get(each.name) or {})}
    pieces, seconds = _alone(each, scenario)
    read, written = float(pieces.volume[~pieces.writes].sum()), float(pieces.volume[pieces.writes].sum())
    shown = {
        "name": each.name,
        "source": facts.get("source"),
        "read": read,
        "written": written,
        "error_seconds": facts.get("error_seconds"),
        "phases": each.unrolled,
        "quality": facts.get("quality"),
        "structure": facts.get("structure"),
        "seconds": facts.get("observed_seconds", seconds),
        "nodes": each.nodes,
        "nodes_origin": facts.get("nodes"),
        "bandwidth": each.bandwidth,
        "bandwidth_origin": facts.get("bandwidth"),
        "metadata_seconds": facts.get("metadata_seconds"),
        "rank_imbalance": facts.get("rank_imbalance"),
        "flags": facts.get("flags") or (),
    }
    quality = str(facts.get("quality") or "")
    return InspectedJob(each.name, each.release, seconds, pieces, quality, shown, facts.get("observed_seconds"))


def _alone(each: Application, scenario: Scenario) -> tuple[IoPieces, float]:
    """When its bytes move if it has the file system to itself, and how long that takes."""
    kind, amount = _columns(each)
    most = scenario.shared_bandwidth or np.inf
    node = scenario.platform.node_bandwidth
    rate = min(most, each.bandwidth or (each.nodes * node if node else most))
    length = np.where(kind == COMPUTE, amount, amount / rate)
    end = np.cumsum(length)
    moves = (kind != COMPUTE) & (amount > 0)
    volume = amount[moves]
    pieces = IoPieces((end - length)[moves], end[moves], volume, kind[moves] == WRITE, np.zeros(int(moves.sum())))
    return pieces, float(end[-1])


def _columns(each: Application) -> tuple[Floats, Floats]:
    """Kinds and amounts with loops written out; an endless loop counts one round."""
    if isinstance(each.phases, Trace):
        return each.phases.kind.astype(float), each.phases.amount
    listed: list[tuple[int, float]] = []

    def walk(phases: Sequence[Any]) -> None:
        for phase in phases:
            if isinstance(phase, Repeat):
                for _ in range(1 if phase.endless else int(phase.repeat)):
                    walk(phase.phases)
            else:
                ((kind, amount),) = ((type(phase).__name__.lower(), phase.amount),)
                listed.append((("compute", "read", "write").index(kind), amount))

    walk(each.phases)
    return np.array([kind for kind, _ in listed], float), np.array([amount for _, amount in listed])
