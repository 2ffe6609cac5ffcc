"""A lane of a client's segment: a rate, what was served by it, and how both lie in memory.

Numbers only; `segment` has the file. `shim/segment.h` is the same in C.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from enum import IntEnum
from typing import NamedTuple

from penstock.client.bucket import SLACK, depth_of

LEAST_OPERATIONS = 16.0  # that may come at once
NEVER = (1 << 63) - 1
_CHECK = 0x9E3779B97F4A7C15
_LANE, _WORDS = struct.Struct("<QddqqddQ"), struct.Struct("<8Q")  # a slot, as it is meant and as words


class Kind(IntEnum):
    """What a lane is about."""

    BYTES = 0
    OPERATIONS = 1


class Lane(NamedTuple):
    """A rate, and what was served by it. Times in seconds, rates in amounts per second, NaN: unpaced."""

    base: float
    rate: float
    at: float
    expiry: float
    fallback: float
    depth: float

    def served(self, now: float, alive_until: float, kind: Kind = Kind.BYTES) -> tuple[float, float, float]:
        """What was served by `now`, the rate in force then, and how much may be saved up."""
        end = min(self.expiry, alive_until)
        if now < self.at - 1.0:  # another clock, as in a namespace of its own
            return self.base, math.nan, self.depth
        if now < end:
            return _more(self.base, self.rate, now - self.at), self.rate, self.depth
        served = _more(self.base, self.rate, end - self.at)
        since = max(end, self.at)
        return _more(served, self.fallback, now - since), self.fallback, depth_for(kind, self.fallback)


class Counts(NamedTuple):
    """What the processes of the job say. Times in seconds of `boottime`, 0: never."""

    written: int
    read: int
    last: float  # when bytes were paid for
    want: float  # when somebody waited
    last_close: float  # when a paced file was closed
    bell: bool
    waited: float  # seconds, over all threads
    opened: int
    stated: int
    unlinked: int
    created: int
    begun: int  # phases by penstock_begin
    ended: int
    announced_write: int  # bytes, over all of them
    announced_read: int

    @property
    def moved(self) -> int:
        """Bytes, read or written."""
        return self.written + self.read

    @property
    def operations(self) -> int:
        """On names."""
        return self.opened + self.stated + self.unlinked + self.created


def depth_for(kind: Kind, rate: float) -> float:
    """The most that is saved up at a rate."""
    if math.isnan(rate):
        return 0.0
    return depth_of(rate) if kind is Kind.BYTES else max(LEAST_OPERATIONS, 5 * SLACK * rate)


def _more(served: float, rate: float, seconds: float) -> float:
    return served + rate * seconds if seconds > 0.0 and not math.isnan(rate) else served


def unpaced(now: float) -> Lane:
    """The lane of a new segment."""
    return Lane(0.0, math.nan, now, math.inf, math.nan, 0.0)


def slot_of(seq: int, lane: Lane) -> memoryview:
    """A lane as the eight words of a slot."""
    at, expiry = nanoseconds(lane.at), nanoseconds(lane.expiry)
    raw = bytearray(_LANE.pack(seq, lane.base, lane.rate, at, expiry, lane.fallback, lane.depth, 0))
    words = memoryview(raw).cast("Q")
    words[7] = exclusive_or(words)
    return words


def lane_of(words: list[int]) -> Lane:
    """The lane in the eight words of a slot."""
    _, base, rate, at, expiry, fallback, depth, _ = _LANE.unpack(_WORDS.pack(*words))
    return Lane(base, rate, seconds_of(at), seconds_of(expiry), fallback, depth)


def exclusive_or(words: Iterable[int]) -> int:
    """The check over a slot; 0 if the slot has its own."""
    check = _CHECK
    for word in words:
        check ^= word
    return check


def nanoseconds(seconds: float) -> int:
    """As times are kept."""
    return NEVER if seconds >= NEVER / 1e9 else round(seconds * 1e9)


def seconds_of(nanoseconds: int) -> float:
    """As times are told."""
    return math.inf if nanoseconds == NEVER else nanoseconds / 1e9


def number(rate: float | None) -> float:
    """A rate as it is kept: NaN is unpaced."""
    return math.nan if rate is None else rate
