"""The agent's jobs, all of a node behind one connection: every member has a lane, a number that is never used again.

To its member a lane is a link of its own: it comes up with the connection, or when the member dials; it goes down with
the connection, or when the controller ends it. What the process around has to do comes out of `out`, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import msgspec

from penstock.client.agent.node_job import NodeJob, Pool
from penstock.client.events import (
    Dial,
    HangUp,
    LinkDown,
    LinkUp,
    LogLine,
    Output,
    Received,
    SendTo,
    Switch,
    Timer,
    WakeAt,
)
from penstock.client.member import Member, MemberSettings
from penstock.wire.messages import (
    BYTES,
    OPERATIONS,
    BadFrame,
    Goodbye,
    Hook,
    InLane,
    Message,
    Registered,
    Via,
    Welcome,
    body_of,
    read_client,
    read_controller,
)

Key = tuple[str, int]  # job and restart
Log = Callable[[str, str, bool], None]  # job, text, warning


class Slot(msgspec.Struct, eq=False):
    """A job, and where its link stands."""

    job: NodeJob
    lane: int = 0  # 0: none is open
    dial_at: float = 0.0


class NodeAgent:
    """The members of a node. `send` is what the connection says; without a welcome there is none."""

    def __init__(self, node: str, send: Callable[[Message], None], log: Log = lambda job, text, warning: None) -> None:
        self.node = node
        self.slots: dict[Key, Slot] = {}
        self.on_names: dict[Key, Slot] = {}  # the same jobs, by what they do on names, where that is shared
        self._lanes: dict[int, Slot] = {}
        self._send, self._log = send, log
        self._welcome: Welcome | None = None
        self._last_lane = 0
        self._req = 0
        self._ends: dict[int, tuple[str, Hook]] = {}  # that no controller has answered
        self._now = 0.0
        self._alone: Callable[[Key], None] | None = None

    # What the batch system says.

    def begin(self, t: float, settings: MemberSettings, pool: Pool, restart: int = 0) -> NodeJob:
        """A job runs here from now on."""
        self._now = t
        job = NodeJob(Member(settings), pool, self._do, restart)
        slot = self.slots[settings.job, restart] = Slot(job, dial_at=t)
        self._share()
        job.begin(t)
        self._raise(t, slot)
        return job

    def end(self, t: float, job: str, restart: int, file: str = "") -> None:
        """A life of a job is over on this node: its segment goes, and its charge with it.

        `file` is what is kept until the controller has answered; see `answered`.
        """
        self._now = t
        for slots in (self.on_names, self.slots):
            if (slot := slots.get((job, restart))) is not None:
                slot.job.end(t)
                self._close(slot)
                slot.job.pool.remove()
                del slots[job, restart]
        self._share()
        self._req += 1
        self._ends[self._req] = file, Hook(self._req, "job_end", job, self.node, restart=restart)
        self._say_ends([self._req])

    def answered(self, req: int) -> str:
        """The file of the end that the controller has answered, if this is about one."""
        end = self._ends.pop(req, None)
        return end[0] if end is not None else ""

    def give_up_ends(self) -> list[str]:
        """The files of all ends, which this controller does not want to hear of."""
        files, self._ends = [file for file, _ in self._ends.values()], {}
        return files

    # What the connection does.

    def up(self, t: float, welcome: Welcome) -> None:
        """The controller has let us in."""
        self._now, self._welcome = t, welcome
        for slot in self._all():
            if t >= slot.dial_at:
                self._raise(t, slot)
        self._say_ends(list(self._ends))

    def down(self, t: float, reason: str, warning: bool = False) -> None:
        """The connection is lost, or there is none to be had."""
        self._now, self._welcome = t, None
        self._lanes.clear()
        for slot in self._all():
            if slot.lane:
                slot.lane = 0
                slot.job.step(t, LinkDown(reason, warning))
                slot.dial_at = t  # the connection is dialled with a spread already

    def heard(self, t: float, message: Message) -> None:
        """The controller says something, in a lane or to the node."""
        self._now = t
        if not isinstance(message, InLane) or (slot := self._lanes.get(message.lane)) is None:
            return
        said = _read(message.body)
        if isinstance(said, Goodbye):
            self._lanes.pop(message.lane)
            if slot.lane == message.lane:
                slot.lane = 0
                slot.job.step(t, LinkDown(said.reason))
        elif said is not None:
            slot.job.step(t, Received(said))
            if isinstance(said, Registered) and said.operations > 0.0:
                self._begin_on_names(t, slot)

    def _begin_on_names(self, t: float, slot: Slot) -> None:
        """The controller shares operations on names, too: they have a member of their own."""
        job = slot.job
        pool, key = job.pool.names(), (job.name, job.restart)
        if pool is not None and key not in self.on_names:
            given = job.member.settings
            settings = replace(given, kind=OPERATIONS, fallbacks={}, fallback_words="nobody has named a rate")
            second = NodeJob(Member(settings), pool, self._do, job.restart)
            slot = self.on_names[key] = Slot(second, dial_at=t)
            self._share()
            second.begin(t)
            self._raise(t, slot)

    def switch(self, t: float, on: bool) -> None:
        """Somebody turned pacing off for all of this host, or on again."""
        self._now = t
        for slot in self._all():
            slot.job.step(t, Switch(on))

    # A controller that knows no nodes: every member has a connection of its own.

    def go_alone(self, t: float, dial: Callable[[Key], None]) -> None:
        """Have `dial` called for every member, now and whenever it dials anew."""
        self._now, self._alone = t, dial
        for slot in list(self.slots.values()):
            self._raise(t, slot)

    @property
    def next_lane(self) -> int:
        """The number that the next lane will have."""
        return self._last_lane + 1

    def alone_up(self, t: float, key: Key, welcome: Welcome) -> None:
        """A member was let in."""
        self._now = t
        self._enter(t, self.slots[key], welcome)

    def alone_heard(self, t: float, key: Key, message: Message) -> None:
        """A member is told something."""
        self._now = t
        self.slots[key].job.step(t, Received(message))

    def alone_lost(self, t: float, key: Key, reason: str, warning: bool) -> None:
        """The connection of a member is over, or there is none to be had; it dials again when it likes."""
        self._now = t
        if (slot := self.slots.get(key)) is not None:
            self._lanes.pop(slot.lane, None)
            slot.lane = 0
            slot.job.step(t, LinkDown(reason, warning))

    # What time brings.

    def look(self, t: float) -> None:
        """See what all jobs do, and open lanes that are due."""
        self._now = t
        for slot in self._all():
            slot.job.look(t)
            if t >= slot.dial_at:
                self._raise(t, slot)

    def due(self, t: float) -> None:
        """Only what time brings: no segment is looked at."""
        self._now = t
        for slot in self._all():
            if t >= slot.job.wake:
                slot.job.step(t, Timer())
            if t >= slot.dial_at:
                self._raise(t, slot)

    @property
    def wake(self) -> float:
        """When something is due, whatever jobs do."""
        linked = self._welcome is not None or self._alone is not None
        dials = (slot.dial_at for slot in self._all()) if linked else ()
        soonest: float = min([inf, *(slot.job.wake for slot in self._all()), *dials])
        return soonest

    # What members say.

    def _do(self, job: NodeJob, output: Output) -> None:
        known = self.slots if job.member.settings.kind == BYTES else self.on_names
        slot = known.get((job.name, job.restart))
        match output:
            case SendTo(message):
                if slot is not None and slot.lane:
                    self._send(Via(slot.lane, body_of(message)))
            case WakeAt(time):
                job.wake = time
            case LogLine(text, warning):
                self._log(job.name, text, warning)
            case Dial(after):
                if slot is not None:
                    self._close(slot)
                    slot.dial_at = self._now + after
            case HangUp():
                if slot is not None:
                    self._close(slot)
                    slot.dial_at = inf

    def _raise(self, t: float, slot: Slot) -> None:
        """Open a lane for a member, if there is a connection to have it in."""
        if slot.lane or (self._welcome is None and self._alone is None):
            return
        slot.dial_at = inf
        if self._welcome is not None:
            self._enter(t, slot, self._welcome)
        elif self._alone is not None:
            self._alone((slot.job.name, slot.job.restart))

    def _enter(self, t: float, slot: Slot, welcome: Welcome) -> None:
        self._last_lane += 1
        slot.lane, slot.dial_at = self._last_lane, inf
        self._lanes[slot.lane] = slot
        slot.job.step(t, LinkUp(welcome))

    def _close(self, slot: Slot) -> None:
        if slot.lane:
            self._lanes.pop(slot.lane, None)
            self._send(Via(slot.lane))
            slot.lane = 0

    def _share(self) -> None:
        """All jobs of a node together use what a node may that nobody tells a rate."""
        for slot in self._all():
            slot.job.share(max(1, len(self.slots)))

    def _all(self) -> list[Slot]:
        return [*self.slots.values(), *self.on_names.values()]

    def _say_ends(self, which: Sequence[int]) -> None:
        """Tell what jobs have ended here; again when there is a new connection, until it is answered."""
        for req in which if self._welcome is not None else ():
            self._send(self._ends[req][1])


def _read(body: bytes) -> Message | None:
    """What the controller says in a lane; a Goodbye is said by both sides."""
    try:
        return read_controller(body)
    except BadFrame:
        try:
            said = read_client(body)
        except BadFrame:
            return None
        return said if isinstance(said, Goodbye) else None
