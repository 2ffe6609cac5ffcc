"""Who is told a rate without room for it: found by the fault harness, which drew operators that change their minds."""

from __future__ import annotations

from live.core.talk import CAPACITY, Talk
from penstock.live.core.events import Frame
from penstock.wire import messages as wire


def test_one_that_is_exempt_no_more_is_told_only_what_others_have_left():
    """It was unpaced for a moment: the other one has not heard yet that it is to have less, and uses everything."""
    talk = Talk()
    other = talk.join("b")
    other.post()
    talk.quiet()
    talk.admin("exempt", add="a")
    peer = talk.join("a")
    peer.post()
    assert peer.told[-1].flags & wire.FREE and other.told[-1].rate == 0.0
    talk.admin("exempt", **{"del": "a"})
    assert not peer.told[-1].flags & wire.FREE
    assert peer.rate == 0.0
    talk.quiet_but(other)
    assert peer.rate == 0.0
    talk.quiet()
    assert (peer.rate, other.rate) == (CAPACITY / 2, CAPACITY / 2)


def test_where_all_were_unpaced_all_have_their_parts_at_once():
    talk = Talk()
    peers = [talk.join(job) for job in "abcd"]
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    talk.admin("mode", mode="pause")
    talk.quiet()
    talk.admin("mode", mode="enforce")
    assert [peer.rate for peer in peers] == [CAPACITY / 4] * 4


def test_one_that_does_not_hear_is_not_told_again_what_was_there_before_a_capacity_was_lowered():
    talk = Talk()
    peer = talk.join("a")
    peer.post()
    for _ in range(4):  # it goes by its fallback, for nothing that it is told arrives
        talk.sleep(2.0)
        peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, peer.op))
    assert peer.member.row is None and peer.rate == CAPACITY
    talk.admin("capacity", capacity=40.0)
    talk.sleep(2.0)
    talk.step(Frame(peer.session, wire.Beat(peer.next_hb(), 0, 0, 0.0, peer.op)))
    assert peer.rate == peer.fallback[""]
    talk.quiet()
    assert peer.rate <= peer.member.charge <= 40.0
