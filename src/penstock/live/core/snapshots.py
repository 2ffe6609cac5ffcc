"""A state as bytes, and back: where recovery starts, so that it need not read the journal from its beginning.

The rows are kept as they lie, since the order of a sum shows in its last digits. Of applications and members every
field is a column, since nobody is answered while a state is packed: a column of numbers is made and packed fast, and
leaves the garbage collector nothing to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from itertools import chain, compress, islice, repeat
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from penstock.errors import PenstockError
from penstock.live.core.members import App, BatchJob, Member, Op, Stage
from penstock.live.core.resources import Route

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState

VERSION = 4
READ = (2, 3, 4)  # those before had fewer fields, at the end of what they had
_PLAIN = (
    "sharing",
    "configured_sharing",
    "configured",
    "origin",
    "now",
    "epoch",
    "rev",
    "chosen",
    "grace_until",
    "draining",
    "fenced",
    "next_app",
    "next_place",
    "decisions",
    "decided",
    "failures",
    "last_failure",
    "overrun",
    "out_of_service",
)
_OF_APP = [each.name for each in fields(App) if each.name != "members"]
_OF_MEMBER = [
    "number",
    "nodes",
    "cap",
    "fallback",
    "labels",
    "last_op",
    "rate",
    "rev",
    "revs",
    "charge",
    "lost_at",
    "usable",
    "stage",
    "free",
]
_OF_OP = [*(each.name for each in fields(Op) if each.name != "route"), "route.key"]

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder()


class BadSnapshot(PenstockError):
    """Bytes that are no snapshot, or one of another version."""


def packed(state: ControllerState) -> bytes:
    """All that counts of a state; what belongs to connections does not."""
    apps = list(state.apps.values())
    names = [resource.name for resource in state.settings.resources]
    document = {
        "version": VERSION,
        "state": {name: getattr(state, name) for name in _PLAIN},
        "exempt": sorted(state.exempt),
        "capacity": dict(zip(names, state.capacity, strict=True)),
        "jobs": {name: _packed_job(job) for name, job in state.jobs.items()},
        "apps": _columns(apps, _OF_APP),
        "members": _pack_members(apps),
        "rows": _pack_rows(state),
        "history": state.history.packed(),
        "memory": [state.memory.width, {name: each.tobytes() for name, each in state.memory.numbers.items()}],
    }
    return _encoder.encode(document)


def unpacked(data: bytes, state: ControllerState) -> ControllerState:
    """Fill a new state."""
    try:
        document = _decoder.decode(data)
        version = document["version"]
    except (msgspec.DecodeError, TypeError, KeyError) as error:
        raise BadSnapshot(f"this is no snapshot of a controller: {error}") from None
    if version not in READ:
        raise BadSnapshot(f"the snapshot has version {version}; this penstock reads {READ[0]} to {VERSION}")
    try:
        _fill(state, document)
    except (LookupError, TypeError, ValueError) as error:
        raise BadSnapshot(f"the snapshot is not in the form of version {version} ({error})") from None
    return state


def _fill(state: ControllerState, document: dict[str, Any]) -> None:
    for name in _PLAIN:
        setattr(state, name, document["state"].get(name, getattr(state, name)))
    state.exempt = set(document["exempt"])
    for name, capacity in document["capacity"].items():
        if name in state.routes.place:
            state.capacity[state.routes.place[name]] = capacity
    state.jobs = {name: _unpacked_job(*job) for name, job in document["jobs"].items()}
    _unpack_apps(state, document["apps"])
    _unpack_members(state, *document["members"])
    _unpack_rows(state, *document["rows"])
    state.memory.width, numbers = document["memory"]
    state.memory.numbers = {name: np.frombuffer(each).copy() for name, each in numbers.items()}
    state.history.unpack(document.get("history", ()))
    for member in state.members():
        state.charges.put(member)
    state.losses.renew(state.apps.values())


def _packed_job(job: BatchJob) -> list[Any]:
    return [job.uid, job.nodes, job.ends, job.account, job.restart, job.names, sorted(job.over), job.ending]


def _unpacked_job(uid: int, nodes: int, ends: float, *later: Any) -> BatchJob:
    defaults: tuple[Any, ...] = ("", 0, (), (), False)
    account, restart, names, over, ending = (*later, *defaults[len(later) :])
    return BatchJob(uid, nodes, ends, account, restart, tuple(names), frozenset(over), ending)


Columns = list[list[Any]]


def _columns(things: Sequence[Any], names: Sequence[str]) -> Columns:
    return [_reader(name)(things) for name in names]


@cache
def _reader(name: str) -> Callable[[Sequence[Any]], list[Any]]:
    """A loop for one field: Python is twice as fast at a name that is written down than at one that it is given."""
    return eval(f"lambda things: [each.{name} for each in things]")  # type: ignore[no-any-return]


def _pack_members(apps: Sequence[App]) -> tuple[list[int], Columns, list[bool], Columns]:
    """How many members each application has, these members, which of them have an operation, and these operations."""
    [families] = _columns(apps, ("members",))
    members = list(chain.from_iterable(map(dict.values, families)))
    [ops] = _columns(members, ("op",))
    busy = [op is not None for op in ops]
    counts = list(map(len, families))
    return counts, _columns(members, _OF_MEMBER), busy, _columns(list(compress(ops, busy)), _OF_OP)


def _unpack_apps(state: ControllerState, columns: Columns) -> None:
    for values in zip(*columns, strict=True):
        app = App(**dict(zip(_OF_APP, values, strict=False)))
        app.seen_on = {direction: tuple(targets) for direction, targets in app.seen_on.items()}
        state.add(app)


def _unpack_members(
    state: ControllerState, counts: list[int], columns: Columns, busy: list[bool], ops: Columns
) -> None:
    members = []
    apps = chain.from_iterable(map(repeat, state.apps.values(), counts))
    for app, (*values, stage, free) in zip(apps, zip(*columns, strict=True), strict=True):
        known = dict(zip(_OF_MEMBER, values, strict=False))
        member = Member(app, **known, stage=Stage(stage), free=tuple(free) if free else None)
        app.members[member.number] = member
        members.append(member)
    for member, (*numbers, (direction, targets)) in zip(compress(members, busy), zip(*ops, strict=True), strict=True):
        known = dict(zip(_OF_OP, numbers, strict=False))
        member.op = Op(**known, route=state.routes.find(direction, targets))


def _pack_rows(state: ControllerState) -> tuple[Columns, list[int], dict[str, bytes]]:
    """Whose each row is and how many members it has, these members, and the numbers."""
    rows = state.rows
    [apps, parts] = _columns(rows.rows, ("app.number", "members"))
    columns = {name: getattr(rows, name)[: rows.count].tobytes() for name in rows.columns}
    return [apps, list(map(len, parts))], list(chain.from_iterable(parts)), columns


def _unpack_rows(state: ControllerState, whose: Columns, members: list[int], columns: dict[str, bytes]) -> None:
    rows, following = state.rows, iter(members)
    for number, count in zip(*whose, strict=True):
        app = state.apps[number]
        parts = [app.members[each] for each in islice(following, count)]
        row = rows.add(app, _route(parts[0]), state.now)
        for member in parts:
            row.members[member.number] = member
            member.row = row
    for name, data in columns.items():
        column = getattr(rows, name)
        column[: rows.count] = np.frombuffer(data, column.dtype)


def _route(member: Member) -> Route:
    assert member.op is not None
    return member.op.route
