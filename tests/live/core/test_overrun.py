"""A policy that takes too long decides no more; that is recorded, so a replay comes to the same decisions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from live.core.talk import Talk
from penstock.live.core import ControllerState, Decider, records
from penstock.live.core.decide import OutOfTime
from penstock.live.server import time_limit
from penstock.live.server.time_limit import limited
from penstock.policies.sharing import Sharing, find


@contextmanager
def out_of_time(policy: Sharing) -> Iterator[None]:
    yield
    raise OutOfTime(0.05)


def overrun() -> Talk:
    """Two jobs under fcfs, which takes too long when the second comes."""
    talk = Talk("fcfs")
    talk.join("a").post(1e6)
    talk.quiet()
    talk.core.limited = out_of_time
    talk.join("b").post(1e6)
    talk.quiet()
    return talk


def test_fair_share_decides_from_then_on() -> None:
    talk = overrun()
    assert [record.policy for record in talk.made(records.Overran)] == ["fcfs"]
    assert [peer.rate for peer in talk.peers.values()] == [50.0, 50.0]
    status = talk.admin("status")
    assert status["policy"] == "fair-share" and "took more than 0.05 s" in status["last_policy_failure"]


def test_the_same_decisions_are_taken_again() -> None:
    """As a replay takes them: by the records alone, with no limit to any time."""
    talk = overrun()
    state, decider, compared = ControllerState(talk.settings), Decider(find("fcfs")), 0
    for record in talk.records:
        if isinstance(record, records.RatesDecided):
            assert decider.decide(state).decision == record
            compared += 1
        state.apply(talk.now, record)
    assert compared >= 2 and state.overrun == "fcfs"
    assert ControllerState.restore(state.snapshot(), talk.settings).overrun == "fcfs"


def test_an_operators_choice_counts_again() -> None:
    talk = overrun()
    talk.core.limited = Talk().core.limited
    assert talk.admin("policy", name="list-fifo") == {"policy": "list-fifo"}
    talk.quiet()
    assert [peer.rate for peer in talk.peers.values()] == [100.0, 0.0]


def test_sleeping_is_interrupted_and_our_own_policies_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "_TIMERS", {key: (timer, 0.02) for key, (timer, _) in time_limit._TIMERS.items()})
    own, theirs = find("fair-share"), _named("theirs")
    for work in (lambda: time.sleep(5.0), _spin):
        with pytest.raises(OutOfTime), limited(theirs):
            work()
    with limited(own):
        _spin(0.05)
    with limited(theirs):
        pass


def _spin(seconds: float = 5.0) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def _named(name: str) -> Sharing:
    return replace(find("fair-share"), name=name)
