"""Running a campaign: what is missing goes to an executor, and what comes back is written down every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from penstock.campaign.document import Campaign
from penstock.campaign.executor import Executor, LostUnit, executor
from penstock.campaign.perform import RunRow, failed, perform
from penstock.campaign.results import write_results
from penstock.campaign.rows import schema_of
from penstock.campaign.store import Store
from penstock.campaign.units import Keys, Unit, asked, units

WRITE_SECONDS = 3.0  # of work that a crash can cost at most, besides what is in work
WRITE_ROWS = 2_000


@dataclass(frozen=True)
class Report:
    """How far a campaign is. Runs that were there before were not run again."""

    runs: int
    before: int
    ran: int
    failed: int  # of all of them, now or before
    seconds: float

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.ran / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the end at this rate; None before anybody can tell."""
        missing = self.runs - self.before - self.ran
        return missing / self.rate if self.rate > 0.0 else None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "rate": self.rate}


Progress = Callable[[Report], None]


def run_campaign(
    campaign: Campaign,
    folder: str | Path,
    *,
    on: Executor | str = "local",
    workers: int | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Run what `campaign` asks for and `folder` does not have; with `retry`, also what failed.

    An interrupt or a full disk ends it with all that was found until then in the folder; calling it again continues.
    """
    place = executor(on, workers) if isinstance(on, str) else on
    store, keys = Store(folder), Keys(campaign)
    store.check(campaign.name)
    with store.locked():
        store.ask(campaign, keys)
        good = store.keys(with_failed=False)
        there = good if retry else store.keys(with_failed=True)
        wanted = {each.run.key for each in asked(campaign, keys)}
        start = Report(len(wanted), len(wanted & there), 0, len(wanted & (there - good)), 0.0)
        report = _run(_Desk(store, campaign), place, units(campaign, keys, there), start, progress)
        write_results(store)
    return report


def _run(desk: _Desk, place: Executor, work: Iterator[Unit], report: Report, progress: Progress | None) -> Report:
    begun = time.monotonic()
    with desk, closing(place.map(perform, work)) as outcomes:  # type: ignore[type-var]
        for unit, outcome in outcomes:
            rows = _given_up(unit, outcome) if isinstance(outcome, LostUnit) else outcome
            desk.add(rows)
            report = replace(
                report,
                ran=report.ran + len(rows),
                failed=report.failed + sum(row.error is not None for row in rows),
                seconds=time.monotonic() - begun,
            )
            if progress is not None:
                progress(report)
    return report


def _given_up(unit: Unit, lost: LostUnit) -> list[RunRow]:
    return [failed(unit, run, lost.reason) for run in unit.runs]


class _Desk:
    """Rows that wait to be written; leaving it writes the rest, also after an error."""

    def __init__(self, store: Store, campaign: Campaign) -> None:
        self._store = store
        self._schema = schema_of(campaign)
        self._rows: list[RunRow] = []
        self._written = time.monotonic()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self._write()

    def add(self, rows: list[RunRow]) -> None:
        self._rows += rows
        if len(self._rows) >= WRITE_ROWS or time.monotonic() - self._written >= WRITE_SECONDS:
            self._write()

    def _write(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._store.add(rows, self._schema)
        self._written = time.monotonic()
