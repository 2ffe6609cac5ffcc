"""The token bucket in a job, in bytes: `acquire(n)` pays for n bytes before they are moved, and waits until it can.

Waiters are served in the order they came, and only the first of them sleeps; the next is woken when it is done. What
the first has paid stays paid when the rate changes, so a chunk half paid is repriced. The bucket holds a slice and what
20 ms bring: with less, every late wake-up of the kernel would be bandwidth lost.

A rate may have an end. Past it the bucket goes on at the fallback rate without being told, so a process whose link
thread is stuck or gone still keeps to its lease.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

Clock = Callable[[], float]

SLACK = 0.02  # seconds: how late a sleeper may wake up without losing bandwidth
LEAST_SLICE, MOST_SLICE = 64 << 10, 1 << 20
LOOK_AGAIN = 1.0  # seconds: nobody sleeps longer without looking at the rate
GONE = 5.0  # seconds: whoever has not looked for so long does not hold up the others


def boottime() -> float:
    """Seconds on the clock that no one sets, and that runs while the host is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def slice_of(rate: float | None) -> int:
    """Bytes to move at a time: 20 ms worth, within bounds that keep both calls and bursts few."""
    return MOST_SLICE if rate is None else int(min(MOST_SLICE, max(LEAST_SLICE, SLACK * rate)))


def depth_of(rate: float) -> float:
    """The most that the bucket holds."""
    return slice_of(rate) + SLACK * rate


class Waiter:
    """Somebody who pays for `left` more bytes; `wake` is called when it should look again."""

    __slots__ = ("amount", "claim", "left", "seen", "since", "wake")

    def __init__(self, amount: float, left: float, wake: Callable[[], None], now: float) -> None:
        self.amount, self.left, self.wake = amount, left, wake
        self.since = self.seen = now
        self.claim: Any = None  # on what the processes of this node have in common


class Common(Protocol):
    """A bucket that other processes pay from, too."""

    def enter(self, amount: float, wake: Callable[[], None]) -> Any:
        """Wait for so many bytes."""

    def serve(self, claim: Any) -> float:
        """Seconds to wait before asking again, 0 when all is paid."""


class Gate:
    """What a waiting thread sleeps on; opening it twice is opening it once."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let the sleeper go."""
        with suppress(RuntimeError):  # open already
            self._lock.release()

    def sleep(self, seconds: float) -> None:
        """Until the gate is opened, at most so long."""
        self._lock.acquire(timeout=seconds)


class Bucket:
    """The bucket of one process; threads may share it. It starts empty."""

    def __init__(
        self,
        rate: float | None = None,
        expiry: float = math.inf,
        fallback: float | None = None,
        clock: Clock = boottime,
    ) -> None:
        self.admitted = 0.0  # bytes paid for so far
        self.waited = 0.0  # seconds, over all threads
        self.gate: Callable[[], Gate] = Gate
        self.common: Common | None = None  # is paid from, too, as long as no controller has named a rate
        self._clock = clock
        self._lock = threading.Lock()
        self._waiters: deque[Waiter] = deque()
        self._closed = False
        self._tokens = 0.0
        self._at = clock()
        self._rate, self._expiry, self._fallback = rate, expiry, fallback
        self._depth = 0.0 if rate is None else depth_of(rate)
        self._owed = 0.0  # what the first in line still has to pay; the bucket holds that on top of its depth
        self.slice = slice_of(rate)

    @property
    def rate(self) -> float | None:
        """In force now, bytes/s; None: unpaced."""
        with self._lock:
            self._settle(self._clock())
            return self._rate

    @property
    def granted(self) -> bool:
        """Whether the rate is a controller's word: only these have an end."""
        with self._lock:
            self._settle(self._clock())
            return self._expiry < math.inf

    @property
    def moved(self) -> float:
        """Bytes paid for by all who share the bucket."""
        return self.admitted

    def set_rate(self, rate: float | None, expiry: float = math.inf, fallback: float | None = None) -> None:
        """Pace at `rate` until `expiry`, then at `fallback`; None: unpaced."""
        with self._lock:
            if self._closed:
                return
            self._settle(self._clock())
            changed = rate != self._rate
            self._expiry, self._fallback = expiry, fallback
            if changed:
                self._use(rate)
                self._wake_first()

    def close(self) -> None:
        """Pace no more: whoever waits goes on."""
        with self._lock:
            self._closed = True
            self._expiry = math.inf
            self._use(None)
            self._wake_first()

    def acquire(self, amount: float) -> float:
        """Pay for so many bytes; the seconds this took."""
        with self._lock:
            left = amount if self._waiters else self._pay(amount)
            if left <= 0.0 and not self._in_common:
                self.admitted += amount
                return 0.0
        gate = self.gate()
        waiter = Waiter(amount, left, gate.open, self._clock())
        try:
            while pause := self.serve(waiter):
                gate.sleep(pause)
        finally:
            spent = self.leave(waiter)
        return spent

    def refund(self, amount: float) -> None:
        """Give back what was paid for and not moved, as at the end of a file."""
        with self._lock:
            self.admitted -= amount
            if self._rate is not None:
                self._tokens = min(self._depth, self._tokens + amount)
                self._wake_first()

    def enter(self, amount: float, wake: Callable[[], None]) -> Waiter:
        """Somebody who waits in its own way: `serve` until it gives 0, then `leave`, in any case."""
        return Waiter(amount, amount, wake, self._clock())

    def serve(self, waiter: Waiter) -> float:
        """Seconds to wait before asking again, 0 when all is paid."""
        with self._lock:
            waiter.seen = self._clock()
            if waiter not in self._waiters:
                self._waiters.append(waiter)
            if self._waiters[0] is not waiter:
                self._pass_over_the_gone(waiter.seen)
                return LOOK_AGAIN
            waiter.left = self._owed = self._pay(waiter.left)
            if waiter.left <= 0.0:
                if self._in_common and (pause := self._pay_in_common(waiter)):
                    return pause
                self.admitted += waiter.amount
                return 0.0
            rate = self._rate or 0.0
            soon = waiter.left / rate if rate > 0.0 else math.inf
            # Never 0, which would mean paid.
            return max(1e-6, min(soon, LOOK_AGAIN, self._expiry - self._at))

    def leave(self, waiter: Waiter) -> float:
        """Out of the line, served or not, and let the next one look; the seconds spent in it."""
        with self._lock:
            spent = self._clock() - waiter.since
            self.waited += spent
            if waiter in self._waiters:
                self._next_after(waiter)
            return spent

    @property
    def _in_common(self) -> bool:
        """Whether the rate is that of the whole node: nobody granted it, and it has no end."""
        return self.common is not None and self._rate is not None and self._expiry == math.inf

    def _pay_in_common(self, waiter: Waiter) -> float:
        assert self.common is not None
        if waiter.claim is None:
            waiter.claim = self.common.enter(waiter.amount, waiter.wake)
        return self.common.serve(waiter.claim)

    def _pass_over_the_gone(self, now: float) -> None:
        # An exception from a signal handler can end a thread's wait at any instruction, even in its clean-up.
        if now - self._waiters[0].seen > GONE:
            self._next_after(self._waiters[0])

    def _next_after(self, waiter: Waiter) -> None:
        if waiter is self._waiters[0]:
            self._owed, self._tokens = 0.0, min(self._tokens, self._depth)
        self._waiters.remove(waiter)
        self._wake_first()

    def _wake_first(self) -> None:
        if self._waiters:
            self._waiters[0].wake()

    def _pay(self, amount: float) -> float:
        """Take what there is, up to `amount`; what is still to be paid."""
        now = self._clock()
        rate = self._rate
        if rate is None or now >= self._expiry:
            self._settle(now)
            rate = self._rate
            if rate is None:
                return 0.0
        tokens = self._tokens + rate * (now - self._at)
        most = self._depth + self._owed
        if tokens > most:  # noqa: PLR1730 - a call of min would be a tenth of the whole
            tokens = most
        self._at = now
        if tokens >= amount:
            self._tokens = tokens - amount
            return 0.0
        self._tokens = 0.0
        return amount - tokens

    def _settle(self, now: float) -> None:
        """Fill up to `now` at the rates in force until then."""
        if now >= self._expiry:
            self._fill(self._expiry)
            self._expiry = math.inf
            self._use(self._fallback)
        self._fill(now)

    def _fill(self, now: float) -> None:
        if self._rate is not None:
            self._tokens = min(self._depth + self._owed, self._tokens + self._rate * max(0.0, now - self._at))
        self._at = max(self._at, now)

    def _use(self, rate: float | None) -> None:
        self._depth = 0.0 if rate is None else depth_of(rate)
        self._tokens = min(self._tokens, self._depth + self._owed)
        self._rate, self.slice = rate, slice_of(rate)
