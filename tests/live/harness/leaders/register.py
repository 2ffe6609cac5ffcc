"""The folder of the lease as controllers find it on a bad day: slow, failing, and showing what was true a while ago.

Every operation begins, has its effect at some later instant, and is known to be finished later still. It may fail
without an effect, or after it. For one of its users it may hang altogether for a while. Claims of a term are decided
where the files are, so only one can have it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from penstock.live.standby.lease import Sight

from ..clock import Agenda


@dataclass(frozen=True)
class Slowness:
    """How the folder is. Times in seconds, the others are chances per operation."""

    usual: float = 0.005  # to the effect, and as long again until it is known
    slow: float = 0.0  # share of operations that take up to `slowest` to either
    slowest: float = 0.0
    fails: float = 0.0
    stale: float = 0.0  # how old what is read may be: what a host has read, it may show again for as long
    hangs: float = math.inf  # seconds between two times at which it hangs for somebody, on average
    hang: tuple[float, ...] = (1.0, 2.0, 3.0, 3.9, 5.0, 9.0)  # for how long
    again: float = 0.7  # chance that it does so once more, and for longer, right after
    hangs_at: float = 0.0  # chance per claim and write that it hangs for the writer as soon as that has its effect
    hangs_looking: float = 0.0  # chance per look


class Register:
    """What the folder holds, and held: `exclusive` says that a term can be claimed once."""

    exclusive = True

    def __init__(self, agenda: Agenda, chance: random.Random, slowness: Slowness) -> None:
        self.agenda, self.chance, self.slowness = agenda, chance, slowness
        self.terms: dict[int, tuple[Sight, int]] = {}  # with the epoch of each
        self._hung: dict[str, float] = {}  # until when it hangs for whom
        self.newest = Sight()  # the term that was claimed last, as it is
        self._shown: dict[str, tuple[float, Sight]] = {}  # until when who is shown what

    def hang(self, who: str) -> None:
        """Nothing that somebody does there has an effect, or is known to have one, for a while; perhaps once more."""
        chance = self.chance
        seconds = chance.choice(self.slowness.hang)
        self._hung[who] = self.agenda.now + seconds
        if seconds < 4.0 and chance.random() < self.slowness.again:
            again = self.agenda.now + seconds + 0.05
            self.agenda.at(again, lambda: self._hung.update({who: again + chance.choice((4.5, 9.0))}))

    def look(self, who: str, then: Callable[[Sight | None], None]) -> None:
        """`then` hears what is there, or None if it cannot be read."""
        seen: list[Sight | None] = [None]

        def read() -> None:
            until, shown = self._shown.get(who, (-math.inf, self.newest))
            if self.agenda.now >= until:
                until, shown = self.agenda.now + self.chance.uniform(0.3, 1.0) * self.slowness.stale, self.newest
                self._shown[who] = until, shown
            seen[0] = shown
            if self.chance.random() < self.slowness.hangs_looking:
                self.hang(who)

        self._operate(who, read, lambda fine: then(seen[0] if fine else None))

    def claim(self, term: int, holder: str, then: Callable[[bool], None]) -> None:
        """`then` hears whether the term is ours."""
        got = [False]

        def take() -> None:
            if term not in self.terms or not self.exclusive:
                got[0] = True
                self._keep(Sight(term, 0, holder), epoch=0)

        self._operate(holder, take, lambda fine: then(fine and got[0]))

    def write(self, sight: Sight, epoch: int, then: Callable[[bool], None]) -> None:
        """`then` hears whether it is written."""
        self._operate(sight.holder, lambda: self._keep(sight, epoch), then)

    def epoch_before(self, term: int) -> int:
        """The highest epoch of the terms before this one."""
        return max((epoch for number, (_, epoch) in self.terms.items() if number < term), default=0)

    def _keep(self, sight: Sight, epoch: int) -> None:
        before = self.terms.get(sight.term, (sight, 0))[1]
        self.terms[sight.term] = (sight, max(before, epoch))
        self.newest = self.terms[max(self.terms)][0]
        if self.chance.random() < self.slowness.hangs_at:
            self.hang(sight.holder)

    def _operate(self, who: str, effect: Callable[[], None], then: Callable[[bool], None]) -> None:
        """The effect and the word of it come in their own time; either may not come about."""
        chance, slowness = self.chance, self.slowness
        fate = chance.random()
        lost, unsaid = fate < slowness.fails / 2, fate < slowness.fails

        def happen() -> None:
            if not lost:
                effect()
            self.agenda.at(self._when(who), lambda: then(not unsaid))

        self.agenda.at(self._when(who), happen)

    def _when(self, who: str) -> float:
        slowness, chance = self.slowness, self.chance
        time = chance.uniform(0.0, slowness.slowest if chance.random() < slowness.slow else slowness.usual)
        return max(self.agenda.now, self._hung.get(who, 0.0)) + time
