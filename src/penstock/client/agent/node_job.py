"""One job on this node: what its segment shows becomes phases, and what its member is told becomes the segment's rate.

The member is that of any client (`client/member.py`) and keeps its rules; only its link is a lane of the node's
connection. Between two phases the segment lets a burst begin unasked (`phase_watch.UNASKED`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol

from penstock.client.agent.phase_watch import FIRST_OPERATIONS, Begun, More, News, Over, PhaseWatch, Reading, Refill
from penstock.client.events import Begin, End, Event, ExtendPhase, Leave, Output, Outside, Progress, SetRate, Timer
from penstock.client.member import Member
from penstock.wire.messages import METADATA, OPERATIONS

MOST_NEWS = 8  # at one look: a phase may be over and another begun, and not much more


class Pool(Protocol):
    """What the processes of a job pay from: its segment, or a stand-in for tests and load tests."""

    def look(self) -> Reading:
        """What was moved, and who waits."""

    def set_rate(self, rate: float | None, expiry: float, fallback: float | None) -> None:
        """Let bytes through at this rate until `expiry`, then at the fallback; None: unpaced."""

    def rest(self, fallback: float | None) -> None:
        """Let the next burst begin unasked, and nothing more."""

    def remove(self) -> None:
        """The job has ended here."""

    def names(self) -> Pool | None:
        """What operations on names are paid from; None: they are not paced."""


Do = Callable[["NodeJob", Output], None]


class NodeJob:
    """A job on this node, from its start to its epilog. `do` carries out what the member says."""

    def __init__(self, member: Member, pool: Pool, do: Do, restart: int = 0) -> None:
        self.member, self.pool, self.restart = member, pool, restart
        on_names = member.settings.kind == OPERATIONS
        self.watch = PhaseWatch(first=FIRST_OPERATIONS) if on_names else PhaseWatch()
        self._do = do
        self.wake = inf
        self.shared_by = 1  # jobs of this node: all of them together use what a node may that nobody tells a rate
        self.program = ""  # a digest of what the job runs, once it is known
        self._told: SetRate | None = None  # while a phase is open

    @property
    def name(self) -> str:
        """The job's name, as the batch system has it."""
        return self.member.settings.job

    def begin(self, t: float) -> None:
        """Find the segment as it is: an agent before this one may have made it, and bytes may have moved since."""
        self.watch.base = self.pool.look().moved
        self._rest()
        self.step(t, Timer())

    def look(self, t: float) -> None:
        """See what the job does, and whether time brings something."""
        seen = self.pool.look()
        for _ in range(MOST_NEWS):
            news = self.watch.look(t, seen)
            if news is None:
                break
            self._tell(t, news, seen)
        if self.watch.open:
            self.step(t, Progress(min(seen.moved - self.watch.base, self.watch.volume)))
        elif t >= self.wake:
            self.step(t, Timer())

    def past(self, t: float, outside: float, why: str) -> bool:
        """So many bytes of the job went past the segment; whether that is news: the first, and twice as many."""
        before = self.member.outside[0]
        if outside > before:
            self.step(t, Outside(outside, why))
        return outside > 2.0 * before

    def end(self, t: float) -> None:
        """The job has ended here: nothing of it moves any more, so the member may say goodbye."""
        if self.watch.open:
            self.step(t, End(self.pool.look().moved - self.watch.base))
        self.step(t, Leave("its job has ended here"))

    def share(self, jobs: int) -> None:
        """So many jobs are on this node now."""
        if jobs != self.shared_by:
            self.shared_by = jobs
            if self._told is not None:
                self._pace(self._told)
            else:
                self._rest()

    def step(self, t: float, event: Event) -> None:
        """Let the member take an event, and do what it says."""
        self.wake = inf
        for output in self.member.step(t, event):
            if isinstance(output, SetRate):
                self._pace(output)
            else:
                self._do(self, output)

    def _tell(self, t: float, news: News, seen: Reading) -> None:
        match news:
            case Begun(volume, confidence, _):
                way = METADATA if self.member.settings.kind == OPERATIONS else "read" if seen.read else "write"
                self.step(t, Begin(volume, way, (), confidence, self.program if confidence < 1.0 else ""))
            case More(volume):
                self.step(t, ExtendPhase(volume))
            case Over(done):
                self.step(t, End(done))
            case Refill():
                self._rest()

    def _pace(self, told: SetRate) -> None:
        """Without a phase the pacer rests; the member's word on that is rate 0 for ever."""
        if self.member.op is None:
            self._told = None
            self._rest()
            return
        self._told = told
        # What no lease ends is no grant: it is the member's fallback, of which others on this node have their part.
        rate = self._part(told.rate) if told.expiry == inf else told.rate
        self.pool.set_rate(rate, told.expiry, self._part(told.fallback))

    def _rest(self) -> None:
        self.pool.rest(self._part(self.member.fallback))

    def _part(self, rate: float | None) -> float | None:
        return None if rate is None else rate / self.shared_by
