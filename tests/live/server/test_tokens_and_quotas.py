"""Tokens that are none, and who takes too much."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.live.server.config import make_config
from penstock.live.server.quotas import SPARE, Allowance, Doorman, Quotas
from penstock.wire.tokens import Claims, InvalidKey, InvalidToken, make_token, read_key, read_token


@pytest.mark.parametrize(
    "text", ["", "penstock-token-1", "penstock-token-2 YQ== YQ==", "penstock-token-1 %% YQ==", "x y z"]
)
def test_what_is_no_token_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidToken, match="token"):
        read_token(text)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"job": ""}, "the job is ''"),
        ({"job": "x\ny"}, "printable characters"),
        ({"job": "x" * 257}, "1 to 256"),
        ({"uid": -1}, "the user id is -1"),
        ({"uid": 2**32 - 1}, "from 0 to 4294967294"),
        ({"nodes": 0}, "nodes is 0"),
    ],
)
def test_no_token_for_nobody(changes: dict[str, object], sentence: str) -> None:
    given = {"job": "1", "uid": 5, "nodes": 1, "exp": 1.0, "kid": "a", **changes}
    with pytest.raises(InvalidToken, match=sentence):
        make_token(b"k" * 16, Claims(**given))  # type: ignore[arg-type]


def test_a_key_is_private_and_long_enough(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(b"0123456789abcdef\n")
    file.chmod(0o440)
    with pytest.raises(InvalidKey, match="others can read this key; chmod 0400"):
        read_key(file)
    file.chmod(0o400)
    assert read_key(file) == b"0123456789abcdef"
    os.chmod(file, 0o600)
    file.write_bytes(b"short")
    with pytest.raises(InvalidKey, match="has 5 bytes; a key has at least 16"):
        read_key(file)
    with pytest.raises(InvalidKey, match="no such file"):
        make_config(capacity=1, auth=["hmac"], keys={"a": str(tmp_path / "none")}).site_keys()


def test_connections_are_counted_and_given_back() -> None:
    door: Doorman[int] = Doorman(Quotas(connections=2, unauthenticated=1))
    assert door.may_connect(0.0, "a", "uid 1") is None
    door.connected(0.0, "uid 1", 1)
    assert "being let in" in str(door.may_connect(0.0, "a", "uid 1"))
    assert door.admitted("uid 1", 1, 1000) is None
    assert door.may_connect(0.0, "a", "uid 1") is None
    door.connected(0.0, "uid 1", 2)
    assert "2 connections" in str(door.may_connect(0.0, "a", "uid 1"))
    door.left("uid 1", 2, None, authenticated=False)
    door.left("uid 1", 1, 1000, authenticated=True)
    assert (door.connections, door.unauthenticated) == (0, 0)
    assert door.may_connect(0.0, "a", "uid 1") is None


def test_one_user_cannot_take_all() -> None:
    door: Doorman[int] = Doorman(Quotas(connections_per_uid=1), exempt=frozenset({0}))
    for number in range(6):
        door.connected(0.0, "here", number)
    assert door.admitted("here", 0, 1000) is None
    assert "user 1000" in str(door.admitted("here", 1, 1000))
    assert door.admitted("here", 2, 0) is None
    assert door.admitted("here", 3, 0) is None
    assert door.admitted("here", 4, None) is None
    door.left("here", 0, 1000, authenticated=True)
    assert door.admitted("here", 5, 1000) is None


def test_whoever_crowds_the_door_gives_way_to_others_and_not_to_itself() -> None:
    door: Doorman[str] = Doorman(Quotas(unauthenticated=4))
    assert [door.connected(0.0, "uid 1", f"hog {number}") for number in range(4)] == [None] * 4
    assert "being let in" in str(door.may_connect(0.0, "a", "uid 1"))
    assert door.may_connect(0.0, "b", "uid 2") is None
    assert door.connected(0.0, "uid 2", "guest") == "hog 0"
    assert door.connected(0.0, "uid 3", "other") == "hog 1"
    assert "being let in" in str(door.may_connect(0.0, "a", "uid 1"))
    assert door.unauthenticated == 4
    door.left("uid 1", "hog 0", None, authenticated=False)
    assert door.unauthenticated == 4  # it was counted out when it had to go
    assert door.admitted("uid 2", "guest", 2) is None
    assert door.unauthenticated == 3
    for peer, each in (("uid 1", "hog 1"), ("uid 1", "hog 2"), ("uid 1", "hog 3"), ("uid 3", "other")):
        door.left(peer, each, None, authenticated=False)
    door.left("uid 2", "guest", 2, authenticated=True)
    assert (door.connections, door.unauthenticated, len(door._strangers)) == (0, 0, 0)


def test_whoever_has_stood_in_the_door_for_long_gives_way_to_its_like() -> None:
    door: Doorman[str] = Doorman(Quotas(unauthenticated=2))
    assert [door.connected(came, "10.0.0.7", f"idler {came}") for came in (0.0, 0.6)] == [None, None]
    assert "being let in" in str(door.may_connect(0.9, "10.0.0.7", "10.0.0.7"))
    assert door.may_connect(1.1, "10.0.0.7", "10.0.0.7") is None
    assert door.connected(1.1, "10.0.0.7", "honest") == "idler 0.0"
    assert "being let in" in str(door.may_connect(1.2, "10.0.0.7", "10.0.0.7"))
    assert door.admitted("10.0.0.7", "honest", None) is None
    assert (door.connections, door.unauthenticated) == (3, 1)


def test_there_is_a_place_for_operators_when_there_is_none() -> None:
    door: Doorman[int] = Doorman(Quotas(connections=3, unauthenticated=1))
    for number, known in enumerate((True, True, False)):
        door.connected(0.0, "uid 0", number)
        if known:
            assert door.admitted("uid 0", number, 0) is None
    assert "3 connections" in str(door.may_connect(0.0, "a", "uid 0"))
    for number in range(SPARE):
        assert door.may_connect(0.0, "a", "uid 0", operator=True) is None
        door.connected(0.0, "uid 0", 3 + number)
    assert "3 connections" in str(door.may_connect(0.0, "a", "uid 0", operator=True))


def test_bad_frames_shut_an_address_out_for_a_minute() -> None:
    door: Doorman[int] = Doorman(Quotas())
    for time in (0.0, 10.0, 20.0):
        assert door.may_connect(time, "process 7", "uid 7") is None
        door.bad_frame(time, "process 7")
    assert "process 7" in str(door.may_connect(20.0, "process 7", "uid 7"))
    assert door.may_connect(20.0, "process 8", "uid 7") is None
    assert "process 7" in str(door.may_connect(59.0, "process 7", "uid 7"))
    assert door.may_connect(61.0, "process 7", "uid 7") is None


def test_a_host_of_many_is_borne_with_for_longer() -> None:
    door: Doorman[int] = Doorman(Quotas(bad_frames=3))
    for _ in range(89):
        door.bad_frame(0.0, "10.0.0.7")
    assert door.may_connect(1.0, "10.0.0.7", "10.0.0.7", host=True) is None
    door.bad_frame(2.0, "10.0.0.7")
    assert "90 frames from 10.0.0.7" in str(door.may_connect(3.0, "10.0.0.7", "10.0.0.7", host=True))


def test_the_list_of_bad_addresses_is_bounded() -> None:
    door: Doorman[int] = Doorman(Quotas(connections=10))
    for number in range(1000):
        door.bad_frame(float(number), f"10.0.0.{number}")
    assert len(door._bad) < 100


def test_frames_beyond_the_burst_wait() -> None:
    allowance = Allowance(50.0, 200.0, 0.0)
    sent = 0
    while not allowance.wait(0.0):
        allowance.take()
        sent += 1
    assert sent == 200
    assert allowance.wait(0.0) == pytest.approx(0.02)
    assert allowance.wait(0.0201) == 0.0
    taken = 0
    for tick in range(1000):  # ten seconds
        if not allowance.wait(0.0201 + tick * 0.01):
            allowance.take()
            taken += 1
    assert 495 <= taken <= 505
