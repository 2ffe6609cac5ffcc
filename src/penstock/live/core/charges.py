"""The controller's charges: how much of every resource is spoken for, as far as can be proved. The heart of safety.

*Charge first*: a rate is added to a member's revisions before it is told, so its charge is never below what it uses.
*Free late*: a charge falls only when the member acks a later revision of this epoch, when it says that it uses nothing,
when it is known to be dead, or when its lease is over on any clock. The lease of one revision is over W after it was
told, since it runs from a beat that had arrived by then; whoever goes on by a lease goes by a later one. The sum of all
charges stays within each capacity, unless somebody who comes back, or goes on without us, brings a charge that nobody
granted.
"""

from __future__ import annotations

from penstock.live.core.members import Member, Rev, Stage
from penstock.live.core.resources import Routes
from penstock.wire.messages import KINDS

Amounts = tuple[tuple[int, float], ...]
SLACK = 2e-9  # relative: rounding must not keep back a rate that fits
_UNIT_BITS = 1074  # the smallest float is 2**-1074


class Charges:
    """What every member is charged with on every resource; `strict`: fallbacks are covered by a reserve instead.

    Sums are kept exactly, as whole numbers: their last digit must not depend on what was charged and released before.
    """

    def __init__(self, routes: Routes, strict: bool, machine_nodes: int) -> None:
        self.routes = routes
        self.strict = strict
        self.machine_nodes = machine_nodes
        self._held: dict[Member, Amounts] = {}
        self._outsiders: dict[Member, Amounts] = {}
        self._reserves: dict[Member, Amounts] = {}
        self._lost: dict[Member, Amounts] = {}
        self._lost_nodes: dict[Member, Amounts] = {}
        self._used = [0] * len(routes.resources)
        self._outside = [0] * len(routes.resources)
        self._reserved = [0] * len(routes.resources)
        self._fallbacks = [0] * len(routes.resources)
        self._nodes = [0] * len(KINDS)  # of those that are lost, by what they are paced by
        self._kind = [KINDS.index(resource.kind) for resource in routes.resources]

    @property
    def used(self) -> list[float]:
        """On each resource, all charges."""
        return self._with_lost(self._used)

    def outside(self) -> list[float]:
        """On each resource, the charges of those that no policy can tell a rate: lost, cut off, exempt."""
        return self._with_lost(self._outside)

    def _with_lost(self, totals: list[int]) -> list[float]:
        """These, and the fallbacks of those that are lost.

        They are at most what the nodes of the machine may use. Whoever lost members of more nodes than there are has
        heard of some of them twice, or was told lies, and the others must not starve of that.
        """
        sums = [_rounded(total + lost) for total, lost in zip(totals, self._fallbacks, strict=True)]
        parts = [
            self.machine_nodes / nodes if nodes > self.machine_nodes else 1.0 for nodes in map(_rounded, self._nodes)
        ]
        if max(parts) == min(parts) == 1.0:
            return sums
        by_resource = zip(totals, self._fallbacks, self._kind, strict=True)
        return [_rounded(total) + parts[kind] * _rounded(lost) for total, lost, kind in by_resource]

    def reserved(self, k: int) -> float:
        """What all members together use of a resource when nobody tells them a rate; asked for with `strict` only."""
        return _rounded(self._reserved[k])

    def put(self, member: Member) -> None:
        """Take in what has changed about a member."""
        amounts = self._amounts(member)
        # A strict reserve covers those that are lost.
        lost = member.stage is Stage.LOST and not self.strict
        if lost or member in self._lost_nodes:
            _replace(self._lost, self._fallbacks, member, self._fallback(member) if lost else ())
            kind = KINDS.index(member.app.kind)
            _replace(self._lost_nodes, self._nodes, member, ((kind, member.nodes),) if lost else ())
        if self.strict:
            _replace(self._reserves, self._reserved, member, self._fallback(member))
        _replace(self._held, self._used, member, amounts)
        if member.row is None or member in self._outsiders:
            _replace(self._outsiders, self._outside, member, amounts if member.row is None else ())

    def _amounts(self, member: Member) -> Amounts:
        # A member that is lost is charged apart: it may begin another operation on any targets.
        if member.stage is Stage.LOST or member.op is None or member.charge == 0.0:
            return ()
        return tuple([(k, share * member.charge) for k, share in member.op.route.shares])

    def _fallback(self, member: Member) -> Amounts:
        """What a member uses when nobody tells it a rate; nothing if it is no more."""
        place = self.routes.place
        known = () if member.stage is Stage.GONE else member.fallback.items()
        return tuple((place[name], rate) for name, rate in known if name in place)


def _replace(held: dict[Member, Amounts], totals: list[int], member: Member, amounts: Amounts) -> None:
    before = held.get(member, ())
    if amounts == before:
        return
    for k, amount in before:
        totals[k] -= _exact(amount)
    for k, amount in amounts:
        totals[k] += _exact(amount)
    if amounts:
        held[member] = amounts
    else:
        del held[member]


def _exact(amount: float) -> int:
    """A number in units of the smallest float."""
    numerator, denominator = amount.as_integer_ratio()
    return numerator << (_UNIT_BITS + 1 - denominator.bit_length())


def _rounded(total: int) -> float:
    return total / (1 << _UNIT_BITS)


def grant(member: Member, rev: Rev, rate: float, free: bool) -> None:
    """Charge a rate that is about to be told."""
    member.revs[rev] = rate
    member.rev = rev[1]
    member.rate = rate
    if free:
        member.free = rev
    member.charge = max(member.revs.values())


def unpaced(member: Member, rev: Rev, most: float) -> None:
    """Charge one that was told to go unpaced by `rev` with what it can use now."""
    member.revs[rev] = max(most, member.revs.get(rev, 0.0))
    member.charge = max(member.revs.values())


def ack(member: Member, rev: Rev, rate: float) -> None:
    """Release all before the revision that is in use now."""
    member.revs = {each: told for each, told in member.revs.items() if each >= rev}
    member.revs.setdefault(rev, rate)
    if member.lapse is not None and member.lapse[0] <= rev:
        member.lapse = None
    if member.free is not None and member.free < rev:
        member.free = None
    member.charge = max(member.revs.values())


def hold(member: Member, rev: Rev, rate: float) -> None:
    """Charge what a member may be using, whatever it was told before, until it acks something newer."""
    member.revs, member.lapse = {rev: rate}, None
    member.rev = rev[1]
    member.charge = rate
    if member.free is not None:
        member.free = rev


def release(member: Member) -> None:
    """It uses nothing, or nothing by our word."""
    member.revs, member.lapse = {}, None
    member.free = None
    member.rate = member.charge = 0.0
