"""Versions next to each other understand each other: fields were only appended, and a downgrade is refused.

The shapes here are those of the version before; what is read and written by them is what its code would.
"""

from __future__ import annotations

import msgspec
import pytest

from penstock.live.core import ControllerSettings, ControllerState, Resource, records, snapshots
from penstock.wire import messages as wire
from penstock.wire import tokens


class OldHook(msgspec.Struct, array_like=True, frozen=True, tag=13):
    req: int
    kind: str
    job: str
    node: str = ""
    uid: int = -1
    nodes: int = 1
    seconds_left: float | None = None


class OldHooked(msgspec.Struct, array_like=True, frozen=True, tag=12):
    kind: str
    job: str
    node: str
    uid: int
    nodes: int
    seconds_left: float | None
    app: int


class OldClaims(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    job: str
    uid: int
    nodes: int
    exp: float
    kid: str


def test_hooks_of_both_versions() -> None:
    old = wire.read_client(msgspec.msgpack.encode(OldHook(1, "job_end", "7", "n1", 1000, 4)))
    assert isinstance(old, wire.Hook) and (old.node, old.restart, old.node_names, old.account) == ("n1", 0, (), "")
    new = msgspec.msgpack.encode(
        wire.Hook(1, "job_start", "7", uid=5, nodes=2, account="a", restart=3, node_names=("x",))
    )
    assert msgspec.msgpack.decode(new, type=OldHook) == OldHook(1, "job_start", "7", "", 5, 2)


class OldBeat(msgspec.Struct, array_like=True, frozen=True, tag=8):
    hb: int
    epoch: int
    rev: int
    done: float = 0.0
    op: int | None = None


class OldRegistered(msgspec.Struct, array_like=True, frozen=True, tag=66):
    req: int
    app: int
    member: int
    fallback: dict[str, float]
    floor: float
    targets: tuple[str, ...] = ()


def test_beats_of_both_versions() -> None:
    assert wire.read_client(msgspec.msgpack.encode(OldBeat(3, 1, 7, 5.0, 2))) == wire.Beat(3, 1, 7, 5.0, 2, ())
    new = msgspec.msgpack.encode(wire.Beat(3, 1, 7, 5.0, 2, ("x",)))
    assert msgspec.msgpack.decode(new, type=OldBeat) == OldBeat(3, 1, 7, 5.0, 2)


def test_a_client_of_the_version_before_is_registered_and_hears_nothing_of_paths() -> None:
    new = msgspec.msgpack.encode(wire.Registered(1, 2, 3, {"": 5.0}, 1.0, ("x",), {"x": "/x"}))
    assert msgspec.msgpack.decode(new, type=OldRegistered) == OldRegistered(1, 2, 3, {"": 5.0}, 1.0, ("x",))
    old = wire.read_controller(msgspec.msgpack.encode(OldRegistered(1, 2, 3, {"": 5.0}, 1.0)))
    assert isinstance(old, wire.Registered) and old.paths == {}


def test_records_of_the_version_before_are_read() -> None:
    body = msgspec.msgpack.encode((1, 2.0, OldHooked("job_start", "7", "", 1000, 4, None, 1)))
    record = records.decode(body).record
    assert record == records.Hooked("job_start", "7", "", 1000, 4, None, 1)


def test_a_token_without_news_is_one_of_the_version_before() -> None:
    claims = tokens.Claims("7", 1000, 4, 1e9, "k")
    assert msgspec.json.decode(tokens.make_token(b"k" * 32, claims).claims, type=OldClaims).nodes == 4
    assert tokens.read_claims(msgspec.json.encode(OldClaims("7", 1000, 4, 1e9, "k"))) == claims
    news = tokens.make_token(b"k" * 32, tokens.Claims("7", 1000, 4, 1e9, "k", "physics"))
    with pytest.raises(msgspec.ValidationError):  # refused, and the job goes at its fallback
        msgspec.json.decode(news.claims, type=OldClaims)


def test_a_snapshot_says_that_an_earlier_version_cannot_read_it() -> None:
    state = ControllerState(ControllerSettings(resources=(Resource("all", 1.0),)))
    assert msgspec.msgpack.decode(state.snapshot())["version"] == snapshots.VERSION == 4 > snapshots.READ[0]


def test_records_that_an_earlier_version_does_not_know_are_none_to_it() -> None:
    """It stops at them, and says that the journal is damaged, instead of going on without them."""
    known = msgspec.msgpack.Decoder(tuple[int, float, records.Adrift | records.Forgotten])
    with pytest.raises(msgspec.ValidationError):
        known.decode(records.encode(1, 2.0, records.Measured(1, 1, 5.0)))
