"""Every row of the table of a client's states, and the rules that must hold whatever the order of events."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client.events import (
    Begin,
    Dial,
    End,
    Event,
    ExtendPhase,
    HangUp,
    Leave,
    LinkDown,
    LinkUp,
    LogLine,
    Output,
    Progress,
    Received,
    SendTo,
    SetRate,
    Switch,
    Timer,
    WakeAt,
)
from penstock.client.member import Member, MemberSettings, MemberState
from penstock.wire import messages as wire
from penstock.wire.messages import Ack, Beat, Complete, Error, Goodbye, Notice, Post, Rate, Register, Registered, Resync

LEASE, BEAT = 8.0, 2.0


def welcome(epoch: int = 3) -> LinkUp:
    return LinkUp(wire.Welcome(1, epoch, LEASE, BEAT, 0.002))


def said(outputs: list[Output]) -> list[wire.Message]:
    return [output.message for output in outputs if isinstance(output, SendTo)]


def only(outputs: list[Output], kind: type[Output]) -> list[Output]:
    return [output for output in outputs if isinstance(output, kind)]


def dialling(**settings: object) -> Member:
    return Member(MemberSettings(**{"job": "7", "fallbacks": {"": 5.0}, "seed": 1, **settings}))  # type: ignore[arg-type]


def idle(**settings: object) -> Member:
    member = dialling(**settings)
    member.step(0.0, welcome())
    member.step(0.0, Received(Registered(1, 9, member.member, {"": 4.0}, 1.0)))
    return member


def waiting(**settings: object) -> Member:
    member = idle(**settings)
    member.step(10.0, Begin(1000.0))
    return member


def rate(rev: int, value: float = 50.0, anchor: int = 1, epoch: int = 3, op: int = 1, flags: int = 0) -> Received:
    return Received(Rate(epoch, rev, op, value, anchor, flags))


def paced(**settings: object) -> Member:
    """At t = 10: rate 50 with revision 5, lease to 18."""
    member = waiting(**settings)
    member.step(10.0, rate(5))
    assert (member.state, member.lease_end) == (MemberState.PACED, 18.0)
    return member


def stale() -> Member:
    member = paced()
    member.step(11.0, LinkDown())
    return member


def opened() -> Member:
    """Linked, at the fallback rate since t = 12."""
    member = waiting()
    member.step(12.0, Timer())
    assert member.state is MemberState.OPEN
    return member


def free() -> Member:
    member = paced()
    member.step(11.0, rate(6, 0.0, flags=wire.FREE))
    assert member.state is MemberState.FREE
    return member


MAKERS = {"dial": dialling, "idle": idle, "wait": waiting, "paced": paced, "stale": stale, "open": opened, "free": free}


# DIAL


def test_a_new_member_registers() -> None:
    member = dialling(nodes=3, cap=9.0, labels={"user": "ada"}, released=-4.0, progress=2.0)
    (register,) = said(member.step(1.0, welcome()))
    assert register == Register(1, "7", member.member, 3, 9.0, 5.0, 2.0, {"user": "ada"})
    assert member.state is MemberState.IDLE


def test_a_known_member_comes_back_with_nothing_open() -> None:
    member = idle()
    member.step(5.0, LinkDown())
    assert member.state is MemberState.DIAL
    (resync,) = said(member.step(6.0, welcome()))
    assert isinstance(resync, Resync)
    assert (resync.app, resync.member, resync.op, resync.rate) == (9, member.member, None, 0.0)
    assert member.state is MemberState.IDLE


def test_failed_dials_back_off_with_jitter_between_half_a_second_and_thirty() -> None:
    member = dialling()
    pauses = [only(member.step(float(i), LinkDown()), Dial)[0].after for i in range(200)]
    assert all(0.5 <= pause <= 30.0 for pause in pauses)
    assert pauses[0] == 0.5
    assert max(pauses) > 20.0
    assert len(set(pauses[10:])) > 100
    assert member.state is MemberState.DIAL


def test_an_open_operation_keeps_its_rate_while_dialling_fails() -> None:
    member = stale()
    assert not only(member.step(12.0, LinkDown()), SetRate)
    assert (member.state, member.rate) == (MemberState.STALE, 50.0)


def test_a_lost_link_is_dialled_again_soon_and_spread() -> None:
    busy = {only(paced(seed=seed).step(11.0, LinkDown()), Dial)[0].after for seed in range(50)}
    calm = {only(idle(seed=seed).step(11.0, LinkDown()), Dial)[0].after for seed in range(50)}
    assert all(0 <= pause <= 2 for pause in busy) and len(busy) > 40
    assert all(0 <= pause <= 10 for pause in calm) and max(calm) > 5


# Refusals


def test_what_a_controller_says_is_logged_as_one_plain_line() -> None:
    rude = "a\nb\x1b[2J" + "x" * 10_000
    (line,) = only(idle().step(12.5, Received(Error(0, "auth", rude, fatal=True))), LogLine)
    assert "(auth: a b?[2Jxxx" in line.text and line.text.isprintable() and len(line.text) < 400


@pytest.mark.parametrize("beat", [0.0, 1e-9, math.inf, math.nan])
def test_a_beat_that_nobody_can_keep_is_refused(beat: float) -> None:
    member = Member(MemberSettings("job", seed=1))
    outputs = member.step(10.0, LinkUp(wire.Welcome(1, 1, 8.0, beat, 0.002)))
    assert only(outputs, Dial) and not member.linked


@pytest.mark.parametrize("code", ["auth", "version", "forbidden"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_refusal_is_logged_once_and_tried_again_after_a_minute(make: object, code: str) -> None:
    member = make()  # type: ignore[operator]
    outputs = member.step(12.5, Received(Error(0, code, "no", fatal=True)))
    assert member.state is MemberState.REFUSED
    assert [line.warning for line in only(outputs, LogLine) if "refused" in line.text] == [True]
    assert only(outputs, Dial) == [Dial(60.0)]
    again = member.step(13.0, LinkDown())
    assert only(again, Dial) == [Dial(60.0)] and not only(again, LogLine)
    member.step(80.0, welcome())
    assert member.state is not MemberState.REFUSED


def test_a_refused_member_paces_at_the_fallback() -> None:
    member = dialling()
    member.step(0.0, Received(Error(0, "auth", "no", fatal=True)))
    assert only(member.step(1.0, Begin(10.0)), SetRate) == [SetRate(5.0, math.inf, 5.0)]
    assert member.state is MemberState.REFUSED


def test_a_refusal_does_not_cut_a_lease_short() -> None:
    member = paced()
    assert not only(member.step(11.0, Received(Error(0, "auth", "no"))), SetRate)
    assert only(member.step(18.0, Timer()), SetRate) == [SetRate(4.0, math.inf, 4.0)]


@pytest.mark.parametrize("code, paced", [("forbidden", [SetRate(4.0, math.inf, 4.0)]), ("auth", []), ("version", [])])
def test_the_evicted_go_unpaced_no_more(code: str, paced: list[SetRate]) -> None:
    assert only(free().step(12.0, Received(Error(0, code, "no", fatal=True))), SetRate) == paced


# IDLE


def test_begin_posts_and_waits() -> None:
    member = idle()
    outputs = member.step(10.0, Begin(1000.0, "read", ("a", "b")))
    assert said(outputs) == [Post(2, 1, 1, 1000.0, "read", ("a", "b"))]
    assert only(outputs, SetRate) == [SetRate(0.0, 12.0, 4.0)]
    assert outputs[-1] == WakeAt(12.0)
    assert member.state is MemberState.WAIT


def test_begin_without_a_link_goes_on_at_once() -> None:
    member = dialling()
    assert only(member.step(0.0, Begin(10.0)), SetRate) == [SetRate(5.0, math.inf, 5.0)]
    assert member.state is MemberState.OPEN


def test_without_a_link_and_a_fallback_nothing_is_paced() -> None:
    member = dialling(fallbacks={})
    assert only(member.step(0.0, Begin(10.0)), SetRate) == [SetRate(None, math.inf, None)]


def test_idle_members_ping_each_minute() -> None:
    member = idle()
    assert member.step(1.0, Timer())[-1] == WakeAt(60.0)
    assert said(member.step(60.0, Timer())) == [Beat(1, 0, 0, 0.0, 0)]
    assert member.step(61.0, Timer()) == [WakeAt(120.0)]


# WAIT


def test_the_first_rate_is_applied_and_then_acknowledged() -> None:
    member = waiting()
    outputs = member.step(10.5, rate(1))
    assert outputs[:2] == [SetRate(50.0, 18.0, 4.0), SendTo(Ack(3, 1))]
    assert member.state is MemberState.PACED


def test_a_rate_of_0_blocks_by_decision() -> None:
    member = waiting()
    assert only(member.step(10.5, rate(1, 0.0)), SetRate) == [SetRate(0.0, 18.0, 4.0)]
    assert member.state is MemberState.PACED


@pytest.mark.parametrize("flag", [wire.FREE, wire.MONITOR])
def test_free_is_unpaced(flag: int) -> None:
    member = waiting()
    outputs = member.step(10.5, rate(1, 0.0, flags=flag))
    assert outputs[:2] == [SetRate(None, math.inf, 4.0), SendTo(Ack(3, 1))]
    assert member.state is MemberState.FREE


def test_draining_is_paced() -> None:
    member = waiting()
    member.step(10.5, rate(1, flags=wire.DRAINING))
    assert member.state is MemberState.PACED


def test_a_rate_for_another_operation_is_ignored() -> None:
    member = waiting()
    assert not said(member.step(10.5, rate(9, op=2)))
    assert (member.state, member.key) == (MemberState.WAIT, (0, 0))


@pytest.mark.parametrize("event", [Timer(), LinkDown()])
def test_no_answer_opens_the_pacer(event: Event) -> None:
    member = waiting()
    assert only(member.step(12.0, event), SetRate) == [SetRate(4.0, math.inf, 4.0)]
    assert member.state is MemberState.OPEN


def test_an_announcement_without_an_answer_is_repeated_with_every_beat() -> None:
    member = waiting()
    post, beat = said(member.step(12.0, Timer()))
    assert isinstance(post, Post) and (post.op, post.hb) == (1, 2)
    assert beat == Beat(3, 0, 0, 0.0, 1)
    member.step(12.1, rate(1, anchor=3))
    assert [type(word) for word in said(member.step(14.0, Timer()))] == [Beat]
    member.step(21.0, Timer())
    assert member.state is MemberState.OPEN
    assert [type(word) for word in said(member.step(23.0, Timer()))] == [Beat]


def test_a_link_on_which_nothing_is_heard_is_given_up() -> None:
    member = idle()
    member.step(1.0, Begin(100.0))
    t = 1.0
    while t < 1.0 + 2 * LEASE - BEAT:
        t += BEAT
        assert not only(member.step(t, Timer()), Dial)
    outputs = member.step(1.0 + 2 * LEASE, Timer())
    assert len(only(outputs, Dial)) == 1
    assert not said(outputs)
    assert not member.linked
    heard = idle()
    heard.step(1.0, Begin(100.0))
    heard.step(10.0, Received(Notice("restart", "soon")))
    assert not only(heard.step(1.0 + 2 * LEASE, Timer()), Dial)
    assert only(heard.step(10.0 + 2 * LEASE, Timer()), Dial)


def test_the_order_of_revisions_outlives_a_membership() -> None:
    member = paced()
    member.step(11.0, Received(Registered(9, 10, 77, {"": 4.0}, 1.0)))
    assert (member.app, member.member) == (10, 77)
    member.step(11.0, rate(4, 99.0))
    assert (member.rate, member.key) == (50.0, (3, 5))


def test_an_answer_after_the_time_limit_still_counts() -> None:
    member = opened()
    member.step(13.0, rate(1))
    assert (member.state, member.rate) == (MemberState.PACED, 50.0)


# PACED


def test_a_newer_rate_replaces_the_old_one_and_extends_the_lease_from_its_anchor() -> None:
    member = paced()
    member.step(12.0, Timer())  # beat 2
    outputs = member.step(12.9, rate(6, 20.0, anchor=2))
    assert outputs[:2] == [SetRate(20.0, 20.0, 4.0), SendTo(Ack(3, 6))]


def test_an_older_anchor_does_not_shorten_the_lease() -> None:
    member = paced()
    member.step(12.0, Timer())
    member.step(12.1, rate(6, anchor=2))
    member.step(12.2, rate(7, 20.0, anchor=1))
    assert (member.rate, member.lease_end) == (20.0, 20.0)


def test_an_anchor_never_sent_extends_nothing() -> None:
    member = paced()
    member.step(12.0, rate(6, 20.0, anchor=99))
    assert (member.rate, member.lease_end) == (20.0, 18.0)


@pytest.mark.parametrize("make", [paced, stale])
@pytest.mark.parametrize(("epoch", "rev"), [(3, 5), (3, 4), (2, 99)])
def test_what_is_not_newer_is_ignored_with_its_anchor(make: object, epoch: int, rev: int) -> None:
    member = make()  # type: ignore[operator]
    member.step(12.0, Timer())
    outputs = member.step(12.5, rate(rev, 1.0, anchor=2, epoch=epoch))
    assert not said(outputs) and not only(outputs, SetRate)
    assert (member.rate, member.lease_end, member.key) == (50.0, 18.0, (3, 5))


def test_an_old_rate_is_ignored_in_open() -> None:
    member = paced()
    member.step(18.0, Timer())
    member.step(18.5, rate(5, 99.0, anchor=2))
    assert (member.state, member.rate) == (MemberState.OPEN, 4.0)


def test_a_new_epoch_is_newer_whatever_its_revision() -> None:
    member = paced()
    member.step(11.0, LinkDown())
    member.step(12.0, welcome(epoch=4))
    member.step(12.1, rate(99, 7.0, anchor=2, epoch=3))
    assert member.rate == 50.0
    member.step(12.2, rate(1, 8.0, anchor=2, epoch=4))
    assert (member.rate, member.key) == (8.0, (4, 1))


def test_beats_tell_progress_and_the_revision_in_force() -> None:
    member = paced()
    member.step(11.0, Progress(300.0))
    outputs = member.step(12.0, Timer())
    assert said(outputs) == [Beat(2, 3, 5, 300.0, 1)]
    assert outputs[-1] == WakeAt(14.0)


def test_a_beat_at_the_fallback_rate_acknowledges_nothing() -> None:
    member = paced()
    assert said(member.step(17.0, Timer())) == [Beat(2, 3, 5, 0.0, 1)]
    assert said(member.step(19.0, Timer())) == [Beat(3, 0, 0, 0.0, 1)]
    assert member.state is MemberState.OPEN


def test_the_moment_of_a_beat_is_taken_before_it_is_sent() -> None:
    member = paced()
    member.step(13.7, Timer())  # late
    member.step(17.0, rate(6, anchor=2))
    assert member.lease_end == 13.7 + LEASE


def test_a_lost_link_keeps_the_rate() -> None:
    member = paced()
    outputs = member.step(11.0, LinkDown())
    assert member.state is MemberState.STALE
    assert not only(outputs, SetRate)
    assert len(only(outputs, Dial)) == 1


@pytest.mark.parametrize("make", [paced, stale])
def test_a_lease_runs_out(make: object) -> None:
    member = make()  # type: ignore[operator]
    assert not only(member.step(17.999, Timer()), SetRate)
    assert only(member.step(18.0, Timer()), SetRate) == [SetRate(4.0, math.inf, 4.0)]
    assert member.state is MemberState.OPEN


def test_a_lease_that_ran_out_is_noticed_before_a_rate_that_came_too_late() -> None:
    member = paced()
    member.step(18.0, rate(6, 99.0, anchor=1))
    assert (member.state, member.rate, member.key) == (MemberState.OPEN, 4.0, (3, 5))


# STALE and OPEN, back


def test_back_with_a_valid_lease() -> None:
    member = stale()
    member.step(12.0, Progress(100.0))
    (resync,) = said(member.step(13.0, welcome()))
    assert isinstance(resync, Resync)
    assert (resync.epoch, resync.rev, resync.rate, resync.lease_left, resync.hb) == (3, 5, 50.0, 5.0, 2)
    assert resync.op == wire.OpenOp(1, 1000.0, 100.0, "write", (), 3.0)
    assert member.state is MemberState.PACED


def test_back_at_the_fallback_rate() -> None:
    member = stale()
    member.step(18.0, Timer())
    (resync,) = said(member.step(19.0, welcome()))
    assert isinstance(resync, Resync)
    assert (resync.rate, resync.lease_left) == (4.0, 0.0)
    assert member.state is MemberState.OPEN
    member.step(19.1, rate(6, anchor=1))  # a stale anchor
    assert member.state is MemberState.OPEN
    member.step(19.1, rate(7, anchor=resync.hb))
    assert (member.state, member.lease_end) == (MemberState.PACED, 27.0)


def test_one_that_began_while_nobody_knew_it_registers_and_posts() -> None:
    member = dialling()
    member.step(0.0, Begin(100.0))
    member.step(1.0, Progress(30.0))
    register, post, beat = said(member.step(2.0, welcome()))
    assert isinstance(register, Register)
    assert isinstance(post, Post) and (post.op, post.volume, post.hb) == (1, 100.0, 1)
    assert beat == Beat(2, 0, 0, 30.0, 1)
    assert member.state is MemberState.OPEN
    member.step(2.0, Received(Registered(1, 9, member.member, {"": 3.0}, 1.0)))
    assert member.rate == 3.0
    member.step(2.1, rate(1, anchor=1))
    assert member.state is MemberState.PACED


def test_an_outdated_controller_is_left_alone() -> None:
    member = paced()
    member.step(11.0, LinkDown())
    outputs = member.step(12.0, welcome(epoch=2))
    assert not said(outputs) and len(only(outputs, Dial)) == 1
    assert member.state is MemberState.STALE and member.epoch_seen == 3


@pytest.mark.parametrize("bad", [math.nan, math.inf, 0.0, -1.0])
def test_a_welcome_with_impossible_times_is_not_taken(bad: float) -> None:
    member = dialling()
    outputs = member.step(0.0, LinkUp(wire.Welcome(1, 3, bad, 2.0, 0.0)))
    assert not said(outputs) and len(only(outputs, Dial)) == 1


# Rate 0 for too long


def held_at_zero() -> Member:
    member = waiting(max_wait=3.0)
    member.step(10.0, rate(1, 0.0))
    member.step(12.0, Timer())
    member.step(12.0, rate(2, 0.0, anchor=2))
    return member


def test_a_controller_that_gives_nothing_cannot_hang_a_job() -> None:
    member = held_at_zero()
    assert not only(member.step(15.9, Timer()), SetRate)
    outputs = member.step(16.0, Timer())
    assert only(outputs, SetRate) == [SetRate(4.0, math.inf, 4.0)]
    assert only(outputs, LogLine)
    assert member.state is MemberState.OPEN


def test_after_that_only_a_rate_above_0_counts() -> None:
    member = held_at_zero()
    member.step(16.0, Timer())
    member.step(16.1, rate(3, 0.0, anchor=3))
    assert (member.state, member.key) == (MemberState.OPEN, (3, 2))
    member.step(16.2, rate(4, 9.0, anchor=3))
    assert (member.state, member.rate) == (MemberState.PACED, 9.0)


def test_a_break_begins_the_wait_anew() -> None:
    member = held_at_zero()
    member.step(13.0, rate(3, 1.0, anchor=2))
    member.step(14.0, Timer())
    member.step(14.0, rate(4, 0.0, anchor=3))
    member.step(16.0, Timer())
    assert (member.state, member.rate) == (MemberState.PACED, 0.0)
    assert WakeAt(18.0) in member.step(16.1, Timer())


# end()


@pytest.mark.parametrize("make", [paced, opened, free])
def test_end_closes_the_pacer_and_then_completes(make: object) -> None:
    member = make()  # type: ignore[operator]
    outputs = member.step(13.0, End(900.0))
    closed = outputs.index(SetRate(0.0, math.inf, 4.0))
    assert outputs.index(SendTo(Complete(1, 900.0))) > closed
    assert member.state is MemberState.IDLE


def test_an_end_while_cut_off_is_told_later() -> None:
    member = stale()
    assert not said(member.step(12.0, End(900.0)))
    assert member.state is MemberState.DIAL
    resync, complete = said(member.step(13.0, welcome()))
    assert isinstance(resync, Resync)
    assert resync.op is not None and (resync.op.op, resync.op.done, resync.rate) == (1, 900.0, 0.0)
    assert complete == Complete(1, 900.0)


def test_an_operation_nobody_heard_of_needs_no_completion() -> None:
    member = idle()
    member.step(5.0, LinkDown())
    member.step(6.0, Begin(10.0))
    member.step(7.0, End(10.0))
    (resync,) = said(member.step(8.0, welcome()))
    assert isinstance(resync, Resync) and resync.op is None


def test_a_later_operation_is_what_counts_on_return() -> None:
    member = stale()
    member.step(12.0, End(900.0))
    member.step(12.5, Begin(70.0))
    (resync,) = said(member.step(13.0, welcome()))
    assert isinstance(resync, Resync)
    assert resync.op is not None and (resync.op.op, resync.op.volume, resync.rate) == (2, 70.0, 4.0)


def test_a_lease_ends_with_its_operation() -> None:
    member = paced()
    member.step(11.0, End(1000.0))
    member.step(11.0, Begin(10.0))
    member.step(11.1, rate(6, 50.0, op=1))
    assert (member.state, member.rate) == (MemberState.WAIT, 0.0)
    member.step(11.2, rate(7, 30.0, anchor=2, op=2))
    assert (member.rate, member.lease_end) == (30.0, 19.0)


# Other words


def test_extend() -> None:
    member = paced()
    assert said(member.step(11.0, ExtendPhase(50.0))) == [wire.Extend(1, 50.0)]
    assert member.op is not None and member.op.volume == 1050.0
    member.step(11.0, LinkDown())
    assert not said(member.step(11.0, ExtendPhase(50.0)))
    (resync,) = said(member.step(12.0, welcome()))
    assert isinstance(resync, Resync) and resync.op is not None and resync.op.volume == 1100.0


def test_a_second_begin_extends() -> None:
    member = paced()
    assert said(member.step(11.0, Begin(7.0))) == [wire.Extend(1, 7.0)]


def test_leave_says_goodbye() -> None:
    assert said(paced().step(11.0, Leave())) == [Goodbye("exit")]
    assert not said(stale().step(11.0, Leave()))


def test_a_refused_announcement_goes_on_at_the_fallback_and_is_repeated() -> None:
    member = waiting()
    member.step(10.1, Received(Error(2, "draining", "later")))
    assert (member.state, member.rate) == (MemberState.OPEN, 4.0)
    assert not [word for word in said(member.step(20.0, Timer())) if isinstance(word, Post)]
    assert [word for word in said(member.step(20.1, Timer())) if isinstance(word, Post)]


def test_an_announcement_of_no_value_is_not_repeated() -> None:
    member = waiting()
    member.step(10.1, Received(Error(2, "value", "0 bytes")))
    assert not [word for word in said(member.step(1000.0, Timer())) if isinstance(word, Post)]


@pytest.mark.parametrize("code", ["unknown_op", "busy"])
def test_a_misunderstanding_is_cleared_up_once_per_beat(code: str) -> None:
    member = waiting()
    (resync,) = said(member.step(10.1, Received(Error(2, code, "?"))))
    assert isinstance(resync, Resync) and resync.op is not None and resync.op.op == 1
    assert not said(member.step(10.2, Received(Error(2, code, "?"))))


def test_who_is_not_known_any_more_joins_anew() -> None:
    member = paced()
    old = member.member
    words = said(member.step(11.0, Received(Error(0, "unknown_app", "?"))))
    assert [type(word) for word in words] == [Register, Post]
    assert member.member != old
    assert (member.state, member.key) == (MemberState.OPEN, (3, 5))


def test_who_is_superseded_becomes_another_member() -> None:
    member = paced()
    old = member.member
    outputs = member.step(11.0, Received(Error(0, "superseded", "?", fatal=True)))
    assert len(only(outputs, Dial)) == 1
    assert member.member != old and member.app == 0 and member.rate == 4.0


def test_another_fatal_error_is_dialled_again_after_the_time_asked_for() -> None:
    (dial,) = only(idle().step(1.0, Received(Error(0, "quota", "full", fatal=True, retry_after=45.0))), Dial)
    assert 45.0 <= dial.after <= 45.0 * 1.25


def test_notices_are_for_people() -> None:
    assert only(idle().step(1.0, Received(Notice("restart", "in a moment", 2.0))), LogLine)


def test_why_a_job_waits_is_a_warning_in_its_log_and_changes_nothing() -> None:
    text = "this job has waited for 12 s" + ", and so on" * 40
    member = paced()
    outputs = member.step(11.0, Received(Notice("waiting", text)))
    assert only(outputs, LogLine) == [LogLine(text, True)]
    assert not said(outputs) and not only(outputs, SetRate)
    assert (member.state, member.lease_end) == (MemberState.PACED, 18.0)


def test_a_notice_of_an_unknown_code_is_one_plain_line() -> None:
    (line,) = only(idle().step(1.0, Received(Notice("later\n", "a\nb\x1b[2J" + "x" * 10_000))), LogLine)
    assert not line.warning and line.text.startswith("the controller says later: a b?[2Jxxx")
    assert line.text.isprintable() and len(line.text) < 1100


@pytest.mark.parametrize("value", [math.nan, -1.0, math.inf, 1e19])
def test_a_rate_that_is_none_is_ignored(value: float) -> None:
    member = paced()
    member.step(11.0, rate(6, value))
    assert (member.rate, member.key) == (50.0, (3, 5))


def test_the_fallback_is_the_least_of_the_targets() -> None:
    member = dialling(fallbacks={})
    member.step(0.0, welcome())
    member.step(0.0, Received(Registered(1, 9, member.member, {"": 4.0, "a": 3.0, "b": 2.0}, 1.0)))
    member.step(0.0, Begin(1.0, "write", ("a", "b")))
    assert member.fallback == 2.0
    member.step(0.0, End(1.0))
    member.step(0.0, Begin(1.0, "write", ("a",)))
    assert member.fallback == 3.0
    member.step(0.0, End(1.0))
    assert member.fallback == 4.0


def test_the_fallback_does_not_exceed_the_cap() -> None:
    assert dialling(cap=2.0).fallback == 2.0
    assert dialling(cap=2.0, fallbacks={}).fallback is None


# OFF


def test_off_is_unpaced_and_silent() -> None:
    member = dialling(off=True)
    assert member.step(0.0, Begin(10.0)) == [SetRate(None, math.inf, 5.0)]
    assert member.state is MemberState.OFF
    assert not said(member.step(1.0, End(10.0)))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_switched_off_and_on(make: object) -> None:
    member = make()  # type: ignore[operator]
    linked = member.linked
    outputs = member.step(12.5, Switch(on=False))
    assert member.state is MemberState.OFF
    assert only(outputs, HangUp)
    assert said(outputs) == ([Goodbye("off")] if linked else [])
    assert member.op is None or member.rate is None
    member.step(12.6, rate(99, 1.0))
    assert member.op is None or member.rate is None
    assert only(member.step(13.0, Switch(on=True)), Dial) == [Dial(0.0)]
    assert any(isinstance(word, Register) for word in said(member.step(13.1, welcome())))


# Whatever the order

events = st.one_of(
    st.builds(
        rate,
        rev=st.integers(1, 12),
        value=st.sampled_from([0.0, 1.0, 7.0, 50.0]),
        anchor=st.integers(0, 12),
        epoch=st.integers(2, 5),
        op=st.integers(1, 3),
        flags=st.sampled_from([0, 0, 0, wire.FREE, wire.DRAINING, wire.MONITOR]),
    ),
    st.builds(welcome, st.integers(2, 5)),
    st.sampled_from([LinkDown(), Timer(), Begin(10.0), End(10.0), ExtendPhase(1.0), Progress(3.0)]),
)


@given(st.lists(st.tuples(st.floats(0.0, 3.0), events), max_size=60))
def test_only_rising_revisions_are_applied_and_leases_count_from_the_beat(script: list[tuple[float, Event]]) -> None:
    member = idle()
    member.step(0.0, Begin(1000.0))
    t, applied, acked = 0.0, [], []
    sent: dict[int, float] = {1: 0.0}
    for pause, event in script:
        t += pause
        before = member.key
        outputs = member.step(t, event)
        sent |= {word.hb: t for word in said(outputs) if isinstance(word, Beat | Post | Resync)}
        acked += [(word.epoch, word.rev) for word in said(outputs) if isinstance(word, Ack)]
        if member.key != before:
            told = event.message
            assert member.key == (told.epoch, told.rev)
            assert told.op == member.op.op
            applied.append(member.key)
        for put in only(outputs, SetRate):
            # No lease is longer than counted from the last thing sent that could be echoed.
            assert put.expiry == math.inf or put.expiry <= max(sent.values()) + LEASE
            if put.expiry == math.inf:
                assert put.rate in (None, 0.0, 4.0)
        if member.state in (MemberState.PACED, MemberState.STALE):
            assert t < member.lease_end <= max(sent.values()) + LEASE
    assert all(a < b for a, b in pairwise(applied))
    assert all(a < b for a, b in pairwise(acked))
    assert set(acked) <= set(applied)


@given(st.permutations([(rev, 10.0 * rev) for rev in range(1, 7)]))
def test_in_any_order_of_arrival_the_newest_rate_stays(arrivals: list[tuple[int, float]]) -> None:
    member = waiting()
    for rev, value in arrivals:
        member.step(10.5, rate(rev, value))
    assert (member.rate, member.key) == (60.0, (3, 6))


@given(st.lists(st.tuples(st.floats(0.0, 9.0), events), max_size=60))
def test_nobody_is_blocked_for_ever(script: list[tuple[float, Event]]) -> None:
    """Left alone after anything at all, a member with an open operation goes on at a rate above 0."""
    member = idle(max_wait=5.0)
    member.step(0.0, Begin(1000.0))
    t = 0.0
    for pause, event in script:
        t += pause
        member.step(t, event)
    if member.op is not None:
        member.step(t + LEASE, Timer())
        assert member.rate is None or member.rate > 0


@given(st.lists(st.tuples(st.floats(0.0, 9.0), events), max_size=40))
def test_the_same_events_give_the_same_outputs(script: list[tuple[float, Event]]) -> None:
    def run() -> list[list[Output]]:
        member, t, outputs = idle(), 0.0, []
        for pause, event in script:
            t += pause
            outputs.append(member.step(t, event))
        return outputs

    assert run() == run()
