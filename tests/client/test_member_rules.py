"""Rules of a member that no other test would miss, each found by changing it: see `make mutate`."""

from __future__ import annotations

import pytest

from client.test_member import BEAT, dialling, free, idle, only, opened, paced, said, stale, waiting, welcome
from penstock.client.events import Begin, Dial, End, HangUp, LinkDown, LogLine, Output, Received, SetRate, Switch, Timer
from penstock.client.member import Member, MemberState
from penstock.wire import messages as wire
from penstock.wire.messages import Complete, Error, Post, Rate, Register, Registered, Resync


def lines(outputs: list[Output]) -> list[str]:
    return [line.text for line in only(outputs, LogLine)]


def test_a_lost_link_opens_the_pacer_of_one_that_waits() -> None:
    """It would wait for an answer that cannot come."""
    member = waiting()
    assert only(member.step(11.0, LinkDown()), SetRate)
    assert (member.state, member.rate) == (MemberState.OPEN, 4.0)


@pytest.mark.parametrize("last", [Error(0, "internal", "broken", fatal=True), Error(0, "superseded", "other")])
def test_who_is_sent_away_while_it_waits_goes_on(last: Error) -> None:
    member = waiting()
    member.step(11.0, Received(last))
    assert member.rate == member.fallback and not member.linked


def test_that_a_controller_is_out_of_reach_is_said_once() -> None:
    member = dialling()
    told = [lines(member.step(float(i), LinkDown("no route"))) for i in range(3)]
    assert told == [["cannot reach the controller (no route); going on at the fallback rate, 5 B/s"], [], []]
    member.step(4.0, welcome())
    member.step(4.0, Received(Registered(1, 9, member.member, {"": 5.0}, 1.0)))
    assert lines(member.step(5.0, LinkDown())) == ["lost the controller"]
    assert lines(member.step(6.0, LinkDown())) == ["cannot reach the controller; going on at the fallback rate, 5 B/s"]


def test_pauses_double() -> None:
    """At most 0.5, 1, 2, … 30 s: the largest of many draws is near."""
    pauses = [[only(m.step(float(i), LinkDown()), Dial)[0].after for i in range(8)] for m in map(seeded, range(100))]
    for count, column in enumerate(zip(*pauses, strict=True)):
        longest = min(30.0, 0.5 * 2.0**count)
        assert 0.95 * longest <= max(column) <= longest


def seeded(seed: int) -> Member:
    return dialling(seed=seed)


def test_a_pause_that_is_asked_for_is_kept() -> None:
    outputs = idle().step(11.0, Received(Error(0, "internal", "busy", fatal=True, retry_after=45.0)))
    (dial,) = only(outputs, Dial)
    assert 45.0 <= dial.after <= 45.0 * 1.25


def test_what_ended_while_cut_off_is_told_once() -> None:
    member = paced()
    member.step(11.0, LinkDown())
    member.step(12.0, End(5.0))
    first = said(member.step(13.0, welcome()))
    assert [type(message) for message in first] == [Resync, Complete]
    member.step(14.0, LinkDown())
    assert [type(message) for message in said(member.step(15.0, welcome()))] == [Resync]


def test_who_comes_back_says_how_long_its_lease_lasts() -> None:
    (resync,) = said(stale().step(13.0, welcome()))
    assert isinstance(resync, Resync) and resync.lease_left == pytest.approx(5.0)
    member = opened()
    member.step(13.0, LinkDown())
    (resync, *_) = said(member.step(14.0, welcome()))
    assert isinstance(resync, Resync) and resync.lease_left == 0.0


def test_one_that_was_told_of_on_return_needs_a_completion() -> None:
    """It began while nobody could hear it; the controller knows it from the Resync."""
    member = idle()
    member.step(5.0, LinkDown())
    member.step(6.0, Begin(100.0))
    member.step(7.0, welcome())
    member.step(8.0, LinkDown())
    member.step(9.0, End(5.0))
    assert [type(message) for message in said(member.step(10.0, welcome()))] == [Resync, Complete]


@pytest.mark.parametrize(("cap", "rate"), [(None, wire.MOST_NUMBER), (70.0, 70.0)])
def test_who_is_unpaced_says_as_much_as_it_can_do(cap: float | None, rate: float) -> None:
    member = paced(cap=cap)
    member.step(11.0, Received(Rate(3, 6, 1, 0.0, 1, wire.FREE)))
    member.step(12.0, LinkDown())
    (resync,) = said(member.step(13.0, welcome()))
    assert isinstance(resync, Resync) and resync.rate == rate


def test_a_member_that_is_off_hears_nothing() -> None:
    member = paced()
    member.step(11.0, Switch(False))
    assert member.step(12.0, Received(Rate(3, 9, 1, 7.0, 1))) == []
    assert member.rate is None
    assert not only(member.step(13.0, Switch(False)), HangUp)


def test_switched_on_twice_dials_once() -> None:
    member = dialling(off=True)
    assert only(member.step(0.0, Switch(True)), Dial) == [Dial(0.0)]
    assert member.step(1.0, Switch(True)) == []


def test_a_second_refusal_changes_nothing() -> None:
    member = idle()
    member.step(12.0, Received(Error(0, "auth", "no", fatal=True)))
    assert not only(member.step(12.5, Received(Error(0, "auth", "no", fatal=True))), Dial)


def test_a_refusal_may_ask_for_more_than_a_minute() -> None:
    outputs = idle().step(12.0, Received(Error(0, "auth", "no", fatal=True, retry_after=90.0)))
    assert only(outputs, Dial) == [Dial(90.0)]


def test_an_announcement_that_makes_no_sense_is_a_warning() -> None:
    for code, warning in (("value", True), ("quota", False)):
        member = waiting()
        req = member._post_req
        told = only(member.step(10.5, Received(Error(req, code, "no"))), LogLine)
        assert [line.warning for line in told] == [warning]
        assert "the announcement was refused" in told[0].text


def test_who_was_forgotten_registers_before_it_posts_again() -> None:
    member = waiting()
    member.step(10.5, Received(Error(member._post_req, "quota", "later", retry_after=12.0)))
    assert not any(isinstance(message, Post | Register) for message in said(member.step(22.0, Timer())))
    again = said(member.step(22.5, Timer()))
    assert [type(message) for message in again if isinstance(message, Post | Register)] == [Post]


def test_a_fallback_of_nothing_is_none() -> None:
    member = dialling()
    member.step(0.0, welcome())
    member.step(0.0, Received(Registered(1, 9, member.member, {"x": 0.0, "y": -1.0, "z": 0.5}, 1.0)))
    assert member.fallbacks == {"z": 0.5}


def test_the_largest_rate_is_one() -> None:
    member = waiting()
    member.step(10.0, Received(Rate(3, 5, 1, wire.MOST_NUMBER, 1)))
    assert (member.state, member.rate) == (MemberState.PACED, wire.MOST_NUMBER)


def test_requests_are_numbered_anew_after_the_last_number() -> None:
    member = idle()
    member._req = 0xFFFFFFFE
    assert [member._next_req() for _ in range(3)] == [0xFFFFFFFF, 1, 2]


def test_a_job_is_as_old_as_its_first_event() -> None:
    member = dialling()
    member.step(100.0, LinkDown())
    (register,) = said(member.step(130.0, welcome()))
    assert isinstance(register, Register) and register.release == 30.0


def test_silence_counts_from_the_welcome() -> None:
    member = idle()
    member.step(1000.0, LinkDown())
    member.step(1001.0, welcome())
    member.step(1001.0, Begin(10.0))
    assert member.linked and not only(member.step(1001.0 + BEAT, Timer()), Dial)


def test_an_older_controller_is_named() -> None:
    member = idle()
    member.step(1.0, LinkDown())
    assert any("older than 3" in line for line in lines(member.step(2.0, welcome(2))))


def test_giving_up_is_said() -> None:
    assert lines(waiting().step(12.0, Timer())) == ["no answer within 2 s; going on at the fallback rate, 4 B/s"]
    assert "another process speaks for this member" in lines(idle().step(1.0, Received(Error(0, "superseded", "x"))))[0]
    assert free().rate is None


def test_who_gave_up_on_one_operation_waits_for_the_next() -> None:
    """A rate of 0 is a decision again; only of the operation that it held up for too long was it taken no more."""
    member = waiting(max_wait=3.0)
    member.step(10.0, Received(Rate(3, 5, 1, 0.0, member._hb)))
    member.step(16.0, Timer())
    assert member.state is MemberState.OPEN
    member.step(16.5, End(10.0))
    member.step(17.0, Begin(100.0))
    member.step(17.0, Received(Rate(3, 6, 2, 0.0, member._hb)))
    assert (member.state, member.rate) == (MemberState.PACED, 0.0)
