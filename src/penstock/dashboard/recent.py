"""The last minutes as samples, one for every look: who moved how much where, for whoever opens the page now.

A sample is a list as browsers get it: its time, whether the controller was away, and for each job its application, the
part of what it could use that it was granted, and then resource and rate in turn; then, if these are not all jobs, what
the others are granted on each resource. History from the journal has the same form, so one script draws both.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.dashboard.poll import Seen
from penstock.lookback.history import rate_words
from penstock.report.live.table import could_use
from penstock.wire.messages import BYTES

KEPT = 600  # samples
MOST_ROWS = 30  # jobs in one
MOST_MARKS = 50

Sample = list[Any]


class Recent:
    """Samples, and the names of the jobs in them."""

    def __init__(self, kept: int = KEPT) -> None:
        self.samples: deque[Sample] = deque(maxlen=kept)
        self.names: dict[int, tuple[str, int]] = {}  # job and user by application
        self.marks: deque[list[Any]] = deque(maxlen=MOST_MARKS)  # when something changed, and what
        self.capacities: deque[list[Any]] = deque(maxlen=MOST_MARKS)  # from when on, by resource
        self._before: dict[str, Any] = {}

    def add(self, seen: Seen) -> Sample:
        """Take in a look."""
        made = sample(seen)
        self.samples.append(made)
        if seen.reachable:
            self._mark(seen)
        for job in seen.jobs:
            self.names[job["app"]] = job["job"], job["uid"]
        if len(self.names) > 20 * MOST_ROWS:
            self._forget()
        return made

    def _mark(self, seen: Seen) -> None:
        """Note another epoch, policy or mode than at the look before."""
        now = {name: seen.status[name] for name in ("epoch", "policy", "mode")}
        self._note_capacities(seen)
        words = {"epoch": "a controller started, epoch", "policy": "policy", "mode": "mode"}
        for name, value in now.items():
            if self._before and value != self._before[name]:
                self.marks.append([round(seen.time, 2), f"{words[name]} {value}"])
        self._before = now

    def _note_capacities(self, seen: Seen) -> None:
        """Note what there is, and mark where that is another than at the look before."""
        resources, at = seen.status["capacity"], round(seen.time, 2)
        now = {name: each["capacity"] for name, each in resources.items()}
        before = self.capacities[-1][1] if self.capacities else now
        for name, capacity in now.items():
            if before.get(name) != capacity:
                what = "the file system" if name == "all" else name
                words = rate_words(capacity, resources[name].get("kind", BYTES))
                self.marks.append([at, f"capacity of {what}: {words}"])
        if not self.capacities or before != now:
            self.capacities.append([at, now])
        while len(self.capacities) > 1 and self.capacities[1][0] <= self.samples[0][0]:
            self.capacities.popleft()

    def _forget(self) -> None:
        shown = {row[0] for each in self.samples for row in each[2]}
        self.names = {app: name for app, name in self.names.items() if app in shown}


def sample(seen: Seen) -> Sample:
    """One look in the form that browsers get."""
    if not seen.reachable:
        return [round(seen.time, 2), 1, []]
    places = {name: place for place, name in enumerate(seen.status["capacity"])}
    active = [job for job in seen.jobs if job["active"]]
    shown = active[:MOST_ROWS]
    rows = [_row(job, places) for job in shown]
    hidden = max(seen.status["active"], len(active)) > len(shown)
    return [round(seen.time, 2), 0, rows, *([_others(seen, shown)] if hidden else [])]


def _others(seen: Seen, shown: Sequence[Mapping[str, Any]]) -> list[int]:
    """What all but some are granted on each resource."""
    resources = seen.status["capacity"].items()
    own = {name: sum(job["granted"].get(name, 0.0) for job in shown) for name, _ in resources}
    return [round(max(0.0, each["granted"] - own[name])) for name, each in resources]


def _row(job: Mapping[str, Any], places: Mapping[str, int]) -> list[Any]:
    most = could_use(job)
    part = min(1.0, job["rate"] / most) if most > 0.0 else float(job["rate"] > 0.0)
    ways = [number for name, rate in job["granted"].items() for number in (places[name], round(rate))]
    return [job["app"], round(part, 3), *ways]
