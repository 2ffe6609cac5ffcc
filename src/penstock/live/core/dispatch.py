"""From the rates that a policy wants to the rates that members are told, without ever charging more than there is.

Decreases go out at once. An increase waits until there is room for it: until those that were told less have acked it.
Changes below ε are left to the next renewal; if increases would then not fit, the largest of the small decreases go
out, too. The rate of an application is split among its members by what each has left to move, so that all end together.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan

import numpy as np

from penstock.live.core import records
from penstock.live.core.charges import SLACK
from penstock.live.core.filling import water_filled
from penstock.live.core.members import Member, RateSplit, RouteRow, Stage
from penstock.live.core.state import ControllerState

_WORTH_MOVING = 0.1  # of a member's rate: how far its part may be from the best before it is told another
_ALMOST_DONE = 1e-3  # of a volume
_LATELY = 0.1  # seconds for which members of one application are renewed by one division of its rate

Grant = Callable[[Member, float], None]


class Dispatch:
    """`waiting` are the members that are wanted to have more than they were told."""

    def __init__(self, state: ControllerState, grant: Grant) -> None:
        self.state = state
        self.grant = grant
        self.waiting: dict[Member, None] = {}
        self._parts: dict[RouteRow, dict[Member, float]] = {}  # as of the decision of this turn
        self.joined: dict[Member, None] = {}  # since the last decision: their applications are to be split anew
        self.unpaced = True  # somebody may be, and has to be told a rate even if it is the one that it could use

    def decided(self, decision: records.RatesDecided) -> None:
        """Tell the decreases of a decision, and line up its increases."""
        by_key = self.state.rows.by_key
        changed = {by_key[number, (direction, targets)]: None for number, direction, targets, _ in decision.rates}
        changed |= {member.row: None for member in self.joined if member.row is not None}
        changed |= dict.fromkeys(self._off_target())
        self.joined.clear()
        self.waiting.clear()
        self._parts = {}
        left: list[float] = []  # made when somebody is to be paced again
        self.unpaced = False
        increases: list[Member] = []
        for row in changed:
            increases += self._lower(row, left)
        self.waiting.update(dict.fromkeys(sorted(increases, key=_turn)))

    def hand_out(self) -> None:
        """Raise who waits, in order, as far as there is room."""
        if not self.waiting:
            self._parts = {}
            return
        room = [self.state.room(k) for k in range(len(self.state.capacity))]
        parts, self._parts = self._parts, {}
        for member in list(self.waiting):
            if member.row is None:
                del self.waiting[member]
                continue
            if member.row not in parts:
                parts[member.row] = self._split(member.row)
            rate = self._fitting(member, parts[member.row][member], room)
            if rate is None:
                continue
            before = member.charge
            self.grant(member, rate)
            assert member.op is not None
            for k, share in member.op.route.shares:
                room[k] -= share * (member.charge - before)

    def renewed(self, member: Member) -> float:
        """The rate for a renewal: it carries what was too small to be told by itself."""
        assert member.row is not None and member.op is not None
        rate, best = member.rate, float(self.state.rows.exact[member.row.index])
        if isnan(best):
            return rate
        if len(member.row.members) > 1:
            parts = self._lately(member, member.row)
            best = parts[member] if abs(parts[member] - rate) > _WORTH_MOVING * rate else rate
            if best < rate:
                # What it leaves is for the others of its application.
                self.waiting.update({each: None for each, part in parts.items() if part > each.rate})
        if best <= rate:
            return best
        room = min((self.state.room(k) / share for k, share in member.op.route.shares), default=inf)
        return best if max(0.0, best - member.charge) <= room else rate

    def _off_target(self) -> list[RouteRow]:
        """Rows that are not told what they are to have: they wait, lost a member, or go unpaced."""
        rows, epsilon = self.state.rows, self.state.settings.epsilon
        wanted, rate = rows.wanted[: rows.count], rows.rate[: rows.count]
        off = [rows.rows[i] for i in np.flatnonzero(np.abs(wanted - rate) > epsilon * wanted)]
        if self.unpaced:
            off += [row for row in rows.rows if any(member.unpaced for member in row.members.values())]
        return off

    def _lower(self, row: RouteRow, left: list[float]) -> list[Member]:
        """Tell the members of a row that are to have less; return those that are to have more."""
        parts = self._parts[row] = self._split(row)
        for member, part in parts.items():
            if member.unpaced:
                self._pace_again(member, part, left)
            elif part < member.rate:
                self.grant(member, part)
        return [member for member, part in parts.items() if part > member.rate]

    def _left_by_leases(self) -> list[float]:
        """On each resource, what those leave who are told a rate; the unpaced are not, whatever they count with."""
        state = self.state
        left = [state.room(k) for k in range(len(state.capacity))]
        for member in state.members():
            if member.free is not None and member.op is not None and member.stage is not Stage.LOST:
                told = max((rate for rev, rate in member.revs.items() if rev > member.free), default=0.0)
                for k, share in member.op.route.shares:
                    left[k] += share * (member.charge - told)
        return left

    def _pace_again(self, member: Member, part: float, left: list[float]) -> None:
        """Tell one a rate that goes unpaced: no more than others have left, and the rest when they have given way."""
        assert member.op is not None
        if not left:
            left += self._left_by_leases()
        shares = member.op.route.shares
        rate = min([part, *(max(0.0, left[k] / share) for k, share in shares)])
        for k, share in shares:
            left[k] -= share * rate
        self.grant(member, rate)

    def _split(self, row: RouteRow) -> dict[Member, float]:
        """What the policy wants for an application, member by member."""
        rate = float(self.state.rows.wanted[row.index])
        members = list(row.members.values())
        if len(members) == 1:
            return {members[0]: rate}
        state = self.state
        left = [_left(member, state.now) for member in members]
        most = state.limit_on(row.route)
        parts = water_filled(rate, left, [state.able(member, most) for member in members])
        return dict(zip(members, parts, strict=True))

    def _lately(self, member: Member, row: RouteRow) -> dict[Member, float]:
        """The same as of a moment ago: each of a thousand members asks at its own beat."""
        now, rate, known = self.state.now, float(self.state.rows.wanted[row.index]), row.lately
        fresh = known is not None and now - known.time <= _LATELY and known.rate == rate
        if known is None or not fresh or member not in known.parts or len(known.parts) != len(row.members):
            known = row.lately = RateSplit(now, rate, self._split(row))
        return known.parts

    def _fitting(self, member: Member, best: float, room: list[float]) -> float | None:
        """The rate that one who waits can be raised to now, if it is worth a word."""
        assert member.op is not None
        step, need = best - member.rate, best - member.charge
        if step <= 0.0:
            del self.waiting[member]
            return None
        # Where more is charged than there is, not even what one is charged with itself may be told.
        need, shares = max(0.0, need), member.op.route.shares
        if all(share * need <= room[k] + SLACK * self.state.capacity[k] for k, share in shares):
            del self.waiting[member]
            return best
        left = min(room[k] / share for k, share in shares)
        part = member.charge + left
        return part if left > 0.0 and part - member.rate >= 0.5 * step else None


def _left(member: Member, now: float) -> float:
    """Bytes that a member has to move; one that should be done still counts a little, and gets what nobody can use."""
    assert member.op is not None
    return max(_ALMOST_DONE * member.op.volume, member.op.volume - member.op.done_at(now, member.rate))


def _turn(member: Member) -> tuple[bool, float, int, int]:
    """Those that have nothing first, then by posting."""
    return member.rate > 0.0, member.app.posted, member.app.place, member.number
