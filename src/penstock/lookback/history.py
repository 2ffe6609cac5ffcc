"""Who moved how much where over time, from a journal, in as many equal pieces of time as a screen can show.

The form is that of the dashboard's samples: a time, 0, and for each job its application, the part of what it could use
that it was told, and then resource and rate in turn; then, if not all jobs are shown, what the others were told on each
resource. Rates are means over a piece. A job that waited in half of a piece
and had all that it could use in the other half has the part 0.5.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.live.core import ControllerState, records
from penstock.live.core.members import App
from penstock.live.journal import JournalEntry
from penstock.lookback.phases import concerned, numbers_of
from penstock.lookback.walk import walk
from penstock.model.scales import byte_scale
from penstock.wire.messages import BYTES

PIECES = 360
MOST_JOBS = 40  # those that moved or were held back most
MOST_MARKS = 200  # the last ones
_MARKED = ("policy", "capacity", "mode", "drain", "service")


@dataclass
class _Job:
    """What a job is told since `since`, and what that was in all pieces so far."""

    name: str
    uid: int
    kind: str
    since: float
    rates: dict[int, float] = field(default_factory=dict)
    part: float = 1.0
    active: bool = False
    seconds: Counter[int] = field(default_factory=Counter)
    parts: defaultdict[int, float] = field(default_factory=lambda: defaultdict(float))  # times seconds
    moved: dict[int, defaultdict[int, float]] = field(default_factory=dict)  # by resource, then piece: bytes
    weight: float = 0.0


class History:
    """A watcher that adds up rates in pieces of time between `begin` and `end` (seconds since 1970)."""

    def __init__(self, begin: float, end: float, pieces: int = PIECES) -> None:
        self.begin, self.end, self.width = begin, end, (end - begin) / pieces
        self._pieces_in_all = pieces
        self.jobs: dict[int, _Job] = {}
        self.marks: list[tuple[float, str]] = []
        self.away: list[tuple[float, float]] = []
        self.resources: list[str] = []
        self.capacities: list[tuple[float, dict[str, float]]] = []  # from when on, by resource
        self._wall = begin
        self._epoch = 0

    def begun(self, state: ControllerState, wall: float) -> None:
        """Phases that were under way."""
        self._wall, self._epoch = wall, state.epoch
        self._note_capacities(state, wall)
        self._look_at_all(state, wall)

    def happened(self, state: ControllerState, entry: JournalEntry, wall: float) -> None:
        """Bring up to date whom a record is about."""
        record = entry.record
        if isinstance(record, records.Started):
            self._started(state, wall)
        elif isinstance(record, records.Commanded) and record.verb in _MARKED:
            self._mark(wall, _words(state, record))
            self._note_capacities(state, wall)
        for number in concerned(record, self.jobs):
            self._look(state, number, wall)
        self._wall = wall

    def finish(self) -> None:
        """Count up to the end of the journal, or of what is looked at."""
        for job in self.jobs.values():
            self._count(job, min(self.end, max(self._wall, job.since)))

    def take(self, other: History) -> None:
        """Add what another journal tells of the same time: controllers that led one after the other have one each."""
        self.resources += [name for name in other.resources if name not in self.resources]
        places = {k: self.resources.index(name) for k, name in enumerate(other.resources)}
        known = {(job.name, job.uid, job.kind): job for job in self.jobs.values()}
        for each in other.jobs.values():
            job = known.get((each.name, each.uid, each.kind))
            if job is None:
                job = self.jobs[max(self.jobs, default=0) + 1] = _Job(each.name, each.uid, each.kind, each.since)
            job.seconds.update(each.seconds)
            job.weight += each.weight
            for piece, part in each.parts.items():
                job.parts[piece] += part
            for k, moved in each.moved.items():
                own = job.moved.setdefault(places[k], defaultdict(float))
                for piece, bytes_ in moved.items():
                    own[piece] += bytes_
        self.marks = sorted([*self.marks, *other.marks])
        self.away = sorted([*self.away, *other.away])
        self.capacities = sorted([*self.capacities, *other.capacities], key=lambda each: each[0])

    def _started(self, state: ControllerState, wall: float) -> None:
        """Another controller: if anybody was active, none was there since the last record."""
        self.resources = [each.name for each in state.settings.resources]
        if self._epoch and any(job.active for job in self.jobs.values()) and wall > self.begin:
            self.away.append((max(self.begin, self._wall), wall))
        for job in self.jobs.values():
            self._count(job, self._wall)
            job.since = wall
        self._epoch = state.epoch
        self._note_capacities(state, wall)
        self._mark(wall, f"a controller started, epoch {state.epoch}")

    def _note_capacities(self, state: ControllerState, wall: float) -> None:
        now = {each.name: capacity for each, capacity in zip(state.settings.resources, state.capacity, strict=True)}
        if not self.capacities or self.capacities[-1][1] != now:
            if self.capacities and wall <= self.begin:
                self.capacities.clear()
            self.capacities.append((max(wall, self.begin), now))

    def _mark(self, wall: float, words: str) -> None:
        if self.begin <= wall <= self.end:
            self.marks.append((wall, words))

    def _look_at_all(self, state: ControllerState, wall: float) -> None:
        self.resources = [each.name for each in state.settings.resources]
        for number, app in state.apps.items():
            if app.active:
                self._look(state, number, wall)

    def _look(self, state: ControllerState, number: int, wall: float) -> None:
        app = state.apps.get(number)
        job = self.jobs.get(number)
        if job is None:
            if app is None or not app.active:
                return
            job = self.jobs[number] = _Job(app.job, app.uid, app.kind, wall)
        self._count(job, wall)
        job.active = app is not None and app.active
        job.rates = _rates(state, app) if app is not None and job.active else {}
        if app is not None and job.active:
            numbers = numbers_of(state, app)
            job.part = min(1.0, numbers.rate / numbers.able) if numbers.able > 0.0 else 1.0

    def _count(self, job: _Job, now: float) -> None:
        begin, job.since = max(job.since, self.begin), max(job.since, now)
        if not job.active:
            return
        for piece, seconds in self._pieces(begin, min(now, self.end)):
            job.seconds[piece] += seconds  # type: ignore[assignment]
            job.parts[piece] += job.part * seconds
            for k, rate in job.rates.items():
                job.moved.setdefault(k, defaultdict(float))[piece] += rate * seconds
                job.weight += rate * seconds

    def _pieces(self, begin: float, end: float) -> Iterator[tuple[int, float]]:
        # Times since 1970 have few digits after the point: by the number of the piece it always comes to an end.
        piece = int((begin - self.begin) / self.width)
        while begin < end:
            stop = min(end, self.begin + (piece + 1) * self.width)
            if stop > begin:
                yield min(piece, self._pieces_in_all - 1), stop - begin
                begin = stop
            piece += 1

    def to_dict(self) -> dict[str, Any]:
        """The JSON form, with names and users, for whoever may see them."""
        seen = [(number, job) for number, job in self.jobs.items() if job.seconds]
        ordered = sorted(seen, key=lambda each: -each[1].weight)
        shown, others = ordered[:MOST_JOBS], [job for _, job in ordered[MOST_JOBS:]]
        return {
            "begin": self.begin,
            "end": self.end,
            "width": self.width,
            "resources": self.resources,
            "jobs": {str(number): [job.name, job.uid, job.kind] for number, job in shown},
            "hidden": len(others),
            "samples": list(self._samples(shown, others)),
            "capacities": [each for each in self.capacities if each[0] <= self.end],
            "away": self.away,
            "marks": self.marks[-MOST_MARKS:],
        }

    def _samples(self, shown: list[tuple[int, _Job]], others: list[_Job]) -> Iterator[list[Any]]:
        rows: defaultdict[int, list[list[Any]]] = defaultdict(list)
        for number, job in shown:
            for piece, seconds in job.seconds.items():
                if seconds < 0.02 * self.width:  # too short to be seen
                    continue
                ways = [value for k, moved in job.moved.items() for value in (k, round(moved[piece] / self.width))]
                rows[piece].append([number, round(job.parts[piece] / seconds, 3), *ways])
        rest = self._together(others)
        for piece in rest:
            rows.setdefault(piece, [])
        last = -1
        for piece in sorted(rows):
            if piece > last + 1:
                yield [round(self.begin + (last + 1) * self.width, 2), 0, []]
            yield [round(self.begin + piece * self.width, 2), 0, rows[piece], *([rest[piece]] if piece in rest else [])]
            last = piece
        yield [round(self.begin + (last + 1) * self.width, 2), 0, []]

    def _together(self, others: list[_Job]) -> dict[int, list[float]]:
        """By piece: the rates of those that are not shown, of each resource in turn."""
        found: dict[int, list[float]] = {}
        for job in others:
            for k, moved in job.moved.items():
                for piece, bytes_ in moved.items():
                    found.setdefault(piece, [0.0] * len(self.resources))[k] += bytes_ / self.width
        return {piece: [float(round(rate)) for rate in rates] for piece, rates in found.items()}


def history(directory: str | os.PathLike[str], begin: float, end: float, pieces: int = PIECES) -> History:
    """What a journal tells of the time between two moments (seconds since 1970)."""
    found = History(begin, end, pieces)
    walk(directory, found, begin)
    found.finish()
    return found


def _rates(state: ControllerState, app: App) -> dict[int, float]:
    """What an application is told to use of each resource; unpaced, what it can."""
    rates: dict[int, float] = {}
    for member in app.members.values():
        if member.op is None:
            continue
        most = state.limit(member)
        rate = most if member.unpaced or app.job in state.exempt else min(member.rate, most)
        for k, share in member.op.route.shares:
            rates[k] = rates.get(k, 0.0) + share * rate
    return rates


def _words(state: ControllerState, record: records.Commanded) -> str:
    """What an operator changed."""
    args = record.args
    name = args.get("resource", "")
    what = "the file system" if name == "all" else name
    if record.verb == "capacity":
        kind = next((each.kind for each in state.settings.resources if each.name == name), BYTES)
        return f"capacity of {what}: {rate_words(float(args['capacity']), kind)}"
    if record.verb == "service":
        return f"{what} is {'in service again' if args['on'] else 'out of service'}"
    if record.verb == "drain":
        return "draining" if args["on"] else "draining ended"
    return " ".join([record.verb, *(f"{value}" for value in args.values())])


def rate_words(rate: float, kind: str = BYTES) -> str:
    """A rate with its unit."""
    return f"{byte_scale(rate, pure=False).show(rate)}/s" if kind == BYTES else f"{rate:,.0f} operations/s"
