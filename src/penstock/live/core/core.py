"""The core of the controller: `step` takes what happened at one time and gives back what is to be done, in order.

It knows no clock, no socket, no file and no chance. What changes its state is made into records, which are applied at
once and handed out to be journalled before anything is sent. All that happens in one turn is taken in first; then the
policy is asked, at most once, and room that became free is handed out, at most once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from math import floor, inf, nextafter
from typing import Any

import numpy as np

from penstock.errors import PenstockError
from penstock.kernels.arrays import SAME
from penstock.live.core import charges, records
from penstock.live.core import handlers as frames
from penstock.live.core.checks import Refused
from penstock.live.core.decide import Decider, OutOfTime, Verdict, tick_of
from penstock.live.core.dispatch import Dispatch
from penstock.live.core.events import (
    Close,
    Closed,
    Connected,
    Frame,
    Input,
    Output,
    ProcessDead,
    Send,
    Tick,
    WakeAt,
    WriteRecords,
)
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.sessions import Session
from penstock.live.core.settings import ControllerSettings
from penstock.live.core.state import GRACE, MONITOR, PAUSED, RUN, ControllerState
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Sharing
from penstock.wire import messages as wire

_LONGEST_FAULT = 500  # characters


class Core:
    """A controller of one epoch, from `boot` on.

    `state` is a recovered one. `warm` says that all charges are known: the state has every record up to the end of the
    controller before, on this boot of the machine, or there never was one. Else nothing is raised until all leases
    that may be out there are over. `frozen` keeps rates from being raised for as long as it is set, as when the
    journal cannot be written; `pace`, the time between two decisions, may be raised while they take long. `limited`
    holds a policy to its time: what it raises then is recorded, and so is part of what a replay goes by.
    """

    def __init__(
        self,
        settings: ControllerSettings,
        policy: Sharing,
        *,
        epoch: int,
        boot: float,
        state: ControllerState | None = None,
        warm: bool = False,
        resolve: Callable[[str], Sharing] = find,
        limited: Callable[[Sharing], AbstractContextManager[None]] = lambda policy: nullcontext(),
    ) -> None:
        self.settings = settings
        self.state = ControllerState(settings) if state is None else state
        self.resolve = resolve
        self.limited = limited
        self.frozen = False
        self.contact = self.opt_out = ""  # whom users may ask, and how their jobs go unpaced
        self.forecast: tuple[float, dict[int, dict[str, Any]]] | None = None  # as of when
        self.pace = settings.pace
        self.sessions: dict[int, Session] = {}
        self.dirty = True
        self.hooks_ignored = 0
        self._t = boot
        self._out: list[Output] = []
        self._told: dict[Member, bool] = {}  # members to be told a rate this turn; whether it was granted in this turn
        self._unanswered: dict[Member, None] = {}
        self._timers: list[tuple[float, int, Member | App]] = []
        self._timed: dict[Member | App, float] = {}
        self._order = count()
        self._tick_number = 1.0
        self._in_grace = False
        capacity = {resource.name: resource.capacity for resource in settings.resources}
        self.record(records.Started(epoch, boot, warm, capacity, settings.sharing))
        self.use(self._policy_in_force(policy))
        self.dispatch = Dispatch(self.state, self.grant)
        for app in self.state.apps.values():
            self.watch(app)
            for member in app.members.values():
                self.watch(member)

    def step(self, t: float, inputs: Sequence[Input]) -> list[Output]:
        """One turn: all of `inputs` at time `t`, which never falls."""
        self._t = max(self._t, t)
        state = self.state
        state.now = max(state.now, self._t - state.origin)
        for each in inputs:
            if not state.fenced:
                self._take(each)
        if not state.fenced:
            self._expire()
            self._decide_if_due()
            self._answer()
            self._tell()
            self._wake()
        out, self._out = self._out, []
        return out

    # --- what the parts of the core use

    def record(self, record: records.StateChange) -> None:
        """Change the state, and have it written down."""
        self.state.apply(self._t, record)
        self._out.append(WriteRecords(record))

    def send(self, session: int, message: wire.Message) -> None:
        """Say something to somebody."""
        self._out.append(Send(session, message))

    def close(self, session: int, code: str) -> None:
        """End a connection from our side."""
        self._out.append(Close(session, code))
        self.closed(session)

    def refuse(self, session: int, req: int, code: str, text: str) -> None:
        """Tell somebody that it was not heard, and why."""
        fatal = code not in wire.NOT_FATAL
        self.send(session, wire.Error(req, code, text, fatal))
        if fatal:
            self.close(session, code)

    def grant(self, member: Member, rate: float, flags: int = wire.PACED, small: bool = False) -> None:
        """Charge a member with a rate, and tell it at the end of the turn."""
        state = self.state
        self.record(records.Granted(*member.key, state.epoch, state.rev + 1, rate, flags, small))
        self._let_lapse(member)
        self._told[member] = True

    def renew(self, member: Member) -> None:
        """Tell a member its rate again at the end of the turn."""
        self._told.setdefault(member, False)

    def entered(self, member: Member) -> None:
        """A member has an operation that it waits to be told a rate for."""
        self.watch(member)
        self.dirty = True
        member.entered = self.state.now
        member.seen.clear()
        self._unanswered[member] = None
        self.dispatch.unpaced |= member.unpaced
        self.dispatch.joined[member] = None
        if flags := self.free_flags(member):
            self.grant(member, self.state.limit(member), flags)

    def free_flags(self, member: Member) -> int:
        """Whether a member is to go unpaced, and why."""
        state = self.state
        if state.chosen == PAUSED or state.is_exempt(member):
            return wire.FREE
        return wire.MONITOR if state.chosen == MONITOR else wire.PACED

    def set_free(self, members: Sequence[Member]) -> None:
        """After a change of mode: tell those that are to go unpaced; the others hear of the next decision."""
        self.dispatch.unpaced = self.dirty = True
        for member in members:
            if member.stage is Stage.POSTED and (flags := self.free_flags(member)):
                self.grant(member, self.state.limit(member), flags)

    def check(self, policy: Sharing) -> None:
        """Refuse a policy that cannot decide here."""
        Decider(policy)
        tick_of(policy, self.settings)

    def use(self, policy: Sharing) -> None:
        """Decide by this policy from now on."""
        self.decider = Decider(policy)
        self._tick = tick_of(policy, self.settings)
        self.dirty = True

    def closed(self, number: int) -> None:
        """A connection is gone; what its member may be using is not."""
        session = self.sessions.pop(number, None)
        member = session.member if session else None
        if member is None or member.session != number:
            return
        member.session = None
        if member.stage is Stage.POSTED:
            self.record(records.Orphaned(*member.key))
            self.dirty = True
        elif member.stage is Stage.IDLE:
            member.reclaim = self.state.now + self.settings.waiting
        self.watch(member)

    def dead(self, member: Member, reason: str) -> None:
        """A member is known to use nothing any more."""
        app = member.app
        if member.session is not None and member.session in self.sessions:
            self.sessions[member.session].member = None
        self.record(records.Gone(*member.key, reason))
        self.dirty = True
        self._timed.pop(member, None)
        self._unanswered.pop(member, None)
        self._told.pop(member, None)
        if app.number in self.state.apps:
            self.watch(app)

    def met_newer(self, session: Session, req: int, epoch: int) -> None:
        """Somebody has met a controller that came after this one.

        Any user could say so. Nobody but those of the house is believed; the others are sent away, for they heed no
        epoch below the highest that they have met.
        """
        if session.identity.trusted:
            self.fence(epoch)
        else:
            text = f"you have met epoch {epoch}; this controller is in epoch {self.state.epoch}"
            self.refuse(session.number, req, "fenced", text)

    def fence(self, epoch: int) -> None:
        """A controller came after this one: say nothing more to anybody."""
        self.record(records.Fenced(epoch))
        for session in list(self.sessions):
            self._out.append(Close(session, "fenced"))
        self.sessions.clear()

    def watch(self, whom: Member | App) -> None:
        """Look at somebody again when its time has come."""
        due = self._due(whom)
        if due < self._timed.get(whom, inf):
            self._timed[whom] = due
            heapq.heappush(self._timers, (due, next(self._order), whom))

    # --- the turn

    def _policy_in_force(self, given: Sharing) -> Sharing:
        """What operators chose while an earlier controller ran still counts, if it can be had."""
        if self.state.sharing == self.settings.sharing:
            return given
        try:
            policy = self.resolve(self.state.sharing)
            self.check(policy)
        except PenstockError as error:
            self.record(records.PolicyFailed(self.state.sharing, str(error)))
            return given
        return policy

    def _take(self, given: Input) -> None:
        if isinstance(given, Frame):
            self._hear(given)
        elif isinstance(given, Connected):
            self.sessions[given.session] = Session(given.session, given.identity)
            if given.epoch_seen > self.state.epoch:
                self.met_newer(self.sessions[given.session], 0, given.epoch_seen)
        elif isinstance(given, Closed):
            self.closed(given.session)
        elif isinstance(given, ProcessDead):
            if (member := self.state.find(given.app, given.member)) is not None:
                self.dead(member, "its process has ended")
        else:
            assert isinstance(given, Tick)

    def _hear(self, frame: Frame) -> None:
        session = self.sessions.get(frame.session)
        if session is None:
            return  # it was closed in this turn or the one before
        try:
            frames.take(self, session, frame.message)
        except Refused as refusal:
            self.refuse(frame.session, getattr(frame.message, "req", 0), refusal.code, str(refusal))
        except Exception as error:
            # A fault of ours: whoever hit on it is sent away, and everybody else goes on.
            text = f"the controller failed at this {type(frame.message).__name__} ({type(error).__name__}: {error})"
            self.refuse(frame.session, getattr(frame.message, "req", 0), "internal", text[:_LONGEST_FAULT])

    def _due(self, whom: Member | App) -> float:
        """When something happens to somebody by itself."""
        settings = self.settings
        if isinstance(whom, App):
            job = self.state.jobs.get(whom.job)
            # Who never had an operation has nothing that is worth remembering.
            forget = settings.forget if whom.operations or job else settings.waiting
            return max(whom.empty_since, job.ends if job else -inf) + forget if not whom.members else inf
        if whom.stage is Stage.LOST and not whom.app.evicted:
            heard = whom.reclaim if whom.session is not None else -inf
            return max(whom.lost_at, heard) + settings.forget
        if whom.stage is Stage.IDLE and whom.session is not None:
            return whom.reclaim + settings.silence
        if whom.free is not None and not whom.app.evicted:
            # No lease ends it: it may go on unpaced for as long as it lives.
            return inf if whom.stage is Stage.POSTED else whom.reclaim + settings.forget
        if whom.stage is Stage.POSTED and whom.lapse is not None:
            return min(whom.reclaim, whom.lapse[1])
        return whom.reclaim

    def _expire(self) -> None:
        now, timers = self.state.now, self._timers
        while timers and timers[0][0] <= now:
            _, _, whom = heapq.heappop(timers)
            if self._timed.pop(whom, None) is None:
                continue
            if self._due(whom) <= now:
                self._over(whom)
            else:
                self.watch(whom)

    def _over(self, whom: Member | App) -> None:
        if isinstance(whom, App):
            if self.state.apps.get(whom.number) is whom:
                self.record(records.Forgotten(whom.number))
        elif whom.app.evicted:
            self.dead(whom, "evicted")
        elif whom.stage is Stage.LOST or whom.free is not None:
            self.dead(whom, "forgotten")
        elif whom.closed_without_moving:
            self.dead(whom, "closed without moving anything")
        elif whom.reclaim > self.state.now:
            self._lapsed(whom)
        else:
            self.record(records.Expired(*whom.key))
            self.dirty = True
            self.watch(whom)

    def _let_lapse(self, member: Member) -> None:
        """A member was told less than it may be using: whether it acks that or not, the rest is over in time."""
        if member.lapse is None and member.charge > member.rate and member.free is None:
            member.lapse = (self.state.epoch, member.rev), self.state.now + self.settings.waiting
            self.watch(member)

    def _lapsed(self, member: Member) -> None:
        """A member beats, and has not acked for so long that it goes by what it was told since, or by its fallback."""
        assert member.lapse is not None and member.op is not None
        since, _ = member.lapse
        member.lapse = None
        fallback = min(self.state.fallback(member, member.op.route), wire.MOST_NUMBER)
        held = max(fallback, *(rate for rev, rate in member.revs.items() if rev >= since))
        if held < member.charge:
            self.record(records.Adrift(*member.key, member.op.reported, held, self.state.rev + 1))
            self.dirty = True
        self.watch(member)

    def _decide_if_due(self) -> None:
        state = self.state
        mode = state.mode
        if self._in_grace and mode != GRACE:
            self.dirty = True
        self._in_grace = mode == GRACE
        if mode not in (RUN, MONITOR) or self.frozen:
            return
        if self._tick_passed() or self._floor_at() <= state.now:
            self.dirty = True
        if self.dirty and state.now >= self._next_decision():
            self._decide()
        if mode == RUN:
            self.dispatch.hand_out()

    def _decide(self) -> None:
        self.dirty = False
        if not self.state.rows.count:
            return
        verdict = self._verdict()
        if verdict.failure:
            self.record(records.PolicyFailed(self.decider.policy.label, verdict.failure))
        self.record(verdict.decision)
        self.state.rows.exact[: verdict.exact.size] = verdict.exact
        if self.state.mode == RUN:
            self.dispatch.decided(verdict.decision)

    def _verdict(self) -> Verdict:
        """What is decided; by fair-share from the moment on at which the policy took longer than it may."""
        if not self.state.overrun:
            try:
                with self.limited(self.decider.policy):
                    return self.decider.decide(self.state)
            except OutOfTime as over:
                self.record(records.Overran(self.decider.policy.label, over.seconds))
        return self.decider.decide(self.state)

    def _next_decision(self) -> float:
        return self.state.decided + self.pace

    def _tick_passed(self) -> bool:
        if self._tick is None or self._tick_number * self._tick > self.state.now * (1.0 + SAME):
            return False
        self._tick_number = floor(self.state.now * (1.0 + SAME) / self._tick) + 1.0
        return True

    def _floor_at(self) -> float:
        """When somebody will have waited too long."""
        rows = self.state.rows
        waiting = rows.waits[: rows.count][rows.wanted[: rows.count] == 0.0]
        return float(np.fmin.reduce(waiting, initial=inf)) + self.settings.max_wait

    def _answer(self) -> None:
        """Whoever posted hears a rate, even if it is 0; until the decision is due, a little later."""
        if self.dirty and self.state.mode == RUN and not self.frozen:
            return
        for member in self._unanswered:
            if member.stage is Stage.POSTED:
                self.renew(member)
        self._unanswered.clear()

    def _tell(self) -> None:
        """Send everyone who is to hear something its newest rate."""
        for member in list(self._told):
            if member.stage is Stage.POSTED and member.session is not None:
                self._tell_one(member)
        self._told.clear()

    def _tell_one(self, member: Member) -> None:
        state, op = self.state, member.op
        assert op is not None and member.session is not None
        flags = self.free_flags(member)
        if member.unpaced and not flags:
            # What it could use unpaced is nothing that it was ever granted.
            self.grant(member, min(member.rate, state.fallback(member, op.route)))
        elif not self._told[member]:
            self._make_renewal(member)
        flags |= wire.DRAINING if state.draining else 0
        self.send(member.session, wire.Rate(state.epoch, member.rev, op.number, member.rate, member.hb, flags))

    def _make_renewal(self, member: Member) -> None:
        state = self.state
        if state.mode == RUN and not self.frozen and member.row is not None:
            rate = self.dispatch.renewed(member)
            if rate != member.rate:
                self.grant(member, rate, small=len(member.row.members) == 1)
                return
        if member.row is None and not self.free_flags(member) and self._is_too_much(member):
            return
        # At an unchanged rate it is charged already, in this state and in any that is recovered.
        state.rev += 1
        charges.grant(member, (state.epoch, state.rev), member.rate, bool(self.free_flags(member)))
        self._let_lapse(member)

    def _is_too_much(self, member: Member) -> bool:
        """Whether one that no policy sees was told less: where a capacity was lowered, it must not be told it again."""
        assert member.op is not None
        own = self.state.fallback(member, member.op.route)
        if member.rate <= own or all(self.state.room(k) >= 0.0 for k, _ in member.op.route.shares):
            return False
        self.grant(member, own)
        return True

    def _wake(self) -> None:
        state = self.state
        mode = state.mode
        times = [self._timers[0][0] if self._timers else inf]
        if mode == GRACE:
            times.append(state.grace_until)
        if mode in (RUN, MONITOR) and state.rows.count and not self.frozen:
            times.append(self._next_decision() if self.dirty else self._floor_at())
            times.append(self._tick_number * self._tick if self._tick else inf)
        if (soonest := min(times)) < inf:
            self._out.append(WakeAt(self._on_clock(soonest)))

    def _on_clock(self, time: float) -> float:
        """The first reading of the clock at which `time` has come: a digit less, and nothing would happen then."""
        t = max(self.state.origin + time, self._t)
        while t - self.state.origin < time:
            t = nextafter(t, inf)
        return t
