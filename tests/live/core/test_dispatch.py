"""Who is told what after a decision, by hand: one rule at a time, on a state that only knows what is asked for."""

from __future__ import annotations

from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from penstock.live.core import Stage
from penstock.live.core.charges import SLACK
from penstock.live.core.dispatch import Dispatch, _left, _turn
from penstock.live.core.members import App, Member, Op, RouteRow
from penstock.live.core.resources import Route

ALL = ((0, 1.0),)
CAPACITY = 100.0


class Desk:
    """Rows with members that were told `rate`, a Dispatch over them, and all that it tells."""

    def __init__(self, *room: float, epsilon: float = 0.0) -> None:
        self.left = list(room) or [0.0]
        self.told: list[tuple[int, float]] = []
        self.rows = SimpleNamespace(rows=[], count=0, by_key={}, **{name: np.zeros(8) for name in COLUMNS})
        self.able: dict[Member, float] = {}
        self.state: Any = SimpleNamespace(
            capacity=[CAPACITY] * len(self.left),
            room=lambda k: self.left[k],
            now=0.0,
            rows=self.rows,
            settings=SimpleNamespace(epsilon=epsilon),
            members=lambda: [member for row in self.rows.rows for member in row.members.values()],
            limit_on=lambda route: CAPACITY,
            able=lambda member, most: min(most, self.able.get(member, inf)),
        )
        self.dispatch: Any = Dispatch(self.state, self._grant)  # type: ignore[arg-type]
        self.dispatch.unpaced = False

    def _grant(self, member: Member, rate: float) -> None:
        self.told.append((member.app.number, rate))
        member.rate, member.charge = rate, max(member.charge, rate)

    def add(
        self, rate: float, wanted: float, *, charge: float | None = None, shares: Any = ALL, members: int = 1
    ) -> Any:
        """A new row; its member, or all of them if there are several."""
        number = len(self.rows.rows)
        route = Route(("write", (str(number),)), shares)
        app = App(number, f"j{number}", 0, number, 0.0, 0.0, 0.0, posted=0.0)
        row = RouteRow(app, route, number)
        for n in range(members):
            op = Op(1, 1000.0, route, None, 0.0, 0.0)
            member = Member(app, n, 1.0, op=op, stage=Stage.POSTED, rate=rate, row=row)
            member.charge = rate if charge is None else charge
            app.members[n] = row.members[n] = member
        self.rows.rows.append(row)
        self.rows.by_key[number, route.key] = row
        self.rows.count = number + 1
        self.rows.wanted[number] = self.rows.exact[number] = wanted
        self.rows.rate[number] = members * rate
        found = list(row.members.values())
        return found[0] if members == 1 else found

    def wait(self, *members: Member) -> None:
        self.dispatch.waiting.update(dict.fromkeys(members))

    def decided(self, *members: Member) -> None:
        """As if these rows had changed."""
        rates = [(each.app.number, *each.op.route.key, 0.0) for each in members if each.op is not None]
        self.dispatch.decided(SimpleNamespace(rates=rates))


COLUMNS = ("wanted", "exact", "rate")


# --- increases


@pytest.mark.parametrize(
    ("room", "told"),
    [
        (40.0, 50.0),
        (40.0 - 0.9 * SLACK * CAPACITY, 50.0),  # rounding keeps nothing back
        (39.0, 49.0),
        (20.0, 30.0),
        (19.9, None),  # less than half of it is not worth a word
        (0.0, None),
    ],
)
def test_one_is_raised_as_far_as_there_is_room(room: float, told: float | None) -> None:
    """It has 10 and is to have 50."""
    desk = Desk(room)
    member = desk.add(10.0, 50.0)
    desk.wait(member)
    desk.dispatch.hand_out()
    assert desk.told == ([] if told is None else [(0, pytest.approx(told))])
    assert (member in desk.dispatch.waiting) == (told != 50.0)


def test_what_it_is_charged_with_already_needs_no_room() -> None:
    desk = Desk(5.0)
    member = desk.add(10.0, 50.0, charge=30.0)
    desk.wait(member)
    desk.dispatch.hand_out()
    assert desk.told == [(0, 35.0)]
    desk = Desk(0.0)
    desk.wait(desk.add(10.0, 25.0, charge=30.0))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 25.0)]


def test_without_room_nobody_is_told_what_it_is_charged_with() -> None:
    desk = Desk(0.0)
    desk.wait(desk.add(10.0, 50.0, charge=40.0))
    desk.dispatch.hand_out()
    assert desk.told == []


def test_where_more_is_charged_than_there_is_nobody_is_raised() -> None:
    desk = Desk(-5.0)
    desk.wait(desk.add(10.0, 50.0, charge=60.0))
    desk.dispatch.hand_out()
    assert desk.told == []


def test_every_resource_that_it_uses_has_a_say() -> None:
    shares = ((0, 0.5), (1, 2.0))
    for room, told in [((20.0, 80.0), 50.0), ((10.0, 80.0), 30.0), ((20.0, 40.0), 30.0), ((9.0, 80.0), None)]:
        desk = Desk(*room)
        desk.wait(desk.add(10.0, 50.0, shares=shares))
        desk.dispatch.hand_out()
        assert desk.told == ([] if told is None else [(0, told)])


def test_what_one_takes_is_gone_for_the_next() -> None:
    desk = Desk(60.0)
    desk.wait(desk.add(10.0, 50.0), desk.add(10.0, 50.0))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 50.0), (1, 30.0)]
    desk = Desk(60.0)
    desk.wait(desk.add(10.0, 50.0, shares=((0, 0.5),)), desk.add(10.0, 50.0))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 50.0), (1, 50.0)]
    desk = Desk(10.0)
    desk.wait(desk.add(10.0, 50.0, charge=40.0), desk.add(0.0, 5.0))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 50.0)]


def test_increases_of_less_than_a_byte_count_as_well() -> None:
    desk = Desk(0.5)
    desk.wait(desk.add(0.25, 0.75))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 0.75)] and not desk.dispatch.waiting
    desk = Desk(0.6)
    desk.wait(desk.add(0.0, 1.0))
    desk.dispatch.hand_out()
    assert desk.told == [(0, 0.6)]


def test_who_has_gone_or_has_enough_waits_no_more() -> None:
    desk = Desk(60.0)
    gone, content, content_too, small = desk.add(0.0, 9.0), desk.add(9.0, 9.0), desk.add(9.0, 5.0), desk.add(1.0, 2.0)
    gone.row = None
    desk.wait(gone, content, content_too, small)
    desk.dispatch.hand_out()
    assert desk.told == [(3, 2.0)] and not desk.dispatch.waiting


# --- a decision


def test_decreases_are_told_at_once_and_increases_line_up() -> None:
    desk = Desk(0.0)
    less, same, more = desk.add(30.0, 10.0), desk.add(20.0, 20.0), desk.add(10.0, 40.0)
    desk.decided(less, same, more)
    assert desk.told == [(0, 10.0)] and list(desk.dispatch.waiting) == [more]


def test_those_that_have_nothing_come_first_then_by_posting() -> None:
    desk = Desk(0.0)
    members = [desk.add(rate, 40.0) for rate in (5.0, 5.0, 0.0, 0.0)]
    for member, posted in zip(members, (2.0, 1.0, 4.0, 3.0), strict=True):
        member.app.posted = posted
    desk.wait(members[0])  # since before
    desk.decided(*members)
    assert list(desk.dispatch.waiting) == [members[n] for n in (3, 2, 1, 0)]
    assert _turn(members[0]) == (True, 2.0, 0, 0)


def test_rows_that_are_not_told_what_they_are_to_have_are_looked_at_again() -> None:
    desk = Desk(0.0, epsilon=0.1)
    near, far, below = desk.add(10.0, 11.1), desk.add(10.0, 11.2), desk.add(10.0, 9.0)
    desk.decided()
    assert list(desk.dispatch.waiting) == [far] and desk.told == [(2, 9.0)]
    assert near.rate == 10.0 and below.rate == 9.0


def test_who_has_joined_is_split_anew_once() -> None:
    desk = Desk(0.0)
    joined, left = desk.add(10.0, 9.0), desk.add(10.0, 9.0)
    left.row = None
    desk.rows.rate[:] = desk.rows.wanted  # as if nothing had changed
    desk.dispatch.joined.update({joined: None, left: None})
    desk.decided()
    assert desk.told == [(0, 9.0)] and not desk.dispatch.joined


# --- those that go unpaced


def free(member: Member, *told: float) -> None:
    """Told to go unpaced by the first of these revisions; it may use the whole capacity."""
    member.revs = {(1, n): rate for n, rate in enumerate(told, 1)}
    member.free, member.rev, member.charge = (1, 1), 1, CAPACITY


def test_one_that_is_paced_again_gets_what_others_leave() -> None:
    desk = Desk(-60.0)  # 100 of this one, and 60 of others
    member = desk.add(0.0, 50.0)
    free(member, CAPACITY)
    desk.dispatch.unpaced = True
    desk.decided()
    assert desk.told == [(0, 40.0)]  # and the rest when there is room
    assert list(desk.dispatch.waiting) == [member] and not desk.dispatch.unpaced


def test_one_of_several_members_may_be_paced_again() -> None:
    desk = Desk(0.0)
    first, second = desk.add(30.0, 60.0, members=2)
    free(second, CAPACITY)
    desk.dispatch.unpaced = True
    desk.decided()
    assert desk.told == [(0, 30.0)] and (first.charge, second.rate) == (30.0, 30.0)


def test_two_that_are_paced_again_share_what_others_leave() -> None:
    desk = Desk(-130.0)  # 100 of each, and 30 of others
    one, other = desk.add(0.0, 50.0), desk.add(0.0, 50.0)
    free(one, CAPACITY)
    free(other, CAPACITY)
    desk.dispatch.unpaced = True
    desk.decided()
    assert desk.told == [(0, 50.0), (1, 20.0)]


def test_what_was_told_since_counts_as_used() -> None:
    desk = Desk(-30.0)
    member, other = desk.add(0.0, 50.0), desk.add(0.0, 50.0)
    free(member, CAPACITY)
    free(other, CAPACITY, 25.0, 10.0)
    other.rev = 3  # it hears of a rate since
    desk.rows.rate[1] = desk.rows.wanted[1] = 10.0
    other.rate = 10.0
    assert desk.dispatch._left_by_leases() == [-30.0 + 100.0 + 75.0]
    other.stage = Stage.LOST
    assert desk.dispatch._left_by_leases() == [-30.0 + 100.0]
    other.stage, other.op = Stage.POSTED, None
    assert desk.dispatch._left_by_leases() == [-30.0 + 100.0]


def test_a_share_of_a_resource_when_one_is_paced_again() -> None:
    desk = Desk(-40.0, -195.0)
    half = ((0, 0.5), (1, 2.0))
    member, other = desk.add(0.0, 50.0, shares=half), desk.add(0.0, 50.0, shares=half)
    free(member, CAPACITY)
    left = desk.dispatch._left_by_leases()
    assert left == [-40.0 + 50.0, -195.0 + 200.0]
    desk.dispatch._pace_again(member, 50.0, left)
    assert desk.told == [(0, 2.5)] and left == [10.0 - 1.25, 0.0]
    desk.dispatch._pace_again(other, 50.0, [-1.0, 100.0])
    assert desk.told[-1] == (1, 0.0)


# --- members of one application


def test_a_rate_is_split_by_what_each_has_left() -> None:
    desk = Desk(0.0)
    first, second = desk.add(10.0, 60.0, members=2)
    first.op.done, second.op.done = 500.0, 0.0
    desk.state.now = 10.0  # since 0 each has moved 100 more
    assert desk.dispatch._split(first.row) == {
        first: pytest.approx(60 * 400 / 1300),
        second: pytest.approx(60 * 900 / 1300),
    }
    desk.able[second] = 20.0
    assert desk.dispatch._split(first.row) == {first: 40.0, second: 20.0}


def test_a_split_is_that_of_this_turn() -> None:
    desk = Desk(100.0)
    first, second = desk.add(30.0, 60.0, members=2)
    desk.decided(first)
    desk.dispatch.hand_out()  # nobody waits
    first.op.done = 500.0
    desk.wait(second)
    desk.dispatch.hand_out()
    assert desk.told == [(0, 40.0)]


def test_one_that_should_be_done_counts_a_little() -> None:
    [member, _] = Desk(0.0).add(10.0, 60.0, members=2)
    assert _left(member, 40.0) == 600.0
    assert _left(member, 99.95) == pytest.approx(1.0)
    assert _left(member, 1000.0) == 1.0  # a thousandth


# --- renewals


def test_a_renewal_carries_what_was_too_small_to_be_told() -> None:
    for exact, room, rate in [
        (9.9, 0.0, 9.9),
        (10.0, 0.0, 10.0),
        (10.5, 0.5, 10.5),
        (10.5, 0.4, 10.0),
        (nan, 9.0, 10.0),
    ]:
        desk = Desk(room)
        member = desk.add(10.0, 10.0)
        desk.rows.exact[0] = exact
        assert desk.dispatch.renewed(member) == rate, exact
    desk = Desk(0.0)
    member = desk.add(10.0, 10.5, charge=10.2)
    desk.left[0] = 0.25
    assert desk.dispatch.renewed(member) == 10.0
    desk.left[0] = 0.35
    assert desk.dispatch.renewed(member) == 10.5
    member.charge, desk.left[0] = 20.0, -0.1
    assert desk.dispatch.renewed(member) == 10.0  # more is charged than there is


def test_a_renewal_looks_at_every_resource() -> None:
    for room, rate in [((0.25, 1.0), 10.5), ((0.2, 1.0), 10.0), ((0.25, 0.9), 10.0)]:
        desk = Desk(*room)
        assert desk.dispatch.renewed(desk.add(10.0, 10.5, shares=((0, 0.5), (1, 2.0)))) == rate
    desk = Desk(0.0)
    assert desk.dispatch.renewed(desk.add(10.0, 10.5, shares=())) == 10.5  # it uses nothing that is shared


def test_a_part_is_moved_if_it_is_a_tenth_off() -> None:
    for done, rate in [(50.0, 30.0), (500.0, 20.0)]:
        desk = Desk(0.0)
        first, second = desk.add(30.0, 60.0, members=2)
        first.op.done, first.op.since, second.op.since = done, 0.0, 0.0
        assert desk.dispatch.renewed(first) == pytest.approx(rate)
        assert list(desk.dispatch.waiting) == ([second] if rate < 30.0 else [])
    desk = Desk(100.0)
    first, second = desk.add(30.0, 60.0, members=2)
    second.op.done = 500.0
    assert desk.dispatch.renewed(first) == pytest.approx(40.0)
    assert not desk.dispatch.waiting


def test_members_that_are_renewed_shortly_after_each_other_go_by_one_division() -> None:
    desk = Desk(0.0)
    first, second = desk.add(30.0, 60.0, members=2)
    row = first.row
    parts = desk.dispatch._lately(first, row)
    desk.state.now = 0.1
    assert desk.dispatch._lately(second, row) is parts
    desk.state.now = 0.11
    again = desk.dispatch._lately(second, row)
    assert again is not parts
    desk.rows.wanted[0] = 50.0
    changed = desk.dispatch._lately(second, row)
    assert changed is not again and sum(changed.values()) == pytest.approx(50.0)
    third = Member(first.app, 2, 1.0, op=Op(1, 1000.0, first.op.route, None, 0.0, 0.0), row=row)
    row.members[2] = third
    joined = desk.dispatch._lately(first, row)
    assert set(joined) == {first, second, third}
    del row.members[2]
    assert set(desk.dispatch._lately(first, row)) == {first, second}
