"""How much of the controller one peer may take from the others: connections, members, frames, patience."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
C = TypeVar("C")

FORGET_BAD = 60.0  # seconds in which bad frames count, and for which their sender is refused then
HOST_OF_MANY = 30  # times as many bad frames are borne from another host as from one process of this one
CROWD_PASSES = 2.0  # seconds after which one that met a crowd at the door may come again
LONG_ENOUGH = 1.0  # seconds in which whoever means it has shown who they are, even in a crowd
SPARE = 50  # connections above the limits, for operators of this host


@dataclass(frozen=True)
class Quotas:
    """The limits, with what suits a machine of a few thousand nodes."""

    connections: int = 20_000
    connections_per_uid: int = 256
    unauthenticated: int = 500
    authenticate_seconds: float = 5.0
    bad_frames: int = 3  # of one process in a minute
    frames_per_second: float = 50.0
    frames_burst: float = 200.0


class Doorman(Generic[C]):
    """Counts who is there. `exempt` are users that may have as many connections as they like.

    Whoever has not shown who they are is a stranger. There is room for some; when it is full, the peer with the most of
    them gives one up for a newcomer from elsewhere, so that no user and no host can stand in the door for all others.
    One that has stood there for long gives way also to its like: many users come from one host. Operators of this host
    find a place when there is none for anybody else.
    """

    def __init__(self, quotas: Quotas, exempt: frozenset[int] = frozenset()) -> None:
        self._quotas, self._exempt = quotas, exempt
        self.connections = 0
        self.unauthenticated = 0
        self._strangers: dict[str, dict[C, float]] = {}  # of each peer, the oldest first, with when they came
        self._by_uid: Counter[int] = Counter()
        self._bad: defaultdict[str, deque[float]] = defaultdict(deque)

    def may_connect(
        self, now: float, address: str, peer: str, host: bool = False, operator: bool = False
    ) -> tuple[str, float] | None:
        """Why a new connection is refused, and for how many seconds; None: it is not.

        `peer` is its user or, with `host`, another host, whose address many users and jobs have in common.
        """
        spare = SPARE if operator else 0
        if self.connections >= self._quotas.connections + spare:
            return f"this controller takes {self._quotas.connections:,} connections", FORGET_BAD
        crowded = self.unauthenticated >= self._quotas.unauthenticated + spare
        if crowded and self._gives_way(now, peer) is None:
            return "too many connections are being let in at this moment", CROWD_PASSES
        most = self._quotas.bad_frames * (HOST_OF_MANY if host else 1)
        if address in self._bad and len(self._recent(now, address)) >= most:
            return f"{most} frames from {address} were bad; wait a minute", FORGET_BAD
        return None

    def connected(self, now: float, peer: str, connection: C) -> C | None:
        """A connection is there, of nobody knows whom; the one that has to go for it, if any."""
        displaced = None
        if self.unauthenticated >= self._quotas.unauthenticated and (found := self._gives_way(now, peer)):
            self._no_stranger(*found)
            displaced = found[1]
        self.connections += 1
        self.unauthenticated += 1
        self._strangers.setdefault(peer, {})[connection] = now
        return displaced

    def admitted(self, peer: str, connection: C, uid: int | None) -> str | None:
        """Somebody showed who they are; why there is no place for them, or None. `uid` is None where a job vouches."""
        if uid is not None and uid not in self._exempt and self._by_uid[uid] >= self._quotas.connections_per_uid:
            return f"user {uid} has {self._quotas.connections_per_uid:,} connections already"
        self._no_stranger(peer, connection)
        if uid is not None:
            self._by_uid[uid] += 1
        return None

    def left(self, peer: str, connection: C, uid: int | None, authenticated: bool) -> None:
        """A connection is gone."""
        self.connections -= 1
        self._no_stranger(peer, connection)
        if authenticated and uid is not None:
            _less(self._by_uid, uid)

    def bad_frame(self, now: float, address: str) -> None:
        """Somebody at an address sent what is no frame."""
        if len(self._bad) > self._quotas.connections:
            self._bad = defaultdict(deque, {at: times for at in list(self._bad) if (times := self._recent(now, at))})
        self._recent(now, address).append(now)

    def _gives_way(self, now: float, peer: str) -> tuple[str, C] | None:
        """The stranger that has to go for a newcomer of `peer`, and whose it is; None: they are all as good."""
        own = self._strangers.get(peer, {})
        crowd, most = max(self._strangers.items(), key=lambda each: len(each[1]), default=(peer, own))
        if len(most) > len(own):
            return crowd, next(iter(most))
        if own:
            oldest, came = next(iter(own.items()))
            if now >= came + LONG_ENOUGH:
                return peer, oldest
        return None

    def _no_stranger(self, peer: str, connection: C) -> None:
        """It is known, or gone, or has to go."""
        own = self._strangers.get(peer, {})
        if connection in own:
            del own[connection]
            self.unauthenticated -= 1
            if not own:
                del self._strangers[peer]

    def _recent(self, now: float, address: str) -> deque[float]:
        times = self._bad[address]
        while times and times[0] <= now - FORGET_BAD:
            times.popleft()
        if len(times) > self._quotas.bad_frames * HOST_OF_MANY:
            times.popleft()
        return times


class Allowance:
    """Something that may happen so often a second, and in a burst after silence."""

    def __init__(self, rate: float, burst: float, now: float) -> None:
        self._rate, self._most = rate, burst
        self._left, self._since = self._most, now

    def wait(self, now: float) -> float:
        """Seconds until the next one may come; 0: now."""
        self._left = min(self._most, self._left + (now - self._since) * self._rate)
        self._since = now
        return 0.0 if self._left >= 1.0 else (1.0 - self._left) / self._rate

    def take(self) -> None:
        """One has come."""
        self._left -= 1.0


def _less(counter: Counter[K], key: K) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
