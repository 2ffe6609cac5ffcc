"""The controller sees what members use of their grants: who leaves most of one over for a few beats is granted less.

Measured bytes only: a member's own reports, beat by beat, against what its grants allowed meanwhile. Over a few beats
less than half used: from now on it can use what it did and half as much again, but never less than a floor. Nearly all
used from one beat to the next: it can use all again. Nothing here frees anything: a smaller grant is told, and the
charge falls when the member acks it, as with every other decrease.
"""

from __future__ import annotations

from math import inf

from penstock.live.core.members import Member, Seen
from penstock.live.core.state import ControllerState

BEATS = 3  # that are looked at before a grant shrinks
LITTLE = 0.5  # of what was allowed: who uses less can use less
NEARLY_ALL = 0.9  # of what was allowed: who uses more could perhaps use much more
ROOM = 1.5  # times what was used: so much it may use from then on
LEAST = 0.01  # of what its resources and its cap allow: the floor, if its fallback is not lower still


def measure(state: ControllerState, member: Member, done: float) -> float:
    """What a member that beats can use from now on, in bytes/s; infinity: all that it is granted."""
    seen = _look(state, member, done)
    if member.rate <= 0.0 or member.free is not None or len(seen) < 2:
        return member.usable
    last = _part(seen[-2], seen[-1])
    if last >= NEARLY_ALL:
        return inf
    if len(seen) <= BEATS or _part(seen[0], seen[-1]) >= LITTLE:
        return member.usable
    used = (seen[-1].done - seen[0].done) / (seen[-1].time - seen[0].time)
    return max(ROOM * used, _floor(state, member))


def _look(state: ControllerState, member: Member, done: float) -> list[Seen]:
    """Note how far it is; its rate may have changed since the last beat, and then the lower one counts."""
    seen = member.seen
    before = seen[-1] if seen else Seen(state.now, done, 0.0, member.rate)
    if not seen or state.now > before.time:
        allowed = before.allowed + min(before.rate, member.rate) * (state.now - before.time)
        seen.append(Seen(state.now, max(done, before.done), allowed, member.rate))
        del seen[: -BEATS - 1]
    return seen


def _part(one: Seen, two: Seen) -> float:
    """Of what was allowed between two beats, how much was used."""
    allowed = two.allowed - one.allowed
    return (two.done - one.done) / allowed if allowed > 0.0 else 1.0


def _floor(state: ControllerState, member: Member) -> float:
    assert member.op is not None
    return min(state.fallback(member, member.op.route), LEAST * state.limit(member))
