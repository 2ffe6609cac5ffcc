"""The optimum's bi-colored chains (P2 §2): what an application asks of the storage, and when, if served in an order.

An application computes, moves bytes for some seconds, computes again, … and ends with a compute. Seconds are floats, or
whole numbers of some unit: everything here works on both.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

from penstock.engine.program import Program

N = TypeVar("N", int, float)


class Chain(NamedTuple, Generic[N]):
    """One application: from `start` on, compute `work[k]` and transfer for `io[k]`, for every k; at last the `tail`."""

    start: N
    work: tuple[N, ...]
    io: tuple[N, ...]
    tail: N

    @property
    def posted(self) -> tuple[N, ...]:
        """When each operation would be posted if it ran alone: no schedule has it earlier."""
        ends = accumulate((work + io for work, io in zip(self.work, self.io, strict=True)), initial=self.start)
        return tuple(end + work for end, work in zip(ends, self.work, strict=False))

    @property
    def rest(self) -> tuple[N, ...]:
        """From the start of each operation to the completion, if nothing more held it up."""
        found, left = [], self.tail
        for work, io in zip(reversed(self.work), reversed(self.io), strict=True):
            left += io
            found.append(left)
            left += work
        return tuple(reversed(found))

    @property
    def alone(self) -> N:
        """When it would complete if it ran alone."""
        return self.start + sum(self.work) + sum(self.io) + self.tail


Chains = tuple[Chain[N], ...]
Order = tuple[int, ...]  # whose operation is served first, second, …


def bicolored(program: Program, origin: float = 0.0) -> Chains[float]:
    """The applications of a compiled scenario, noise included: what really runs; their starts count from `origin`."""
    seconds = program.volume / program.limit
    slices = [slice(*edges) for edges in zip(program.first[:-1], program.first[1:], strict=True)]
    return tuple(
        Chain(
            float(program.start[i]) - origin,
            tuple(program.work[own].tolist()),
            tuple(seconds[own].tolist()),
            float(program.tail[i]),
        )
        for i, own in enumerate(slices)
    )


def starts(chains: Chains[N], order: Sequence[int]) -> tuple[list[list[N]], N]:
    """When the operations of each application start if served in this order, as early as it allows; the makespan."""
    found: list[list[N]] = [[] for _ in chains]
    ends = [chain.start for chain in chains]
    free = min(ends)
    for i in order:
        chain, k = chains[i], len(found[i])
        start = max(free, ends[i] + chain.work[k])
        found[i].append(start)
        free = ends[i] = start + chain.io[k]
    return found, max(end + chain.tail for end, chain in zip(ends, chains, strict=True))


def by_posting(chains: Chains[N]) -> Order:
    """The order in which operations would be posted if every application ran alone."""
    return tuple(i for _, i in sorted((posted, i) for i, chain in enumerate(chains) for posted in chain.posted))


def complete(chains: Chains[N], order: Sequence[int]) -> bool:
    """Whether every operation of every application has its place in the order."""
    return Counter(order) == Counter({i: len(chain.io) for i, chain in enumerate(chains)})


def lower_bound(chains: Chains[N]) -> N:
    """No schedule ends earlier: operations posted as if alone, interrupted at will, most left to do afterwards first.

    This is Jackson's preemptive schedule. It covers the longest application alone, and all I/O plus the earliest
    posting and the shortest remainder.
    """
    operations = [
        (posted, io, rest - io)
        for chain in chains
        for posted, io, rest in zip(chain.posted, chain.io, chain.rest, strict=True)
    ]
    operations.sort(reverse=True)
    bound = max(chain.alone for chain in chains)
    pending: list[tuple[N, N]] = []  # (minus what follows the operation, its seconds left), most to follow first
    now = operations[-1][0] if operations else bound
    while operations or pending:
        if not pending:
            now = max(now, operations[-1][0])
        while operations and operations[-1][0] <= now:
            _, io, after = operations.pop()
            heapq.heappush(pending, (-after, io))
        minus_after, left = heapq.heappop(pending)
        if operations and operations[-1][0] < now + left:
            heapq.heappush(pending, (minus_after, left - (operations[-1][0] - now)))
            now = operations[-1][0]
        else:
            now += left
            bound = max(bound, now - minus_after)
    return bound


def twins(chains: Chains[N]) -> list[int]:
    """For each application the one before it that is exactly alike, or -1.

    Alike applications may as well be served in turn: whose k-th operation is whose can be swapped so that those of the
    earlier application come first, and no start need move. So only such schedules are looked at.
    """
    last: dict[Chain[N], int] = {}
    found = []
    for i, chain in enumerate(chains):
        found.append(last.get(chain, -1))
        last[chain] = i
    return found


def in_turn(chains: Chains[N], order: Sequence[int]) -> Order:
    """The same order with alike applications served in turn, which never takes longer."""
    groups: dict[Chain[N], list[int]] = {}
    for i, chain in enumerate(chains):
        groups.setdefault(chain, []).append(i)
    counts = [0] * len(chains)
    served: dict[tuple[Chain[N], int], int] = {}
    turned = []
    for i in order:
        place = (chains[i], counts[i])
        counts[i] += 1
        turned.append(groups[chains[i]][served.get(place, 0)])
        served[place] = served.get(place, 0) + 1
    return tuple(turned)
