"""What a member can be, and what every input makes of it: the whole table."""

from __future__ import annotations

import pytest

from live.core.talk import CAPACITY, EPOCH, Peer, Talk
from penstock.live.core import Resource, Stage, records
from penstock.live.core.events import Closed, Frame, ProcessDead
from penstock.wire import messages as wire
from penstock.wire.messages import PING

W = Talk().settings.waiting
F = 0.5 * CAPACITY / 10  # the fallback of one node of ten


def served(talk: Talk, job: str = "a", **given: object) -> Peer:
    """A member with an operation, and a rate that it has acked."""
    peer = talk.join(job, **given)
    peer.post()
    talk.quiet()
    assert peer.stage is Stage.POSTED and peer.rate > 0.0
    return peer


def stranger(talk: Talk, job: str) -> Peer:
    """One that has an operation and was a member of an earlier controller, which nobody here knows of."""
    peer = Peer(talk, talk.connect(), job)
    peer.number, peer.op = 0, 1
    return peer


# --- registering


def test_registering_makes_an_idle_member_that_knows_its_fallback():
    talk = Talk()
    peer = talk.join("a", nodes=2)
    assert peer.stage is Stage.IDLE and peer.member.charge == 0.0
    assert peer.fallback == {"": 2 * F}
    assert talk.said[peer.session] == [wire.Registered(1, 1, 0, {"": 2 * F}, 2 * F, ())]


def test_members_of_a_job_are_one_application():
    talk = Talk()
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    assert first.app == second.app and first.number != second.number
    assert len(talk.state.apps) == 1


def test_the_same_job_name_of_another_user_is_another_application():
    talk = Talk()
    assert talk.join("a", uid=1).app != talk.join("a", uid=2).app


def test_a_number_that_somebody_uses_is_not_taken_over():
    talk = Talk()
    first = served(talk)
    charge = first.member.charge
    second = talk.join("a", member=0)
    assert (first.number, second.number) == (0, 1)
    assert first.stage is Stage.POSTED and first.member.charge == charge
    assert first.session not in talk.closed


def test_a_number_whose_member_is_idle_and_away_is_used_again():
    talk = Talk()
    first = talk.join("a", member=5)
    first.cut()
    assert talk.join("a", member=5).number == 5


def test_a_hook_may_have_made_the_application():
    talk = Talk()
    hook = talk.connect(role="hook", uid=0)
    assert talk.say(hook, wire.Hook(1, "job_start", "a", uid=1000, nodes=3)) == [wire.Answer(1, {"ok": True})]
    app = talk.state.by_job["a", 1000]
    peer = talk.join("a", nodes=8)
    assert peer.app == app.number
    assert peer.member.nodes == 3  # no more than the batch system gave it
    assert app.release == 0.0


def test_members_beyond_the_nodes_of_a_job_have_a_small_fallback():
    talk = Talk()
    first, second = talk.join("a", nodes=4, nodes_proved=4), talk.join("a", nodes=4, nodes_proved=4)
    assert first.fallback[""] == 4 * F
    assert 0.0 < second.fallback[""] <= 4 * F / 64


def test_a_job_may_say_anew_when_it_began_until_it_posts():
    talk = Talk()
    peer = talk.join("a", release=3.0)
    assert talk.state.apps[peer.app].release == -3.0
    talk.now = 5.0
    peer.say(wire.Register(2, "a", 0))
    assert talk.state.apps[peer.app].release == 5.0
    peer.post()
    peer.complete()
    talk.now = 9.0
    peer.say(wire.Register(3, "a", 0))
    assert talk.state.apps[peer.app].release == 5.0


# --- IDLE


def test_post_makes_it_posted_and_its_application_active():
    talk = Talk()
    peer = talk.join()
    talk.now = 4.0
    peer.post(500.0)
    member = peer.member
    assert member.stage is Stage.POSTED and member.op.volume == 500.0 and member.op.done == 0.0
    assert member.reclaim == 4.0 + W
    assert member.app.posted == 4.0
    assert peer.told == [wire.Rate(EPOCH, 2, 1, CAPACITY, 1, wire.PACED)]


def test_posts_of_other_members_join_the_phase():
    talk = Talk()
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    first.post(100.0)
    talk.now = 5.0
    second.post(300.0)
    app = first.member.app
    assert app.posted == 0.0 and len(talk.state.rows.rows) == 1
    talk.quiet()
    assert first.rate + second.rate == pytest.approx(CAPACITY)
    first.complete(100.0)
    assert app.active
    second.complete(300.0)
    assert not app.active and app.progress == 0.0 + 400.0 / CAPACITY


def test_every_post_is_answered_even_by_nothing():
    talk = Talk("fcfs")
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    assert second.told == [wire.Rate(EPOCH, second.told[0].rev, 1, 0.0, 1, wire.PACED)]
    assert first.rate == CAPACITY


def test_an_idle_member_whose_link_is_gone_is_lost_after_a_while():
    talk = Talk()
    peer = talk.join()
    peer.post(1.0)
    peer.complete(1.0)
    peer.cut()
    talk.sleep(W - 0.01)
    assert peer.stage is Stage.IDLE and talk.state.charges.used == [0.0]
    talk.sleep(0.02)
    assert peer.stage is Stage.LOST and talk.state.charges.used == [F]
    assert peer.member.charge == F


def test_an_idle_member_that_is_back_in_time_is_not_lost():
    talk = Talk()
    peer = talk.join()
    peer.cut()
    talk.sleep(W / 2)
    peer.back(op=None)
    talk.sleep(10 * W)
    assert peer.stage is Stage.IDLE


# --- POSTED


def test_beat_renews_with_a_new_revision_and_its_own_anchor():
    talk = Talk()
    peer = served(talk)
    written = len(talk.records)
    talk.now = 1.0
    peer.beat(0.0)
    assert peer.told[-1] == wire.Rate(EPOCH, peer.told[0].rev + 1, 1, CAPACITY, 2, wire.PACED)
    assert peer.member.reclaim == 1.0 + W
    assert len(talk.records) == written  # a renewal at the same rate changes nothing that counts


def test_beat_tells_how_far_it_is_but_never_beyond_the_volume_nor_back():
    talk = Talk()
    peer = served(talk)
    talk.now = 2.0
    peer.beat(50.0)
    assert peer.member.op.reported == 50.0
    assert talk.state.rows.remaining[0] == 950.0  # it is slower than its rate
    peer.beat(40.0)
    assert peer.member.op.reported == 50.0
    peer.beat(1e9)
    assert peer.member.op.reported == 1000.0


def test_a_report_that_is_as_expected_changes_no_digit():
    talk = Talk()
    peer = served(talk)
    talk.now = 3.0
    talk.state.rows.settle(peer.member.row, 3.0)
    talk.twin.rows.settle(talk.twin.rows.rows[0], 3.0)
    before = talk.state.rows.remaining[0]
    peer.beat(300.0 + 1e-8)
    assert talk.state.rows.remaining[0] == before


def test_an_old_beat_says_nothing():
    talk = Talk()
    peer = served(talk)
    talk.now = 1.0
    told = len(peer.told)
    peer.say(wire.Beat(peer.hb, EPOCH, peer.told[-1].rev, 10.0))
    assert len(peer.told) == told and peer.member.reclaim == W


def test_ack_releases_what_was_before_and_room_is_handed_out():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    assert (first.rate, second.rate) == (CAPACITY / 2, 0.0)
    assert first.member.charge == CAPACITY
    first.ack()
    assert first.member.charge == CAPACITY / 2
    assert second.rate == CAPACITY / 2
    acked = talk.made(records.Acked)[-1]
    assert (acked.app, acked.rev, acked.rate) == (first.app, first.told[-1].rev, CAPACITY / 2)


def test_an_ack_of_another_epoch_frees_nothing():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    first.say(wire.Ack(EPOCH - 1, first.told[-1].rev))
    assert first.member.charge == CAPACITY and second.rate == 0.0


def test_an_ack_of_what_was_never_sent_is_refused():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    first.say(wire.Ack(EPOCH, 10_000))
    assert first.errors[-1].code == "value" and not first.errors[-1].fatal
    assert first.member.charge == CAPACITY and second.rate == 0.0


@pytest.mark.parametrize("word", [wire.Complete, wire.Cancel])
def test_the_end_frees_at_once_and_the_application_goes_on(word):
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    talk.now = 5.0
    first.say(word(1, 400.0))
    assert first.stage is Stage.IDLE and first.member.charge == 0.0
    assert second.rate == CAPACITY
    app = first.member.app
    assert not app.active and app.progress == 400.0 / CAPACITY and app.moved == 400.0
    assert (app.operations, app.since) == (1, 5.0)


def test_more_than_was_announced_does_not_count():
    talk = Talk()
    peer = served(talk)
    peer.complete(1e6)
    assert peer.member.app.moved == 1000.0


def test_extend_makes_the_operation_longer():
    talk = Talk()
    peer = served(talk)
    peer.say(wire.Extend(1, 500.0))
    assert peer.member.op.volume == 1500.0 and talk.state.rows.remaining[0] == 1500.0


def test_a_lost_link_frees_nothing():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    first.cut()
    assert first.stage is Stage.ORPHAN and first.member.charge == CAPACITY / 2
    assert talk.made(records.Orphaned)[-1].app == first.app
    assert second.rate == CAPACITY / 2  # it shares what is left, which is what it has


# --- the end of a lease


@pytest.mark.parametrize("cut", [False, True])
def test_when_the_lease_is_over_it_is_lost_and_charged_its_fallback(cut):
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    if cut:
        first.cut()
    talk.sleep(1.0)
    second.beat()
    talk.sleep(W - 1.1)
    assert first.member.charge == CAPACITY / 2
    second.beat()
    talk.sleep(0.2)
    assert first.stage is Stage.LOST and first.member.charge == F
    assert talk.made(records.Expired)[-1].app == first.app
    assert second.rate == pytest.approx(CAPACITY - F)


def test_a_beat_moves_the_end_of_the_lease():
    talk = Talk()
    peer = served(talk)
    for _ in range(20):
        talk.sleep(W / 2)
        peer.beat()
    assert peer.stage is Stage.POSTED


def test_the_lost_are_forgotten_after_an_hour():
    talk = Talk()
    peer = served(talk)
    talk.sleep(W + 3599.0)
    assert talk.state.charges.used == [F]
    talk.sleep(2.0)
    assert talk.state.charges.used == [0.0] and talk.state.find(peer.app, peer.number) is None
    talk.sleep(3600.0)
    assert not talk.state.apps


def test_a_beat_brings_back_one_that_was_stopped():
    talk = Talk()
    peer = served(talk)
    talk.sleep(2 * W)
    assert peer.stage is Stage.LOST
    peer.beat(100.0)
    assert peer.stage is Stage.POSTED and peer.member.op.done == 100.0
    assert (peer.rate, peer.member.charge, talk.made(records.Adrift)[-1].held) == (F, F, F)
    peer.ack()
    assert (peer.rate, peer.member.charge) == (CAPACITY, CAPACITY)
    assert talk.state.rows.remaining[0] == 900.0


def test_one_that_does_not_hear_us_counts_on_top_of_the_others():
    """Its words arrive and ours do not: the lease runs out, it goes on at its fallback and says so."""
    talk = Talk("fcfs")
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    for n in range(1, 12):
        talk.sleep(1.0)
        first.beat(80.0 * n)
        talk.quiet_but(second)
        second.say(wire.Beat(10 + n, 0, 0, 0.0))
        talk.quiet_but(second)
    assert second.stage is Stage.POSTED and second.member.charge == F
    assert first.rate == CAPACITY - F
    second.ack()
    talk.quiet()
    assert second.rate == 0.0 and second.member.charge == 0.0 and first.rate == CAPACITY


def test_one_that_has_only_just_posted_may_not_have_heard_us_yet():
    talk = Talk("fcfs")
    served(talk, "a")
    second = talk.join("b")
    second.post()
    talk.sleep(1.0)
    second.say(wire.Beat(10, 0, 0, 0.0))
    assert second.member.charge == 0.0 and not talk.made(records.Adrift)


def test_one_that_comes_back_is_charged_its_fallback_until_it_acks():
    talk = Talk("fcfs")
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    talk.sleep(1.0)
    first.beat()
    talk.sleep(W - 0.5)  # the second says nothing
    assert second.stage is Stage.LOST
    first.beat()
    talk.quiet()
    second.beat()
    assert second.rate == F and second.member.charge == F
    second.ack()
    assert second.rate == 0.0
    second.ack()
    assert second.member.charge == 0.0


# --- death


def test_proof_of_death_frees_at_once():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    talk.step(ProcessDead(first.app, first.number))
    assert talk.state.find(first.app, first.number) is None
    assert second.rate == CAPACITY
    assert talk.made(records.Gone)[-1].reason == "its process has ended"


def test_goodbye_frees_at_once():
    talk = Talk()
    peer = served(talk)
    peer.say(wire.Goodbye())
    assert talk.state.charges.used == [0.0] and not talk.state.rows.rows


# --- coming back


def test_an_orphan_comes_back_with_its_operation():
    talk = Talk()
    peer = served(talk)
    talk.now = 2.0
    peer.cut()
    talk.now = 4.0
    peer.back(op=wire.OpenOp(1, 1000.0, 350.0, "write", (), 4.0))
    assert peer.stage is Stage.POSTED
    assert peer.member.app.posted == 0.0
    assert talk.state.rows.remaining[0] == 650.0
    assert (peer.rate, peer.told[-1].anchor) == (CAPACITY, peer.hb)
    assert peer.member.reclaim == 4.0 + W


def test_an_orphan_that_comes_back_without_an_operation_has_ended_it():
    talk = Talk()
    peer = served(talk)
    peer.beat(200.0)
    peer.cut()
    peer.back(op=None)
    assert peer.stage is Stage.IDLE and peer.member.charge == 0.0 and talk.state.charges.used == [0.0]
    assert peer.member.app.moved == 200.0 and not peer.member.app.active


def test_it_may_use_what_it_had_until_it_acks():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    first.cut()
    first.back(rate=20.0)
    assert first.member.charge == 50.0
    first.ack()
    assert first.member.charge == first.rate


def test_nobody_can_claim_more_than_it_may_have():
    """All leases are known, so whoever says that it uses more than it was granted, or its fallback, makes it up."""
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    talk.quiet()
    first.cut()
    first.back(rate=77.0)
    assert first.member.charge == first.rate == 50.0
    third = stranger(talk, "c")
    third.back(app=99, rate=CAPACITY)
    assert third.member.charge == F and third.rate <= F
    talk.quiet()
    assert first.rate == second.rate == third.rate == pytest.approx(CAPACITY / 3)


@pytest.mark.parametrize(("cap", "believed"), [(None, CAPACITY), (60.0, 60.0), (500.0, CAPACITY)])
def test_what_may_have_been_forgotten_is_believed_as_far_as_anybody_could_have_granted_it(cap, believed):
    talk = Talk(warm=False)
    peer = stranger(talk, "a")
    peer.back(app=99, rate=1e15, cap=cap)
    assert talk.state.mode == "grace" and peer.member.charge == peer.rate == believed
    talk.quiet()
    talk.sleep(W + 0.01)
    other = stranger(talk, "b")
    other.back(app=98, rate=1e15)
    assert talk.state.mode == "run" and talk.made(records.Resynced)[-1].held == F


def test_it_comes_back_charged_at_least_its_fallback():
    talk = Talk("fcfs")
    served(talk, "a")
    second = talk.join("b")
    second.post()
    second.ack()
    second.cut()
    second.back(rate=0.0)
    assert second.member.charge == F and second.rate == 0.0
    second.ack()
    assert second.member.charge == 0.0


def test_it_may_come_back_with_another_operation():
    talk = Talk(resources=(Resource("x", 60.0, "x"), Resource("y", 60.0, "y")))
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(targets=("x",)), second.a_post(targets=("y",)))
    talk.quiet()
    assert (first.rate, second.rate) == (60.0, 60.0)
    second.cut()
    second.op += 1
    second.back(rate=1.0, op=wire.OpenOp(2, 500.0, 0.0, "write", ("x",), 0.0))
    assert talk.state.charges.used == [60.0 + 3.0, 0.0, 0.0]  # what it had is no charge on another target
    assert (first.rate, second.rate) == (30.0, 1.0)
    talk.quiet()
    assert (first.rate, second.rate) == (30.0, 30.0)


def test_while_too_much_is_charged_nobody_is_told_more_than_it_uses():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    second.post()
    second.cut()
    second.back(rate=F)
    assert second.member.charge == F and talk.state.room(0) == -F
    second.cut()
    second.back(rate=2.0)
    assert second.rate == 2.0 and second.member.charge == F
    first.ack()
    assert second.rate == 50.0


def test_the_newest_connection_counts():
    talk = Talk()
    peer = served(talk)
    old = peer.session
    peer.back()
    assert talk.closed[old] == "superseded"
    assert [each.code for each in talk.said[old] if isinstance(each, wire.Error)] == ["superseded"]
    talk.step(Closed(old))
    assert peer.stage is Stage.POSTED
    assert talk.say(old, wire.Goodbye()) == []


def test_one_that_nobody_knows_is_taken_in_as_if_it_had_posted():
    talk = Talk(warm=False)
    peer = Peer(talk, talk.connect(), "a")
    peer.op = 3
    peer.say(wire.Resync(1, 99, 0, EPOCH - 1, 40, 30.0, 5.0, 9, wire.OpenOp(3, 800.0, 200.0, "write", (), 6.0), "a"))
    assert peer.stage is Stage.POSTED and peer.member.charge == 30.0
    assert peer.rate == 30.0  # renewed as it is, for it may not be raised
    assert talk.state.rows.remaining[0] == 600.0 and peer.member.app.posted == -6.0
    talk.sleep(1.0)
    peer.ack()
    peer.hb = 10
    peer.beat(230.0)
    assert peer.rate == 30.0
    talk.sleep(W - 0.5)
    assert peer.rate == CAPACITY


def test_one_that_comes_back_unpaced_to_a_controller_that_knows_nothing_of_it_is_granted_its_fallback():
    talk = Talk(warm=False)
    peer = Peer(talk, talk.connect(), "a")
    peer.op = 3
    peer.say(wire.Resync(1, 99, 0, EPOCH - 1, 40, 60.0, 0.0, 9, wire.OpenOp(3, 800.0, 200.0, "write", (), 6.0), "a"))
    assert peer.member.charge == 60.0
    assert peer.rate == peer.member.fallback["all"] < 60.0
    peer.ack()
    assert peer.member.charge == peer.rate


# --- after a restart


def restarted(talk: Talk, *, warm: bool, now: float | None = None) -> Talk:
    return Talk(
        settings=talk.settings, state=talk.twin, warm=warm, now=talk.now if now is None else now, epoch=EPOCH + 1
    )


def test_a_restart_knows_all_charges_and_waits_for_nobody():
    before = Talk()
    first, second = served(before, "a"), before.join("b")
    second.post()
    before.quiet()
    talk = restarted(before, warm=True)
    assert [str(member.stage) for member in talk.state.members()] == ["recovered", "recovered"]
    assert talk.state.charges.used == [CAPACITY]
    third = talk.join("c")
    third.post()
    assert third.rate == 0.0
    for peer in (first, second):
        peer.move(talk)
        peer.back(epoch=EPOCH)
    talk.quiet()
    assert [peer.rate for peer in (first, second, third)] == pytest.approx([CAPACITY / 3] * 3)
    assert first.told[-1].epoch == EPOCH + 1


def test_what_does_not_come_back_is_lost_when_all_its_leases_are_over():
    before = Talk()
    peer = served(before)
    before.now = 5.0
    talk = restarted(before, warm=True)
    talk.sleep(W - 0.01)
    assert str(talk.state.find(peer.app, 0).stage) == "recovered"
    talk.sleep(0.02)
    assert str(talk.state.find(peer.app, 0).stage) == "lost"


def test_after_a_reboot_the_clock_begins_anew_and_nothing_is_raised_for_a_while():
    before = Talk(now=5000.0)
    peer = served(before)
    before.sleep(3.0)
    peer.beat(300.0)
    talk = restarted(before, warm=False, now=10.0)
    assert talk.state.mode == "grace" and talk.state.now == 3.0
    other = talk.join("b")
    other.post()
    assert other.rate == 0.0
    talk.sleep(W - 0.1)
    assert other.rate == 0.0
    other.beat()
    talk.sleep(0.2)
    assert talk.state.mode == "run"
    assert other.rate == pytest.approx(CAPACITY - F)


def test_an_ack_of_the_old_epoch_frees_nothing_in_the_new_one():
    before = Talk()
    first = served(before, "a")
    rev = first.told[-1].rev
    talk = restarted(before, warm=True)
    first.move(talk)
    first.back(epoch=EPOCH, rev=rev, rate=90.0)
    other = talk.join("b")
    other.post()
    assert first.member.charge == CAPACITY
    first.say(wire.Ack(EPOCH, rev))
    assert first.member.charge == CAPACITY and other.rate == 0.0
    first.ack()
    assert other.rate == CAPACITY / 2


# --- beats without acks


def test_who_never_acks_a_decrease_holds_what_it_had_for_a_lease_and_no_longer():
    talk = Talk()
    first, second = served(talk, "a"), talk.join("b")
    old = first.told[-1]
    second.post()
    second.ack()
    for n in range(4):
        assert first.member.charge == CAPACITY and second.rate == 0.0
        first.say(wire.Beat(first.next_hb(), old.epoch, old.rev, 10.0 * n, 1))
        second.beat()
        talk.sleep(2.0)
    talk.sleep(W - 8.0 + 0.001)
    assert first.stage is Stage.POSTED and first.member.charge == CAPACITY / 2
    second.beat()
    talk.quiet_but(first)
    assert second.rate == CAPACITY / 2 and first.member.row is None
    first.beat()
    talk.quiet()
    assert first.rate == second.rate == CAPACITY / 2 and first.member.row is not None


def test_who_was_let_go_unpaced_holds_it_until_it_acks():
    talk = Talk()
    first = served(talk, "a")
    talk.admin("mode", mode="pause")
    talk.quiet()
    free = first.told[-1]
    talk.admin("mode", mode="enforce")
    other = talk.join("b")
    other.post()
    for _ in range(10):
        talk.sleep(2.0)
        first.say(wire.Beat(first.next_hb(), free.epoch, free.rev, 0.0, 1))
        other.beat()
    assert first.member.charge == CAPACITY and other.rate == 0.0
    first.ack()
    assert first.member.charge < CAPACITY


# --- silence on a link that seems to be up


def test_one_that_pings_is_never_lost():
    talk = Talk()
    peer = talk.join()
    for _ in range(5):
        talk.sleep(PING)
        peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 0))
    assert peer.stage is Stage.IDLE and not talk.made(records.Expired)


def test_one_that_has_not_pinged_for_long_may_be_at_its_fallback():
    talk = Talk()
    other, peer = served(talk, "a"), talk.join("b")
    for _ in range(round(2 * PING)):
        talk.sleep(1.0)
        other.beat()
    assert peer.stage is Stage.IDLE
    talk.sleep(W - 0.01)
    assert peer.stage is Stage.IDLE
    talk.sleep(0.02)
    assert peer.stage is Stage.LOST and peer.member.charge == F
    other.beat()
    talk.quiet()
    assert other.rate == CAPACITY - F


@pytest.mark.parametrize("op", [0, 1])
def test_its_next_beat_says_whether_it_is_at_something(op):
    talk = Talk()
    peer = talk.join()
    talk.sleep(2 * PING + W + 1.0)
    peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, op))
    assert peer.stage is (Stage.LOST if op else Stage.IDLE)
    assert talk.state.charges.used == [F if op else 0.0]
    peer.post()
    talk.quiet()
    assert peer.stage is Stage.POSTED and peer.rate == CAPACITY


def test_one_that_never_said_a_word_after_it_came_is_lost_too():
    talk = Talk()
    peer = talk.join()
    assert talk.wake == pytest.approx(2 * PING + W)
    talk.sleep(2 * PING + W + 0.01)
    assert peer.stage is Stage.LOST


def test_one_that_goes_on_after_its_announcement_was_refused_counts_at_its_fallback():
    talk = Talk()
    peer = talk.join()
    peer.say(wire.Post(1, 1, peer.next_hb(), -5.0))
    assert peer.errors[-1].code == "value" and peer.stage is Stage.IDLE
    peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 1))
    assert peer.stage is Stage.LOST and talk.state.charges.used == [F]
    peer.say(wire.Complete(1, 10.0))
    assert peer.stage is Stage.IDLE and talk.state.charges.used == [0.0]
    peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 1))  # said before it ended
    assert peer.stage is Stage.IDLE


def test_one_that_beats_without_an_operation_has_ended_the_one_that_we_know():
    talk = Talk()
    peer = served(talk)
    peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 0))
    assert peer.stage is Stage.IDLE and talk.state.charges.used == [0.0]


def test_one_that_is_lost_and_still_beats_is_not_forgotten():
    talk = Talk(forget=100.0)
    peer = talk.join()
    peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 1))
    for _ in range(30):
        talk.sleep(10.0)
        peer.say(wire.Beat(peer.next_hb(), 0, 0, 0.0, 1))
    assert peer.stage is Stage.LOST and talk.state.charges.used == [F]
    talk.sleep(W + 100.1)
    assert talk.state.find(peer.app, peer.number) is None


# --- the turn


def test_frames_of_a_turn_are_taken_together_and_decided_once():
    talk = Talk()
    peers = [talk.join(job) for job in "abc"]
    decisions = talk.state.decisions
    talk.step(*(peer.a_post() for peer in peers))
    assert talk.state.decisions == decisions + 1
    assert sum(peer.rate for peer in peers) == pytest.approx(CAPACITY)
    talk.step(*(Frame(peer.session, wire.Complete(1, 1.0)) for peer in peers))
    assert talk.state.decisions == decisions + 1  # nobody is left to decide about


def test_a_restart_inside_the_grace_waits_for_the_rest_of_it():
    cold = Talk(warm=False)
    cold.sleep(3.0)
    talk = restarted(cold, warm=True)
    assert talk.state.mode == "grace"
    talk.sleep(W - 3.01)
    assert talk.state.mode == "grace"
    talk.sleep(0.02)
    assert talk.state.mode == "run"
