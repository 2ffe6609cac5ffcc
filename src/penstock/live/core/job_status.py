"""The controller's jobs for people: what `top`, `status --mine` and snapshots tell of each, in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import islice
from math import isfinite
from typing import Any

from penstock.live.core.members import App, Member, RouteRow, Stage
from penstock.live.core.pieces import DESCRIPTION, GLANCES, Pace, Pieces, members_of
from penstock.live.core.resources import Route
from penstock.live.core.state import ControllerState

_Place = tuple[bool, float, float, int]


def top(state: ControllerState, count: int, idle: bool = False, uid: int | None = None) -> Pieces[list[dict[str, Any]]]:
    """The active applications, those that use most first; then, if they are asked for, the idle ones; of one user."""
    pace, told = Pace(), []
    apps = yield from _in_order(state, idle, uid)
    for app in islice(apps, count):
        told.append((yield from _described(state, app, pace)))
    return told


def everybody(state: ControllerState) -> Pieces[list[dict[str, Any]]]:
    """All applications with their members."""
    pace, told = Pace(), []
    for app in list(state.apps.values()):
        described = yield from _described(state, app, pace)
        described["of"] = []
        for member in list(app.members.values()):
            described["of"].append(_member(state, member))
            if pace.enough(DESCRIPTION):
                yield
        told.append(described)
    return told


def _in_order(state: ControllerState, idle: bool, uid: int | None) -> Pieces[Iterable[App]]:
    """Those that are told of, sorted a piece at a time; the sorted pieces are merged as far as anybody asks."""
    pace, some = Pace(), list[tuple[_Place, App]]()
    ordered, apps = [some], list(state.apps.values())
    for start in range(0, len(apps), GLANCES):
        for app in apps[start : start + GLANCES]:
            if (idle or app.posted == app.posted) and (uid is None or app.uid == uid):  # active: posted is no NaN
                some.append((_place(state, app), app))
                if pace.enough(1 + len(app.members)):
                    some.sort(key=_first)
                    yield
                    ordered.append(some := [])
        yield
    some.sort(key=_first)
    return (app for _, app in merge(*ordered, key=_first))


def _first(ranked: tuple[_Place, App]) -> _Place:
    return ranked[0]


def _place(state: ControllerState, app: App) -> _Place:
    """Where an application stands in the list: those that move most, then those that posted last."""
    rate = sum(member.rate for member in app.members.values() if member.stage is not Stage.LOST)
    return not app.active, -rate, state.now - app.posted if app.active else 0.0, app.number


class _Gathered:
    """What the members of an application come to."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self.members = 0
        self.nodes = self.rate = self.charge = self.volume = self.done = self.unseen = self.outside = 0.0
        self.lease: float | None = None
        self.stages, self.ways = set[str](), set[str]()
        self.routes: dict[Route, float] = {}  # with the rate on each
        self._rows: dict[RouteRow, None] = {}

    def add(self, member: Member) -> None:
        """Take one in; one that has left meanwhile does not count."""
        stage, op = member.stage, member.op
        if stage is Stage.GONE:
            return
        rate = 0.0 if stage is Stage.LOST else member.rate
        self.members += 1
        self.nodes += member.nodes
        self.rate += rate
        self.charge += member.charge
        self.outside += member.outside
        self.stages.add(stage._value_)
        if member.how:
            self.ways.add(member.how)
        if op is not None:
            self.routes[op.route] = self.routes.get(op.route, 0.0) + rate
            self.volume += op.volume
            self.done += op.reported
            if member.row is None:
                self.unseen += op.volume - op.done
            else:
                self._rows[member.row] = None
            if (lease := lease_of(self._state, member)) is not None:
                self.lease = lease if self.lease is None else min(self.lease, lease)

    def rows(self) -> list[int]:
        """Where they stand among the rows that policies see, each place once; rows may have ended meanwhile."""
        there = self._state.rows.rows
        return [row.index for row in self._rows if row.index < len(there) and there[row.index] is row]

    def granted(self) -> dict[str, float]:
        """What they are told to use of each resource on their way."""
        found: dict[str, float] = {}
        for route, rate in self.routes.items():
            for k, share in route.shares:
                name = self._state.settings.resources[k].name
                found[name] = found.get(name, 0.0) + share * rate
        return found

    def targets(self) -> list[str]:
        """All that they use."""
        return sorted({target for route in self.routes for target in route.key[1] or self._state.routes.unseen})


def _described(state: ControllerState, app: App, pace: Pace) -> Pieces[dict[str, Any]]:
    found = _Gathered(state)
    for some in members_of([app]):
        for member in some:
            found.add(member)
        if pace.enough(len(some)):
            yield
    if pace.enough(DESCRIPTION):
        yield
    rows, now = found.rows(), state.now
    settled = [state.rows.settled_row(row, now) for row in rows]
    return {
        "app": app.number,
        "job": app.job,
        "uid": app.uid,
        "account": app.account,
        "labels": dict(app.labels),
        "nodes": found.nodes,
        "kind": app.kind,
        "members": found.members,
        "direction": "+".join(sorted({route.key[0] for route in found.routes})),
        "targets": found.targets(),
        "lease": found.lease,
        "stages": sorted(found.stages),
        "active": app.active,
        "rate": found.rate,
        "granted": found.granted(),
        "charge": found.charge,
        "wanted": float(sum(state.rows.wanted[row] for row in rows)),
        "limit": float(sum(state.rows.limit[row] for row in rows)),
        "usable": _usable(state, rows),
        "volume": found.volume,
        "done": found.done,
        "remaining": sum(max(0.0, left) for left, _ in settled) + found.unseen,  # some may not be in any row yet
        "posted": now - app.posted if app.active else None,
        "waited": max((_waited(state, row) for row in rows), default=0.0),
        "released": now - app.release,
        "progress": max([app.progress, *(progress for _, progress in settled)]),
        "operations": app.operations,
        "omega": app.omega if isfinite(app.omega) else None,
        "announced": app.announced,
        "moved": app.moved,
        "outside": found.outside,
        "outside_by": sorted(found.ways),
    }


def _usable(state: ControllerState, rows: Sequence[int]) -> float | None:
    """What it was seen to need, where that is less than its limit; None: all that it gets."""
    found = [(float(state.rows.limit[row]), float(state.rows.usable[row])) for row in rows]
    slow = any(usable < limit for limit, usable in found)
    return sum(min(limit, usable) for limit, usable in found) if slow else None


def _waited(state: ControllerState, row: int) -> float:
    since = float(state.rows.waits[row])
    return state.now - since if isfinite(since) else 0.0


def lease_of(state: ControllerState, member: Member) -> float | None:
    """Seconds until a silent member with an operation is given up; None if it has no lease."""
    leased = member.op is not None and member.stage is not Stage.LOST and isfinite(member.reclaim)
    return max(0.0, member.reclaim - state.now) if leased else None


def _member(state: ControllerState, member: Member) -> dict[str, Any]:
    return {
        "member": member.number,
        "stage": str(member.stage),
        "connected": member.session is not None,
        "nodes": member.nodes,
        "cap": member.cap,
        "rate": member.rate,
        "charge": member.charge,
        "usable": member.usable if isfinite(member.usable) else None,
        "unpaced": member.free is not None,
        "op": member.op.number if member.op else None,
        "volume": member.op.volume if member.op else None,
        "done": member.op.reported if member.op else None,
        "lease": lease_of(state, member),
        "fallback": dict(member.fallback),
    }
