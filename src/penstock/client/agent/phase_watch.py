"""Phases that no job announced, found by a node's agent: they begin and end by what is moved. No clock, no segment.

A burst may move 4 MiB unasked. Whoever wants more waits, and that begins a phase: its volume is a guess, which is
doubled whenever more was moved. It is over when nothing was moved for a second and nobody waits, or a quarter of a
second after the last file was closed. Then the next burst may begin with 4 MiB again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import msgspec

from penstock.wire.guesses import ENOUGH, FIRST, guess

UNASKED = float(4 << 20)  # bytes of a burst that pass before anybody is asked
QUIET = 1.0  # seconds without a byte that end a phase
UNASKED_OPERATIONS = 1000.0  # on names, of a burst
FIRST_OPERATIONS = 10_000.0  # the first guess of what a phase of these does
CLOSED = 0.25  # and after the last file was closed
WAITS = 0.2  # seconds for which the last word of one that waits counts: it says so again every 20 ms


@dataclass(frozen=True)
class Reading:
    """What a segment shows at one look. Times are those of its clock; -inf: never."""

    moved: float  # bytes so far
    last: float = -inf  # when some were moved last
    want: float = -inf  # when somebody waited last
    closed: float = -inf  # when the last file that was open was closed; +inf: one is open, or nobody knows
    announced: float = 0.0  # bytes of the phase that the program announced by itself; 0: none is open
    read: bool = False  # the last bytes were read, not written
    reads: int = 0
    writes: int = 0
    said: int = 0  # bytes that were announced in phases that are over
    operations: float = 0.0  # on names so far


class Begun(msgspec.Struct, frozen=True):
    """A phase begins; `base` of all bytes were moved before it."""

    volume: float
    confidence: float
    base: float


class More(msgspec.Struct, frozen=True):
    """It moves more than was thought."""

    volume: float


class Over(msgspec.Struct, frozen=True):
    """It is over, and has moved so much."""

    done: float


class Refill(msgspec.Struct, frozen=True):
    """A burst that asked nobody is over: the next may begin as this one did."""


News = Begun | More | Over | Refill


@dataclass
class PhaseWatch:
    """One job on one node, from look to look."""

    volumes: list[float] = field(default_factory=list)  # of the last phases
    expected: float = 0.0  # bytes of a phase, by the word of the job's user
    open: bool = False
    base: float = 0.0  # what was moved before the burst, or the phase
    volume: float = 0.0
    announced: float = 0.0  # by the program itself
    first: float = FIRST  # guess

    def look(self, t: float, seen: Reading) -> News | None:
        """What a look tells; one thing at a time, so look again if it told something."""
        waits = t - seen.want <= WAITS
        if self.open:
            return self._in_phase(t, seen, waits)
        if waits or seen.announced > 0.0:
            return self._begin(seen)
        if seen.moved > self.base and t - seen.last >= QUIET:
            self.base = seen.moved
            return Refill()
        return None

    def _begin(self, seen: Reading) -> Begun:
        self.open, self.announced = True, seen.announced
        self.volume, confidence = (seen.announced, 1.0) if seen.announced > 0.0 else self._guess()
        return Begun(self.volume, confidence, self.base)

    def _guess(self) -> tuple[float, float]:
        """What its user said, else what it moved before."""
        return (self.expected, 1.0) if self.expected > 0.0 else guess(self.volumes, self.first)

    def _in_phase(self, t: float, seen: Reading, waits: bool) -> More | Over | None:
        done = seen.moved - self.base
        if seen.announced > self.volume and self.announced > 0.0:
            more = seen.announced - self.volume
            self.volume = seen.announced
            return More(more)
        if done > self.volume:
            more = max(self.volume, self.first)
            while self.volume + more < done:
                more *= 2.0
            self.volume += more
            return More(more)
        if self._is_over(t, seen, waits):
            self.open, self.base = False, seen.moved
            if self.announced == 0.0 and done > 0.0:
                self.volumes = [*self.volumes[1 - ENOUGH :], done]
            return Over(done)
        return None

    def _is_over(self, t: float, seen: Reading, waits: bool) -> bool:
        if self.announced > 0.0:  # the program says when it is over
            return seen.announced == 0.0 and not waits
        if waits:
            return False
        return t - seen.last >= QUIET or (seen.closed >= seen.last and t - seen.closed >= CLOSED)
