"""What a job does not use of its grant goes to others, and comes back when it uses it."""

from __future__ import annotations

from typing import Any

import pytest

from live.core.talk import CAPACITY, Peer, Talk
from penstock.live.core import records


class Pair:
    """Two jobs with half of the capacity each, beating every two seconds; `a` moves what it is told to."""

    def __init__(self, **settings: Any) -> None:
        self.talk = Talk(**settings)
        self.a, self.b = self.talk.join("a"), self.talk.join("b")
        self.done = {self.a: 0.0, self.b: 0.0}
        for peer in (self.a, self.b):
            peer.post(1e9)
        self.talk.quiet()
        assert (self.a.rate, self.b.rate) == (50.0, 50.0)

    def beat(self, most: float, beats: int = 1) -> None:
        for _ in range(beats):
            self.talk.sleep(self.talk.settings.beat)
            for peer, able in ((self.a, most), (self.b, 1e9)):
                self.done[peer] += min(able, peer.rate) * self.talk.settings.beat
                peer.beat(self.done[peer])
            self.talk.quiet()


def test_a_job_that_moves_a_tenth_leaves_the_rest_to_the_other() -> None:
    pair = Pair()
    pair.beat(5.0, beats=5)
    assert pair.a.rate == pytest.approx(7.5)
    assert 5.0 + pair.b.rate >= 0.95 * CAPACITY


def test_it_has_all_again_within_two_beats() -> None:
    pair = Pair()
    pair.beat(5.0, beats=6)
    pair.beat(1e9, beats=2)
    assert (pair.a.rate, pair.b.rate) == (50.0, 50.0)


def test_the_charge_falls_with_the_ack_and_not_before() -> None:
    pair = Pair()
    pair.beat(5.0, beats=3)
    pair.talk.sleep(2.0)
    pair.a.beat(pair.done[pair.a] + 10.0)  # the fourth: it is told less
    assert pair.a.rate == pytest.approx(7.5) and pair.a.late
    assert pair.a.member.charge == 50.0 and pair.b.rate == 50.0
    pair.talk.quiet()
    assert pair.a.member.charge == pytest.approx(7.5) and pair.b.rate == pytest.approx(92.5)


def test_there_is_a_floor() -> None:
    pair = Pair(machine_nodes=10)
    pair.beat(0.0, beats=8)
    assert pair.a.rate == pytest.approx(0.01 * CAPACITY)


def test_who_uses_more_than_half_keeps_its_grant() -> None:
    pair = Pair()
    pair.beat(30.0, beats=10)
    assert pair.a.rate == 50.0 and not pair.talk.made(records.Measured)


def test_the_next_operation_begins_with_a_full_grant() -> None:
    pair = Pair()
    pair.beat(5.0, beats=5)
    pair.a.complete(pair.done[pair.a])
    pair.a.post(1e9)
    pair.talk.quiet()
    assert (pair.a.rate, pair.b.rate) == (50.0, 50.0)


def test_one_that_waits_at_rate_0_is_not_blamed() -> None:
    talk = Talk("fcfs")
    first, second = talk.join("a"), talk.join("b")
    for peer in (first, second):
        peer.post(1e9)
    talk.quiet()

    def go(beats: int) -> None:
        for _ in range(beats):
            talk.sleep(2.0)
            for peer in (first, second):
                peer.beat(peer.member.op.done_at(talk.state.now, peer.rate) if peer.member.op else 0.0)
            talk.quiet()

    go(6)
    assert (first.rate, second.rate) == (CAPACITY, 0.0)
    assert not talk.made(records.Measured)


def test_a_lazy_member_leaves_its_part_to_the_others_of_its_job() -> None:
    talk = Talk()
    lazy, keen = talk.join("a", member=1), talk.join("a", member=2)
    done: dict[Peer, float] = {lazy: 0.0, keen: 0.0}
    for peer in done:
        peer.post(1e9)
    talk.quiet()
    for _ in range(8):
        talk.sleep(2.0)
        for peer, able in ((lazy, 5.0), (keen, 1e9)):
            done[peer] += 2.0 * min(able, peer.rate)
            peer.beat(done[peer])
        talk.quiet()
    assert lazy.rate == pytest.approx(7.5) and keen.rate == pytest.approx(92.5)


def test_what_was_measured_outlives_a_restart() -> None:
    pair = Pair()
    pair.beat(5.0, beats=5)
    again = type(pair.talk.state).restore(pair.talk.state.snapshot(), pair.talk.settings)
    (usable,) = {member.usable for member in again.members() if member.app.job == "a"}
    assert usable == pytest.approx(7.5)
    assert again.rows.able.tolist() == pair.talk.state.rows.able.tolist()


def test_it_is_told_what_it_was_seen_to_need_and_what_it_moved() -> None:
    pair = Pair()
    assert {job["job"]: job["usable"] for job in pair.talk.admin("top")} == {"a": None, "b": None}
    pair.beat(5.0, beats=5)
    told = {job["job"]: job for job in pair.talk.admin("top")}
    assert (told["a"]["limit"], told["a"]["usable"]) == (CAPACITY, pytest.approx(7.5))
    assert told["b"]["usable"] is None
    assert {name: job["done"] for name, job in told.items()} == {"a": pair.done[pair.a], "b": pair.done[pair.b]}


def test_what_policies_reckon_to_be_moved_is_not_told_as_moved() -> None:
    talk = Talk()
    idler = talk.join("a")
    idler.post(1e9)
    for _ in range(3):
        talk.sleep(2.0)
        idler.beat(0.0)
    (job,) = talk.admin("top")
    assert job["done"] == 0.0 and job["remaining"] < job["volume"]


def test_all_who_are_held_back_are_counted_and_who_is_slow_by_itself_is_not() -> None:
    pair = Pair()

    def counts() -> tuple[int, int]:
        told = pair.talk.admin("status")
        return told["held_back"], told["stopped"]

    assert counts() == (2, 0)
    pair.beat(5.0, beats=5)
    assert counts() == (1, 0), "the other has 92.5 of 100"
    pair.talk.admin("policy", name="fcfs")
    pair.talk.quiet()
    assert counts() == (1, 0)
    pair.talk.admin("mode", mode="pause")
    assert counts() == (0, 0)
