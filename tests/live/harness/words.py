"""What operators said, and what must follow from it; a part of the judge.

- Every command is answered, and what it changed outlives a controller that lost nothing.
- Unpaced goes only who was told so, and that is told to exactly those whom the mode or an exemption means. Who is sent
  away goes on at its fallback as soon as it hears of it.
- Who goes unpaced is charged with all that it can use, and two leases later the others leave that free: Σ a·g over
  leases ≤ B − Σ a·c over the unpaced, or nothing. (Not so where a journal lost its end, or where one was evicted or
  forgotten while it was cut off: when it is back, the controller does not know that it goes unpaced.)
- Who was evicted is told nothing and asked for nothing more. It stays charged until its lease is over, and is then
  forgotten: from then on it is one that the controller does not know of, until it comes back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from penstock.client.member import MemberState as Doing
from penstock.live.core import ControllerState, Member
from penstock.live.core import records as records_of_core
from penstock.live.core.events import Frame, Input, Output, Send, WriteRecords
from penstock.wire import messages as wire

from .crash import KILL

if TYPE_CHECKING:
    from .client import Client
    from .judge import Judge

TINY = 1e-6  # relative, for sums
FREE = wire.FREE | wire.MONITOR
Amounts = Mapping[str, float]  # bytes/s on each resource
OF_THE_EVICTED = (records_of_core.Gone, records_of_core.Evicted, records_of_core.Hooked)


class Words:
    """As the judge of one world remembers them."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.last = -math.inf  # when an operator last changed something
        self.forgot = False  # whether a controller may have lost records so far
        self._freed: set[int] = set()  # clients that were told to go unpaced
        self._written_off: set[int] = set()  # clients that were evicted, or forgotten, while they went unpaced
        self._evicted: set[int] = set()  # applications, before this turn
        self._unpaced: dict[tuple[int, int], float] = {}  # members, before this turn; when they were silent for W
        self._sent_away: set[int] = set()  # applications, in this turn
        self._kept: tuple[object, ...] | None = None  # at the end of a controller that lost nothing

    # What the judge hears.

    def crashed(self, nothing_lost: bool) -> None:
        """The controller died."""
        self._kept = _in_force(self._state) if nothing_lost else None

    def started(self, died: str | None) -> None:
        """What operators changed is as it was."""
        self.forgot = self.forgot or died not in (None, KILL)
        if self._kept is not None:
            found = _in_force(self._state)
            self.judge.expect(found == self._kept, f"operators had said {self._kept}; recovered is {found}")
            self._kept = None

    def before_turn(self) -> None:
        """The controller is about to take something."""
        self._evicted = {app.number for app in self._state.apps.values() if app.evicted}
        unpaced = [member for member in self._state.members() if member.free is not None]
        self._unpaced = {member.key: member.reclaim for member in unpaced}

    def after_turn(self, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
        """It took it."""
        self._answers(inputs, outputs)
        self._flags(outputs)
        self._leave_the_evicted_alone(outputs)
        self._sent_away = {record.app for record in recorded(outputs, records_of_core.Evicted)}
        if recorded(outputs, records_of_core.Commanded):
            self.last = self.judge.world.now

    def given_up(self) -> set[tuple[int, int]]:
        """Unpaced ones that were silent for W when they were evicted in this turn: they count no more from then on."""
        now = self._state.now
        return {key for key, over in self._unpaced.items() if key[0] in self._sent_away and now >= over * (1 - 1e-12)}

    # What is looked at in every turn of the controller.

    def _answers(self, inputs: Sequence[Input], outputs: Sequence[Output]) -> None:
        for each in inputs:
            if isinstance(each, Frame) and isinstance(each.message, wire.Admin):
                heard = [out.message for out in outputs if isinstance(out, Send) and out.session == each.session]
                proper = [it for it in heard if isinstance(it, wire.Answer) or getattr(it, "code", "") == "value"]
                self.judge.expect(len(heard) == len(proper) == 1, f"{each.message} was answered by {heard}")
                self.judge.seen[f"order {each.message.verb}"] += 1

    def _flags(self, outputs: Sequence[Output]) -> None:
        """Who is told to go unpaced."""
        state, sessions = self._state, self.judge.world.controller.sessions
        members = {member.session: member for member in state.members() if member.session is not None}
        for output in outputs:
            if isinstance(output, Send) and isinstance(output.message, wire.Rate) and output.session in members:
                job, flags = members[output.session].app.job, output.message.flags
                meant = state.chosen != "run" or job in state.exempt
                self.judge.expect(bool(flags & FREE) == meant, f"{job} is told a rate with flags {flags}")
                if flags & FREE and output.session in sessions:
                    self._freed.add(sessions[output.session].client)

    def _leave_the_evicted_alone(self, outputs: Sequence[Output]) -> None:
        state = self._state
        for output in outputs:
            if isinstance(output, WriteRecords) and not isinstance(output.record, OF_THE_EVICTED):
                app = getattr(output.record, "app", 0)
                self.judge.expect(app not in self._evicted, f"of an evicted application: {output.record}")
        for app in state.apps.values():
            if app.evicted:
                self.judge.seen["turns with somebody evicted"] += 1
                self.judge.expect(bool(app.members), "an evicted application without members is remembered")
                for member in app.members.values():
                    self.judge.expect(member.session is None, "somebody evicted is connected")
                    self.judge.expect(state.now < member.reclaim, "a lease is over, and one evicted is remembered")

    # What is looked at whenever something happened.

    def paced(self, client: Client) -> None:
        """A client has nothing to move, or is paced: whatever was before, it counts as any other."""
        self._written_off.discard(client.index)

    def unpaced(self, client: Client, known: Sequence[Member]) -> None:
        """A client goes unpaced, and the controller knows it as these."""
        judge = self.judge
        judge.expect(client.index in self._freed, f"{client} goes unpaced, and nobody said so")
        judge.expect(client.member.state is not Doing.REFUSED, f"{client} was sent away and goes unpaced")
        forgotten = not known or (len(known) < len(client.keys) and all(member.stage == "lost" for member in known))
        if forgotten or any(member.app.evicted for member in known):
            self._written_off.add(client.index)
        if self.forgot or client.index in self._written_off:
            return
        judge.seen["unpaced and charged"] += 1
        most, charge = client.most_of(judge.world.lowest), max(member.charge for member in known)
        judge.expect(charge >= most * (1 - TINY), f"{client} goes unpaced and is charged with {charge:g} of {most:g}")

    def kept_free(self, client: Client, charge: float) -> float:
        """What others must leave free for one that goes unpaced, if they have had the time."""
        judge = self.judge
        since = max(self.last, client.unpaced_since, judge.last_disturbance)
        return min(charge, client.most) if since < judge.world.now - judge.long else 0.0

    def others(self, leased: Amounts, kept: Amounts, capacities: Amounts, allowed: Amounts) -> None:
        """`leased` is in use by leases, `kept` is promised to the unpaced, `allowed` may come on top."""
        for name in kept:
            self.judge.seen["kept free"] += 1
            left = max(0.0, capacities[name] - kept[name]) + allowed[name]
            if leased[name] > left * (1 + TINY) + TINY:
                self.judge.fail(
                    f"{leased[name]:g} bytes/s in use of {name!r} by leases; {left:g} are left by unpaced ones"
                )

    @property
    def _state(self) -> ControllerState:
        return self.judge.world.controller.core.state


def recorded(outputs: Sequence[Output], *kinds: type[wire.Message]) -> list[Any]:
    """The records of these kinds that a turn made."""
    return [each.record for each in outputs if isinstance(each, WriteRecords) and isinstance(each.record, kinds)]


def _in_force(state: ControllerState) -> tuple[object, ...]:
    """What operators said."""
    evicted = sorted(app.number for app in state.apps.values() if app.evicted)
    return state.chosen, state.draining, state.sharing, list(state.capacity), sorted(state.exempt), evicted
