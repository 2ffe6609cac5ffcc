"""The turn: gather what happened, let the core step once, write its records, and only then send what it says.

Everything that arrives in one round of the event loop makes one turn with one time. While the disk refuses the records,
nobody's rate is raised: a member is told at most what it was told before, which is charged already, so leases go on;
after a minute the controller lets everybody go unpaced and says so. It does that only if a mark is left that the next
start will find; else it tells nobody anything, and everybody goes on at the fallback.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time as clocks
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import msgspec

from penstock.live.core import Core, checks
from penstock.live.core.admin import is_look
from penstock.live.core.events import (
    Close,
    Closed,
    Connected,
    Frame,
    Identity,
    Input,
    Output,
    Send,
    Tick,
    WakeAt,
    WriteRecords,
)
from penstock.live.core.notices import Notices
from penstock.live.core.state import PAUSED, RUN
from penstock.live.journal import JournalWriter as Pen
from penstock.live.server.audit import AuditLog
from penstock.live.server.capacity_watch import CapacityWatch
from penstock.live.server.counters import Counters, of_state
from penstock.live.server.deaths import Deaths
from penstock.live.server.handshake import Admit, House, Refuse
from penstock.live.server.lanes import Lane
from penstock.live.server.log import LogWriter
from penstock.live.server.looks import Looks
from penstock.live.server.munge import Munge
from penstock.live.server.own_jobs import NoAnswer, OwnJobs
from penstock.live.server.post_times import PostTimes
from penstock.live.server.protocol import Connection
from penstock.live.server.quotas import Doorman, Quotas
from penstock.live.server.site_file import SiteFile
from penstock.live.server.tally import Tally
from penstock.live.server.unpaced import Mark
from penstock.live.standby.leadership import Leader
from penstock.wire.messages import (
    FREE,
    MONITOR,
    Admin,
    Answer,
    Error,
    FromClient,
    Hook,
    Message,
    Notice,
    Post,
    Rate,
    Registered,
)

RETRY = 1.0  # seconds between two tries to write what the disk refused
SAY_AGAIN = 60.0  # seconds between two complaints about a policy that fails
PATIENCE = 60.0  # seconds until everybody goes unpaced
FENCED = 3  # the exit code of a controller that another has succeeded
US = 0  # the session in which the controller gives orders to itself


class Clock:
    """Seconds that never fall, also from boot to boot: those of the machine, which pass in its sleep, and an offset."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset

    def __call__(self) -> float:
        """The time now."""
        return clocks.clock_gettime(clocks.CLOCK_BOOTTIME) + self.offset


class Shell:
    """Between the core, which knows no world, and the world."""

    def __init__(
        self,
        core: Core,
        pen: Pen,
        house: House,
        quotas: Quotas,
        log: LogWriter,
        loop: asyncio.AbstractEventLoop,
        clock: Callable[[], float] | None = None,
        munge: Munge | None = None,
        sync: bool = False,
        warnings: Sequence[str] = (),
        mark: Mark | None = None,
        site: SiteFile | None = None,
        leader: Leader | None = None,
    ) -> None:
        self.core, self.pen, self.house, self.quotas, self.log, self.loop = core, pen, house, quotas, log, loop
        self.clock = clock or Clock()
        self.munge = munge or Munge()
        self.doorman: Doorman[Connection] = Doorman(quotas, frozenset({0, house.own_uid}))
        self.counters, self.audit = Counters(), AuditLog(log, loop.time)
        self.post_times, self.tally = PostTimes(clocks.perf_counter), Tally(core.state)
        self.capacity_watch = CapacityWatch([each.name for each in core.state.settings.resources])
        self.connections: dict[int, Connection | Lane] = {}
        self.on_end: Callable[[int], None] = lambda code: None
        self._sync, self._warnings = sync, warnings
        self._last_session = US
        self._inputs: list[Input] = []
        self._due = False
        self._wake: asyncio.TimerHandle | None = None
        self._unsynced: deque[tuple[int, list[Output]]] = deque()
        self._own, self._answering = OwnJobs(pen.folder), set[asyncio.Task[None]]()
        self._looks, self._notices = Looks(core, loop, self._say, self._put), Notices()
        self._deaths = Deaths(core.state, loop, house.lease, self._put)
        self._mark = mark or Mark()
        self._site = site or SiteFile(None, "paced")
        self._leader = leader
        self._capacity: list[float] = []
        self._said_by: int | None = None  # the record up to which the journal says what the mark does
        self._trouble_since: float | None = None
        self._gave_up = self._silent = False
        self._ended = False
        self._failures, self._said_at = core.state.failures, -SAY_AGAIN  # of the policy, and when they were last told

    # What connections tell.

    def new_session(self) -> int:
        """A number that nobody had before in this epoch."""
        self._last_session += 1
        return self._last_session

    def may_enter(self, connection: Connection, admit: Admit) -> Error | None:
        """Why somebody who showed who they are is still not let in."""
        identity = admit.identity
        if admit.epoch_seen > self.house.epoch and not identity.trusted:
            return self._newer_epoch(connection, admit.epoch_seen)
        uid = identity.uid if identity.job is None else None
        if full := self.doorman.admitted(connection.peer.owner, connection, uid):
            return Error(0, "quota", full, fatal=True, retry_after=60.0)
        return None

    def entered(self, connection: Connection | Lane, admit: Admit) -> None:
        """Somebody was let in."""
        assert connection.session is not None
        self.connections[connection.session] = connection
        self.counters.admitted += 1
        self._put(Connected(connection.session, admit.identity, admit.epoch_seen))
        self.audit.write("connected", connection, agent=admit.agent)

    def refused(self, connection: Connection | Lane, refuse: Refuse) -> None:
        """Somebody was not let in, or is sent away."""
        self.counters.refused += 1
        self.audit.refused(connection, refuse)

    def heard(self, connection: Connection | Lane, message: FromClient) -> None:
        """Somebody who was let in says something."""
        self.counters.frames += 1
        assert connection.session is not None and connection.identity is not None
        if getattr(message, "epoch", 0) > self.house.epoch and not connection.identity.trusted:
            connection.refuse(self._newer_epoch(connection, message.epoch))  # type: ignore[union-attr]
            return
        if isinstance(message, Post):
            self.post_times.posted(connection.session, message)
        elif isinstance(message, Admin):
            self.audit.command(connection, message)
            if message.verb == "explain":
                self._answering.add(answering := self.loop.create_task(self._explain(connection, message)))
                answering.add_done_callback(self._answering.discard)
                return
            if connection.identity.role == "admin" and self._did(connection, message):
                return
            if is_look(message.verb):
                self._looks.ask(connection.session, message)
                return
            if message.verb == "policy" and isinstance(name := message.args.get("name"), str):
                looked_up = self.loop.run_in_executor(None, self._look_up, name)
                looked_up.add_done_callback(partial(self._put_later, Frame(connection.session, message)))
                return
        elif isinstance(message, Hook):
            self.audit.write("hook", connection, says=message.kind, about=message.job, node=message.node or None)
        self._put(Frame(connection.session, message))

    async def _explain(self, connection: Connection | Lane, message: Admin) -> None:
        """Tell a user why a job of its own waited."""
        assert connection.identity is not None
        try:
            job = checks.name(str(message.args.get("job", "")), "job")
            answer: Message = Answer(message.req, await self._own.explain(connection.identity.uid, job))
        except (NoAnswer, checks.Refused) as error:
            answer = Error(message.req, "value", str(error))
        if connection.session is not None:
            self._say(connection.session, answer)

    def gone(self, connection: Connection | Lane) -> None:
        """A connection is over; if its process is, too, its charge is free at once."""
        assert connection.session is not None and connection.identity is not None
        del self.connections[connection.session]
        self.post_times.gone(connection.session)
        self._put(Closed(connection.session))
        self.audit.closed(connection)
        if connection.member is not None and connection.identity.pid is not None:
            self._deaths.watch(connection.identity.pid, connection.session, connection.member)

    def _newer_epoch(self, connection: Connection | Lane, epoch: int) -> Error:
        """What to tell a user who has met a higher epoch: that word alone would let any user stop the controller.

        Clients heed no epoch below the highest that they have met, so nobody is given anything twice.
        """
        self.log.error("newer epoch seen", address=connection.peer.address, epoch=epoch)
        text = f"you have met epoch {epoch}; this controller is in epoch {self.house.epoch}"
        return Error(0, "fenced", text, fatal=True)

    # The turn.

    def begin(self) -> None:
        """Take the first step, before anybody is listened to."""
        if self._mark.there:
            self.log.error("journal", problem="the controller before could not write it", effect="everybody is unpaced")
            self.order("mode", mode="pause")
        self._turn()

    def order(self, verb: str, **args: Any) -> None:
        """Give the core an order of our own."""
        identity = Identity("peer", self.house.own_uid, "admin", trusted=True)
        self._put(Connected(US, identity))
        self._put(Frame(US, Admin(0, verb, args)))
        self._put(Closed(US))

    def _put(self, event: Input) -> None:
        self._inputs.append(event)
        if not self._due:
            self._due = True
            self.loop.call_soon(self._round)

    def _look_up(self, policy: str) -> None:
        """Find a policy, and so compile it, in a thread, lest everybody waits. What is wrong with it the core says."""
        with contextlib.suppress(Exception):
            self.core.resolve(policy)

    def _put_later(self, event: Input, _: object) -> None:
        self._put(event)

    def _round(self) -> None:
        """A turn. A fault of ours in it is told, and another turn comes: leases must go on for everybody else."""
        try:
            self._turn()
        except Exception as error:
            *_, at = traceback.extract_tb(error.__traceback__)
            where = f"{os.path.basename(at.filename)}, line {at.lineno}"
            self.log.error("internal", problem=f"{type(error).__name__}: {error}", where=where)
            self.loop.call_later(RETRY, self._woken)

    def _turn(self) -> None:
        self._due = False
        inputs, self._inputs = self._inputs or [Tick()], []
        if not self.leads():
            return
        began = clocks.perf_counter()
        now = self.clock()
        outputs = self.core.step(now, inputs)
        self._record(now, outputs)
        self.counters.turned(len(inputs), clocks.perf_counter() - began)
        if self._mark.there and self.pen.problem is None:
            self._written_after_all()
        if self._capacity != self.core.state.capacity:
            self._keep_site()
        if self.core.state.failures > self._failures:
            self._policy_failed(now)
        if self._notices.is_time(self.core):
            self._looks.make(self._notices.look(self.core), self._tell_waiting)
        if self.pen.snapshot_due(now):
            self.pen.snapshot(now, self.core.state.snapshot())
        if self.core.state.fenced and not self._ended:
            self._ended = True
            self.log.error("fenced", epoch=self.house.epoch)
            self.on_end(FENCED)

    def leads(self) -> bool:
        """Whether what was taken in may be acted on, and what is to be sent may leave: once not so, never again.

        Where another may take over, this looks at the clock. The moment the lease is over all links are cut, with
        whatever waits in them.
        """
        if self._leader is None or (not self._ended and self._leader.leads()):
            return True
        if not self._ended:
            self._ended = True
            self.log.error("lease lost", epoch=self.house.epoch, effect="nothing more is sent")
            for connection in list(self.connections.values()):
                connection.abort()
            self.on_end(FENCED)
        return False

    def _keep_site(self) -> None:
        """Let jobs know that have not met us what a node may use."""
        self._capacity = list(self.core.state.capacity)
        self._site.keep(self.core.state)
        if self._site.problem:
            self.log.error("site file", problem=self._site.problem)

    def _watch_capacity(self, now: float) -> None:
        state, tally = self.core.state, self.tally
        self.capacity_watch.look(
            now, state.mode == RUN, state.capacity, state.charges.used, tally.achieved, tally.granted
        )

    def _policy_failed(self, now: float) -> None:
        """Say so, but not at every decision."""
        self._failures = self.core.state.failures
        if now >= self._said_at + SAY_AGAIN:
            self._said_at = now
            self.log.error("policy", problem=self.core.state.last_failure, failures=self._failures)

    def _record(self, now: float, outputs: list[Output]) -> None:
        records = [output.record for output in outputs if isinstance(output, WriteRecords)]
        seq = self.pen.write(now, records) if records else self.pen.seq
        self.counters.records += len(records)
        self.tally.take(records)
        self.tally.look(now)
        self._watch_capacity(now)
        if self.pen.problem is not None and self._trouble_since is None:
            self._in_trouble(now)
        if self._sync and self._trouble_since is None and (seq > self.pen.synced or self._unsynced):
            self._unsynced.append((seq, outputs))
            return
        self._carry_out(outputs)

    def synced(self, seq: int) -> None:
        """The records up to this one are on the disk, so what came after them may be sent."""
        while self._unsynced and self._unsynced[0][0] <= seq:
            self._carry_out(self._unsynced.popleft()[1])

    def _carry_out(self, outputs: list[Output]) -> None:
        wake = None
        for output in outputs:
            if isinstance(output, Send):
                self._send(output.session, output.message)
            elif isinstance(output, Close):
                if (connection := self.connections.get(output.session)) is not None:
                    self.audit.write("sent away", connection, code=output.code)
                    connection.close()
            elif isinstance(output, WakeAt):
                wake = output.time if wake is None else min(wake, output.time)
        if self._wake is not None:
            self._wake.cancel()
        self._wake = None if wake is None else self.loop.call_later(max(0.0, wake - self.clock()), self._woken)

    def _woken(self) -> None:
        if not self._due:
            self._round()

    def _send(self, session: int, message: Message) -> None:
        if (connection := self.connections.get(session)) is None:
            return
        if isinstance(message, Rate):
            if self._silent:
                return
            self.counters.rates += 1
            if self._trouble_since is not None and not (message.flags & (FREE | MONITOR) and self._mark.make()):
                message = _not_raised(message, connection.rate)
            self.post_times.told(session, message)
        elif isinstance(message, Error):
            self.counters.errors += 1
        elif isinstance(message, Registered):
            connection.member = (message.app, message.member)
        connection.send(message)

    def _say(self, session: int, message: Message) -> None:
        """Tell somebody who is still there something that no turn has to do with."""
        if (connection := self.connections.get(session)) is not None:
            connection.send(message)

    def _tell_waiting(self, notices: list[tuple[int, Notice]]) -> None:
        for session, notice in notices:
            self._say(session, notice)

    # A disk that refuses.

    def _in_trouble(self, now: float) -> None:
        self._trouble_since, self._gave_up, self._said_by = now, False, None
        self.core.frozen = True
        self.log.error("journal", problem=self.pen.problem, effect=f"no rate is raised; unpaced in {PATIENCE:g} s")
        self.synced(self.pen.seq)
        self.loop.call_later(RETRY, self._try_again)

    def _try_again(self) -> None:
        now = self.clock()
        assert self._trouble_since is not None
        if self.pen.retry(now, self.core.state.snapshot):
            self._trouble_since, self.core.frozen, self._silent = None, False, False
            self._put(Tick())
            paused = self.core.state.chosen == PAUSED
            effect = "everybody is unpaced until an operator sets the mode" if paused else "rates are raised again"
            self.log.warning("journal", problem="none any more", effect=effect)
            return
        self.loop.call_later(RETRY, self._try_again)
        if now - self._trouble_since >= PATIENCE and not self._gave_up:
            self._give_up()

    def _written_after_all(self) -> None:
        """Take the mark away once the disk has what it stands for."""
        if self._said_by is None:
            self._said_by = self.pen.seq
        elif self.pen.synced >= self._said_by:
            self._mark.remove()

    def _give_up(self) -> None:
        """Let everybody go, if the next start will know of it; else leave everybody to the fallback."""
        self._gave_up = True
        self._silent = not self._mark.make()
        effect = "everybody goes on at the fallback" if self._silent else "everybody goes unpaced"
        self.log.error("journal", problem=self.pen.problem, effect=effect)
        if not self._silent:
            self.order("mode", mode="pause")

    # What operators ask of the shell itself.

    def figures(self) -> dict[str, Any]:
        """How the shell is."""
        return {
            "connections": self.doorman.connections,
            "unauthenticated": self.doorman.unauthenticated,
            "journal": {"seq": self.pen.seq, "synced": self.pen.synced, "problem": self.pen.problem},
            "warnings": [*self._warnings, *self._troubles(), *self.capacity_watch.warnings(self.clock())],
            "capacity_doubts": [asdict(doubt) for doubt in self.capacity_watch.doubts(self.clock())],
            "leader": None if self._leader is None else self._leader.figures(),
            **self.counters.figures(),
        }

    def _troubles(self) -> list[str]:
        problems = {"journal": self.pen.problem, "site file": self._site.problem}
        return [f"{name}: {problem}" for name, problem in problems.items() if problem]

    def all_figures(self) -> dict[str, Any]:
        """How the shell and the core are, in numbers."""
        self.tally.look(self.clock(), at_once=True)
        return {**self.figures(), **of_state(self.core.state), "tally": self.tally, "post_times": self.post_times}

    def save(self) -> None:
        """Leave a snapshot, so that the next start has little to read."""
        self.pen.snapshot(self.clock(), self.core.state.snapshot())

    def _did(self, connection: Connection | Lane, message: Admin) -> bool:
        """Do our part of an operator's command; whether that was all of it."""
        if message.verb == "snapshot":
            self.save()
        if message.verb != "server":
            return False
        connection.send(Answer(message.req, {"pid": os.getpid(), "epoch": self.house.epoch, **self.figures()}))
        return True

    def notify(self, notice: Notice) -> None:
        """Tell everybody."""
        for connection in list(self.connections.values()):
            connection.send(notice)

    def stop(self) -> None:
        """Step no more, and let everybody go. What the core knows stays as it is, for the next start."""
        self._due = True
        if self._wake is not None:
            self._wake.cancel()
        for connection in list(self.connections.values()):
            connection.close()


def _not_raised(rate: Rate, told: tuple[int, float]) -> Rate:
    """A Rate that gives no more than the last one did, and lets nobody go unpaced."""
    before = told[1] if told[0] == rate.op else 0.0
    return msgspec.structs.replace(rate, rate=min(rate.rate, before), flags=rate.flags & ~(FREE | MONITOR))
