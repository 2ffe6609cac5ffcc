"""Numbers for jobs that are the dashboard's own: those of controllers begin anew with every journal.

After a takeover with a journal of its own, or a start without one, number 3 is another job. What was drawn before must
keep its name, so a job is known by its name, its user and what it does, and never gives its number to another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from penstock.dashboard.poll import Seen
from penstock.wire.messages import BYTES

MOST_KNOWN = 20_000  # jobs; of more, those that were not seen for longest are forgotten


class Numbering:
    """Which number is whose."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int, str], int] = {}  # who was seen last is last
        self._last = 0

    def of(self, job: str, uid: int, kind: str) -> int:
        """The number of a job."""
        key = job, uid, kind
        number = self._numbers.pop(key, 0)
        if not number:
            number = self._last = self._last + 1
        self._numbers[key] = number
        if len(self._numbers) > MOST_KNOWN:
            del self._numbers[next(iter(self._numbers))]
        return number

    def renumbered(self, seen: Seen) -> Seen:
        """The same look, in which `app` is a number of ours."""
        ours = {job["app"]: self.of(job["job"], job["uid"], job.get("kind", BYTES)) for job in seen.jobs}
        jobs = tuple({**job, "app": ours[job["app"]]} for job in seen.jobs)
        foreseen = {ours[app]: told for app, told in seen.foreseen.items() if app in ours}
        return replace(seen, jobs=jobs, foreseen=foreseen)

    def past(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """The same of what a journal tells, whose `jobs` are names, users and kinds by the journal's numbers."""
        ours = {int(app): self.of(*whose) for app, whose in found["jobs"].items()}
        samples = [
            [at, gone, [[ours[app], *ways] for app, *ways in rows], *rest] for at, gone, rows, *rest in found["samples"]
        ]
        jobs = {ours[int(app)]: whose for app, whose in found["jobs"].items()}
        return {**found, "samples": samples, "jobs": jobs}
