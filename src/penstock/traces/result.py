"""What an import of traces found: a scenario, a line per application, and what could not be used."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.traces.job import Job, Origin
from penstock.traces.phases import Transfers


class Skipped(NamedTuple):
    """A file, or a row of one, that was left out. What is merely without use is not damaged."""

    file: str
    why: str
    damaged: bool = True


@dataclass(frozen=True)
class ImportedApplication:
    """One application: what it became in the scenario, and what it was made of."""

    name: str
    job: Job
    transfers: Transfers
    phases: int
    error_seconds: float | None
    nodes: int
    bandwidth: float | None
    bandwidth_origin: Origin

    def to_dict(self) -> dict[str, Any]:
        """As printed by `--json`."""
        job = self.job
        return {
            "name": self.name,
            "source": job.source,
            "read": job.read,
            "written": job.written,
            "error_seconds": self.error_seconds,
            "phases": self.phases,
            "quality": job.quality,
            "structure": job.structure,
            "seconds": job.seconds,
            "nodes": job.nodes,
            "nodes_origin": job.nodes_origin,
            "bandwidth": self.bandwidth,
            "bandwidth_origin": self.bandwidth_origin,
            "logs": job.logs,
            "opens": job.opens,
            "io_seconds": job.io_seconds,
            "metadata_seconds": job.meta_seconds,
            "rank_imbalance": job.imbalance,
            "stripe_counts": {str(count): volume for count, volume in sorted(job.stripes.items())},
            "flags": job.flags,
        }


@dataclass(frozen=True)
class Imported:
    """A scenario and where it comes from."""

    scenario: Scenario
    applications: tuple[ImportedApplication, ...]
    skipped: tuple[Skipped, ...] = ()
    dropped: int = 0  # logs without volume of jobs that have others
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    more: dict[str, Any] = field(default_factory=dict)  # figures of one source only
    window: tuple[float, float] | None = None  # begin and end, on the clock of the jobs

    def to_dict(self) -> dict[str, Any]:
        """As printed by `--json`."""
        return {
            "jobs": len(self.applications),
            "skipped": [{"file": each.file, "why": each.why} for each in self.skipped],
            "dropped": self.dropped,
            "bandwidth": self.scenario.platform.bandwidth,
            "bandwidth_origin": _platform(self.scenario).get("bandwidth"),
            **self.more,
            "notes": self.notes,
            "applications": [each.to_dict() for each in self.applications],
            "seconds": self.seconds,
        }


def number_of(count: int, what: str) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def check_strict(skipped: Iterable[Skipped], strict: bool) -> None:
    """Refuse damaged input where everything must be sound."""
    damaged = [each for each in skipped if each.damaged]
    if strict and damaged:
        more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        raise InvalidOption(f"{damaged[0].file}: {damaged[0].why}{more}; without --strict they would be left out")


def nothing_left(what: str, skipped: Iterable[Skipped]) -> InvalidOption:
    """The error for input of which nothing could be used."""
    first = next(iter(skipped), None)
    why = f": {first.file} {first.why}" if first else ""
    return InvalidOption(f"no job was found in {what}{why}")


def _platform(scenario: Scenario) -> dict[str, Any]:
    told = (scenario.provenance or {}).get("platform")
    return told if isinstance(told, dict) else {}
