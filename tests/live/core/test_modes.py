"""GRACE, RUN, MONITOR, PAUSED, drain, fenced, frozen: who may be told what."""

from __future__ import annotations

from typing import Any

import pytest

from live.core.talk import CAPACITY, EPOCH, Talk
from penstock.live.core import Stage, records
from penstock.live.core.events import Close, Connected, Identity
from penstock.wire import messages as wire

F = 0.5 * CAPACITY / 10


def pair(policy: str = "fair-share", **given: Any):
    """Two members that share the capacity."""
    talk = Talk(policy, **given)
    first, second = talk.join("a"), talk.join("b", cap=80.0)
    talk.step(first.a_post(), second.a_post())
    talk.quiet()
    return talk, first, second


# --- GRACE


def test_a_cold_start_raises_nobody_until_all_leases_are_over():
    talk = Talk(warm=False)
    assert talk.state.mode == "grace"
    peer = talk.join()
    peer.post()
    assert peer.rate == 0.0 and talk.state.decisions == 0
    assert talk.wake == pytest.approx(talk.settings.waiting)
    talk.sleep(talk.settings.waiting / 2)
    peer.beat()
    talk.sleep(talk.settings.waiting / 2)
    assert talk.state.mode == "run" and peer.rate == CAPACITY


def test_a_warm_start_is_ready_at_once():
    assert Talk().state.mode == "run"


# --- MONITOR


def test_monitoring_decides_and_paces_nobody():
    talk, first, second = pair()
    assert talk.admin("mode", mode="monitor") == {"mode": "monitor", "settling": 0}
    assert [peer.told[-1].flags for peer in (first, second)] == [wire.MONITOR] * 2
    assert [peer.member.charge for peer in (first, second)] == [CAPACITY, 80.0]
    decisions = talk.state.decisions
    third = talk.join("c")
    third.post()
    assert third.told[-1].flags == wire.MONITOR
    assert talk.state.decisions > decisions
    would = talk.made(records.RatesDecided)[-1].rates
    assert sum(rate for *_, rate in would) == pytest.approx(CAPACITY)
    assert talk.state.rows.rate[:3].sum() == pytest.approx(CAPACITY)  # as if they were paced


def test_leaving_monitor_begins_with_decreases():
    talk, first, second = pair()
    talk.admin("mode", mode="monitor")
    for peer in (first, second):
        peer.ack()
    assert talk.admin("mode", mode="enforce")["settling"] == 2
    assert [peer.told[-1].flags for peer in (first, second)] == [wire.PACED] * 2
    assert first.rate + second.rate == pytest.approx(CAPACITY)
    assert talk.state.charges.used[0] == CAPACITY + 80.0
    talk.quiet()
    assert talk.state.charges.used[0] == pytest.approx(CAPACITY)
    assert talk.admin("mode") == {"mode": "run", "settling": 0}


def test_one_that_could_use_all_hears_that_it_is_paced_again():
    talk = Talk()
    peer = talk.join()
    peer.post()
    talk.quiet()
    talk.admin("mode", mode="pause")
    assert (peer.rate, peer.told[-1].flags) == (CAPACITY, wire.FREE)
    talk.admin("mode", mode="enforce")
    assert (peer.rate, peer.told[-1].flags) == (CAPACITY, wire.PACED)
    peer.ack()
    assert peer.member.free is None


# --- PAUSED


def test_the_kill_switch_frees_everyone_and_asks_no_policy():
    talk, first, second = pair()
    talk.admin("mode", mode="pause")
    decisions = talk.state.decisions
    third = talk.join("c", cap=10.0)
    third.post()
    for peer, most in ((first, CAPACITY), (second, 80.0), (third, 10.0)):
        assert (peer.rate, peer.told[-1].flags, peer.member.charge) == (most, wire.FREE, most)
    talk.sleep(1.0)
    first.beat(10.0)
    assert first.told[-1].flags == wire.FREE
    assert talk.state.decisions == decisions


def test_no_lease_ends_what_goes_unpaced():
    talk, first, second = pair()
    talk.admin("mode", mode="pause")
    first.ack()
    first.cut()
    talk.sleep(1000.0)
    assert first.stage is Stage.ORPHAN and first.member.charge == CAPACITY
    assert second.stage is Stage.POSTED and second.member.charge == 80.0
    talk.admin("mode", mode="enforce")
    assert second.rate == 0.0  # all of it may still be in use
    assert talk.admin("status")["settling"] == 2
    second.ack()
    assert talk.admin("status")["settling"] == 1
    talk.sleep(3600.0)
    assert talk.state.find(first.app, 0) is None


def test_the_mode_outlives_a_restart():
    talk, _, _ = pair()
    talk.admin("mode", mode="pause")
    again = Talk(settings=talk.settings, state=talk.twin, warm=False, now=talk.now, epoch=EPOCH + 1)
    assert again.state.mode == "paused"


# --- drain


def test_draining_takes_nothing_new_and_counts_on_the_fallback():
    talk = Talk()
    old, idle = talk.join("a"), talk.join("b")
    old.post()
    talk.quiet()
    assert talk.admin("drain", on=True) == {"draining": True}
    idle.post()
    assert (idle.errors[-1].code, idle.errors[-1].fatal) == ("draining", False)
    assert idle.stage is Stage.LOST and idle.member.charge == F
    assert old.rate == pytest.approx(CAPACITY - F)
    new = talk.join("c")
    assert new.errors[-1].code == "draining" and new.session not in talk.closed
    old.ack()
    old.beat()
    assert old.told[-1].flags == wire.DRAINING
    idle.complete(5.0)
    assert idle.stage is Stage.IDLE and old.rate == CAPACITY
    talk.admin("drain", on=False)
    idle.post()
    assert idle.stage is Stage.POSTED


def test_one_that_was_turned_away_may_post_again_later():
    talk = Talk()
    peer = talk.join()
    talk.admin("drain", on=True)
    peer.post()
    talk.admin("drain", on=False)
    peer.post()
    assert peer.stage is Stage.POSTED and talk.made(records.Posted)[-1].held == F


def test_what_one_could_use_unpaced_is_never_granted():
    """In the grace no rate is decided on, so who went unpaced gets its fallback and not all that it could use."""
    talk = Talk(warm=False)
    talk.admin("mode", mode="pause")
    peers = [talk.join(job) for job in "ab"]
    for peer in peers:
        peer.post()
    assert all(peer.told[-1].flags & wire.FREE for peer in peers)
    talk.admin("mode", mode="enforce")
    assert talk.state.mode == "grace"
    for peer in peers:
        peer.beat()
        assert (peer.told[-1].rate, peer.told[-1].flags) == (F, wire.PACED)
    talk.quiet()
    assert [peer.member.charge for peer in peers] == [F, F]


# --- fenced


def test_a_higher_epoch_in_a_greeting_ends_it():
    talk, first, second = pair()
    outputs = talk.step(Connected(50, Identity("peer", 0, trusted=True), epoch_seen=EPOCH + 1))
    assert [output for output in outputs if isinstance(output, Close)] == [
        Close(session, "fenced") for session in (first.session, second.session, 50)
    ]
    assert talk.state.mode == "fenced" and talk.made(records.Fenced)[-1].epoch == EPOCH + 1
    assert talk.say(first.session, wire.Beat(9, EPOCH, 1, 0.0)) == []
    assert talk.sleep(100.0) == []


@pytest.mark.parametrize(
    "message",
    [
        wire.Ack(EPOCH + 1, 1),
        wire.Beat(9, EPOCH + 1, 1, 0.0),
        wire.Resync(1, 1, 0, EPOCH + 1, 1, 0.0, 0.0, 9),
    ],
)
@pytest.mark.parametrize("trusted", [True, False])
def test_a_higher_epoch_in_a_message_ends_it(message, trusted):
    """If one of the house says so; anybody else is sent away, and the others are served as before."""
    talk, _, second = pair()
    session = talk.connect(uid=1000, trusted=trusted)
    talk.say(session, message)
    assert talk.state.fenced is trusted
    if not trusted:
        assert talk.closed == {session: "fenced"}
        assert talk.said[session][-1].code == "fenced" and talk.said[session][-1].fatal
        second.beat()
        assert second.told[-1].rate > 0.0


def test_a_greeting_of_anybody_ends_nothing():
    talk, _, second = pair()
    talk.step(Connected(50, Identity("hmac", 1000, job="a"), epoch_seen=EPOCH + 1))
    assert not talk.state.fenced and talk.closed == {50: "fenced"} and 50 not in talk.core.sessions
    second.beat()
    assert second.told[-1].rate > 0.0


def test_the_same_epoch_does_not():
    talk, _, _ = pair()
    talk.step(Connected(50, Identity("peer", 1), epoch_seen=EPOCH))
    assert not talk.state.fenced


# --- frozen


def test_frozen_it_renews_and_raises_nobody():
    talk, first, second = pair()
    talk.core.frozen = True
    talk.sleep(1.0)
    first.beat(10.0)
    assert first.rate == first.told[-2].rate
    second.complete()
    assert first.rate == first.told[-2].rate
    third = talk.join("c")
    third.post()
    assert third.rate == 0.0
    talk.core.frozen = False
    talk.step()
    talk.quiet()
    assert first.rate == third.rate == CAPACITY / 2
