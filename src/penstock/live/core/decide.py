"""The controller asks its policy: a View of the active applications on each resource, as the simulator makes one.

On several resources the policy is asked for each, in rounds (`policies.sharing.rounds`). A policy that plans with the
phases to come is told those that were announced: the operations posted now. Whatever a policy does wrong, the decision
is made, by fair-share if need be.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from math import inf, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from penstock.errors import PolicyError
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.live.core import records
from penstock.live.core.settings import ControllerSettings
from penstock.live.core.shares import Owner
from penstock.live.core.state import ControllerState
from penstock.policies.sharing.asking import ask, at, improper, raised
from penstock.policies.sharing.fair_share import fair_share
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.policies.sharing.rounds import share_out
from penstock.policies.sharing.view import COLUMNS, View, shut

_SOON = 1e-3  # seconds of transfer that are shown of one that should have ended by now
_MOST_OFTEN = 1e-3  # seconds between the ticks of a policy


Flags = NDArray[np.bool_]
Change = tuple[str, int, float]  # of what a policy remembers: resource, place, number


class OutOfTime(BaseException):
    """A policy has used up its time. No function of a user's can catch it by accident."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class Verdict(NamedTuple):
    """A decision, and what was wrong with the policy that should have taken it, if something was.

    `exact` are the rates that the policy wants, row by row; the decision has those that are worth telling.
    """

    decision: records.RatesDecided
    exact: Floats
    failure: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What a policy is shown of one resource: some of the rows, with what they could use of it."""

    place: int
    name: str
    rows: Ints
    view: View


class PolicyAnswer(NamedTuple):
    """What a policy said when some rates were set aside as floors, and what it wants to remember of it."""

    floors: Floats
    shown: list[Shown]
    wanted: Floats
    memory: list[Change]


class Decider:
    """A policy at work."""

    def __init__(self, policy: Sharing) -> None:
        _check_plan(policy)
        self.policy = policy

    def decide(self, state: ControllerState) -> Verdict:
        """The rates that are wanted now. Nothing changes: that is for the record to do."""
        answer, failure = self._decided(state)
        floored = np.flatnonzero(answer.wanted < answer.floors)
        wanted = np.maximum(answer.wanted, answer.floors)
        changed = np.flatnonzero(_worth_telling(state, wanted))
        decision = records.RatesDecided(
            policy="fair-share" if failure or state.overrun else self.policy.label,
            digest=_digest(answer.shown),
            rates=[(*_named(state, int(row)), float(wanted[row])) for row in changed],
            floored=[_named(state, int(row)) for row in floored],
            width=self._width,
            memory=answer.memory,
        )
        return Verdict(decision, wanted, failure)

    def _decided(self, state: ControllerState) -> tuple[PolicyAnswer, str]:
        """What the policy says, or fair-share if it cannot or may not; and why it could not."""
        if state.overrun:
            return self._above_floors(fair_share, state), ""
        try:
            return self._above_floors(self.policy, state), ""
        except PolicyError as error:
            return self._above_floors(fair_share, state), str(error)

    @property
    def _width(self) -> int:
        return 0 if self.policy.prepare else self.policy.memory

    def _above_floors(self, policy: Sharing, state: ControllerState) -> PolicyAnswer:
        """What the policy wants once floors are set aside; one that would not be needed is not set aside."""
        floors = _floors(state)
        answer = self._ask(policy, state, floors)
        if (needless := (floors > 0.0) & (answer.wanted >= floors)).any():
            again = self._ask(policy, state, np.where(needless, 0.0, floors))
            if (again.wanted >= floors)[needless].all():
                return again
        return answer

    def _shown(self, state: ControllerState, floors: Floats) -> list[Shown]:
        remaining, progress = state.rows.settled_to(state.now)
        mean_loss = _mean_loss(state, progress) if self.policy.losses else nan
        remaining = np.where(remaining > 0.0, remaining, _SOON * state.rows.limit[: remaining.size])
        outside = state.charges.outside()
        shown = []
        for place, resource in enumerate(state.settings.resources):
            share = state.rows.share[place, : state.rows.count]
            rows = np.flatnonzero(share)
            capacity = state.grantable(place) - outside[place] - float(share @ floors)
            if rows.size and capacity > 0.0:
                view = _view(state, rows, share[rows], capacity, remaining, progress)
                shown.append(Shown(place, resource.name, rows, view._replace(mean_loss=mean_loss)))
        return shown

    def _ask(self, policy: Sharing, state: ControllerState, floors: Floats) -> PolicyAnswer:
        """The rate of every row."""
        shown = self._shown(state, floors)
        changes: list[Change] = []
        if len(state.capacity) == 1 and not state.rows.held_back:
            wanted = state.rows.limit[: state.rows.count].copy()
            wanted[state.rows.share[0, : state.rows.count] > 0.0] = 0.0
            for each in shown:
                wanted[each.rows] = self._shared_out(policy, state, each, each.view, each.rows, wanted, changes)
        else:
            wanted = self._least(policy, state, shown, changes)
        return PolicyAnswer(floors, shown, wanted, changes)

    def _least(self, policy: Sharing, state: ControllerState, shown: list[Shown], changes: list[Change]) -> Floats:
        """The rate of every row over all resources that it uses.

        One that is seen to use little gets no more than it needs; a policy is shown all that it could use, for some
        take that for a weight. What a policy wants to remember is that of the first round, in which it saw everybody.
        """
        rows = state.rows
        by_place = {each.place: each for each in shown}
        capacity = np.array([by_place[k].view.capacity if k in by_place else 0.0 for k in range(len(rows.share))])
        asked: set[int] = set()

        def ask_one(place: int, flows: Ints, limit: Floats, room: float, had: Floats) -> Floats:
            noted = changes if place not in asked else []
            asked.add(place)
            return self._granted(policy, state, by_place[place], flows, limit, room, had, noted)

        share = rows.share[:, : rows.count]
        posted = rows.posted[: rows.count]
        return share_out(share, capacity, rows.limit[: rows.count], rows.able, posted, ask_one)

    def _granted(
        self, policy: Sharing, state: ControllerState, shown: Shown, flows: Ints, limit: Floats, room: float,
        had: Floats, changes: list[Change],
    ) -> Floats:  # fmt: skip
        """What the policy gives of `room` on one resource to these rows, which can use `limit` of it.

        In later rounds less is left than some could use. A policy that reckons with nobody being able to use more than
        there is, and so gives what is not there, is asked again as if they could not.
        """
        places = np.searchsorted(shown.rows, flows)
        view = _picked(shown.view._replace(capacity=room), places)
        whole = np.minimum(view.limit, limit)
        cut = np.minimum(whole, room)
        if (whole > cut).any():
            noted: list[Change] = []
            with suppress(PolicyError):
                rates = self._shared_out(policy, state, shown, _limited(view, whole), flows, had, noted)
                changes += noted
                return rates
        return self._shared_out(policy, state, shown, _limited(view, cut), flows, had, changes)

    def _shared_out(
        self, policy: Sharing, state: ControllerState, shown: Shown, view: View, rows: Ints, had: Floats,
        changes: list[Change],
    ) -> Floats:  # fmt: skip
        """What the policy gives to these rows, asked for each user by itself if users have shares; `had`: so far."""
        if state.tree is None:
            return self._answer(policy, state, shown.name, view, changes)
        owners = [state.rows.rows[row].app.owner for row in rows]
        parts = state.tree.divide(view.capacity, _totals(owners, view.limit), _had(state, shown, had))
        rates = np.zeros(rows.size)
        for owner, part in parts.items():
            own = np.array([i for i, each in enumerate(owners) if each == owner])
            if part > 0.0:
                inside = _limited(view._replace(capacity=part), np.minimum(view.limit, part))
                rates[own] = self._answer(policy, state, shown.name, _picked(inside, own), changes)
        return rates

    def _answer(self, policy: Sharing, state: ControllerState, name: str, view: View, changes: list[Change]) -> Floats:
        memory, before = np.zeros(0), np.zeros(0)
        if policy.prepare is not None:
            view, memory = _planned(policy, view)
        elif policy is self.policy and policy.memory:
            before = state.memory.of(name, policy.memory, state.next_place)
            memory = before.copy()
        rates = np.zeros(view.limit.size)
        view = shut(view._replace(memory=memory, settings=policy.settings_array()))
        ask(policy, view, rates)
        if not _proper(view, rates):
            names = [_job(state, place) for place in view.application]
            raise PolicyError(improper(policy, names, view, rates))
        if before.size:
            moved = np.flatnonzero((memory != before) & ~(np.isnan(memory) & np.isnan(before)))
            changes += zip(itertools.repeat(name), moved.tolist(), memory[moved].tolist(), strict=False)
        return rates


def _totals(owners: list[Owner], amounts: Floats) -> dict[Owner, float]:
    """The sum of each owner."""
    totals: dict[Owner, float] = {}
    for owner, amount in zip(owners, amounts, strict=True):
        totals[owner] = totals.get(owner, 0.0) + float(amount)
    return totals


def _had(state: ControllerState, shown: Shown, rates: Floats) -> dict[Owner, float]:
    """What every owner has on a resource already."""
    owners = [state.rows.rows[row].app.owner for row in shown.rows]
    return _totals(owners, state.rows.share[shown.place, shown.rows] * rates[shown.rows])


def _planned(policy: Sharing, view: View) -> tuple[View, Floats]:
    """What a policy that plans ahead is shown, and its plan, in which the places of applications have no gaps."""
    order = np.argsort(view.application, kind="stable")
    view = view._replace(application=np.argsort(order, kind="stable"))
    try:
        return view, policy.initial_memory(order.size, announced(_picked(view, order)))
    except (Exception, SystemExit) as error:
        raise raised(at(policy, view.now), policy.prepare, error) from error


def announced(view: View) -> Foresight:
    """What is known of the future: the operations that are posted, each of an application that ends with it."""
    count = view.limit.size
    seconds = view.remaining / view.limit
    return Foresight(
        names=tuple(map(str, range(count))),
        start=view.posted,
        first=np.arange(count + 1),
        work=np.zeros(count),
        seconds=seconds,
        rest=np.zeros(count),
        operations=np.ones(count),
        mean_work=np.nan_to_num(np.maximum(0.0, view.omega - seconds)),
        mean_seconds=seconds,
    )


def tick_of(policy: Sharing, settings: ControllerSettings) -> float | None:
    """Seconds between the extra decisions that a policy wants."""
    end = inf if settings.window_end is None else settings.window_end
    try:
        every = policy.ticks(Outlook(0.0, end, 0), policy.settings)
    except (Exception, SystemExit) as error:
        raise raised(f"sharing policy {policy.name!r}", policy.ticks, error) from error
    if every is None or _MOST_OFTEN <= every < inf:
        return every
    raise PolicyError(
        f"sharing policy {policy.name!r} asks for decisions every {every:g} s; {_MOST_OFTEN:g} s or more is accepted"
    )


def _check_plan(policy: Sharing) -> None:
    """Refuse one that cannot do without the phases still to come."""
    if policy.prepare is None:
        return
    one, none = np.ones(1), np.zeros(1)
    known = Foresight(("a job",), none, np.arange(2), none, one, none, one, none, one)
    try:
        policy.initial_memory(1, known)
    except (Exception, SystemExit) as error:
        raise PolicyError(
            f"sharing policy {policy.name!r} plans with phases still to come, and a live controller only knows the "
            f"operations that are posted: {' '.join(str(error).split())}"
        ) from error


def _mean_loss(state: ControllerState, progress: Floats) -> float:
    rows = state.rows
    return state.losses.mean(state.now, rows.application[: rows.count], rows.release[: rows.count], progress)


def _view(
    state: ControllerState, rows: Ints, share: Floats, capacity: float, remaining: Floats, progress: Floats
) -> View:
    columns, end = state.rows, state.settings.window_end
    # Most often all rows use all of one resource, and then there is nothing to pick or to multiply.
    part: slice | Ints = slice(0, columns.count) if rows.size == columns.count else rows
    whole = bool((share == 1.0).all())

    def of_resource(column: Floats) -> Floats:
        return column[part] if whole else column[part] * share

    limit = np.minimum(of_resource(columns.limit), capacity)
    return View(
        now=state.now,
        begin=state.settings.window_begin,
        end=inf if end is None else end,
        capacity=capacity,
        application=columns.application[part],
        nodes=columns.nodes[part],
        limit=limit,
        remaining=of_resource(remaining),
        posted=columns.posted[part],
        release=columns.release[part],
        progress=progress[part],
        omega=columns.omega[part],
        rate=of_resource(columns.rate),
        confidence=columns.confidence[part],
        bandwidth=limit,
        settings=np.zeros(0),
        memory=np.zeros(0),
        key=np.zeros(rows.size),
        rows=np.zeros(rows.size, np.int64),
    )


def _limited(view: View, limit: Floats) -> View:
    """A View with these limits; what each would have alone is the same here."""
    return view._replace(limit=limit, bandwidth=limit)


def _picked(view: View, rows: Ints) -> View:
    """Some rows of a View, in this order."""
    columns = {name: getattr(view, name)[rows] for name in COLUMNS}
    return view._replace(**columns, key=np.zeros(rows.size), rows=np.zeros(rows.size, np.int64))


def _worth_telling(state: ControllerState, wanted: Floats) -> Flags:
    """Which rows are to hear of a change: those for which it is above ε, and more if it would not all fit otherwise."""
    rows, epsilon = state.rows, state.settings.epsilon
    before = rows.wanted[: rows.count]
    told: Flags = (np.abs(wanted - before) > epsilon * before) | ((wanted == 0.0) & (before > 0.0))
    if epsilon == 0.0:
        return told
    outside = state.charges.outside()
    for k in range(len(state.capacity)):
        share = rows.share[k, : rows.count]
        excess = float(share @ np.where(told, wanted, before)) - (state.grantable(k) - outside[k]) * (1.0 + SAME)
        if excess > 0.0:
            # Small decreases, the largest first, until the rest fits.
            surplus = np.where(told, 0.0, share * (before - wanted))
            order = np.argsort(-surplus, kind="stable")
            needed = int(np.searchsorted(np.cumsum(surplus[order]), excess)) + 1
            told[order[:needed]] |= surplus[order[:needed]] > 0.0
    return told


def _proper(view: View, rates: Floats) -> bool:
    """Whether `improper` would find nothing, in no time."""
    fits = (rates >= 0.0) & (rates <= view.limit * (1.0 + SAME))
    return bool(fits.all() and rates.sum() <= view.capacity * (1.0 + SAME))


def _job(state: ControllerState, place: int) -> str:
    return next((row.app.job for row in state.rows.rows if row.app.place == place), str(place))


def _floors(state: ControllerState) -> Floats:
    """For each row, the rate that it gets whatever the policy says: something if it has waited too long, else 0."""
    rows, settings = state.rows, state.settings
    floors = np.zeros(rows.count)
    with np.errstate(invalid="ignore"):
        waited = state.now - rows.waits[: rows.count] >= settings.max_wait * (1.0 - SAME)
    for i in np.flatnonzero(waited | rows.floored[: rows.count]):
        row = rows.rows[i]
        own = sum(state.fallback(member, row.route) for member in row.members.values())
        floors[i] = min(own if settings.floor is None else settings.floor, rows.limit[i])
    return floors


def _named(state: ControllerState, row: int) -> tuple[int, str, tuple[str, ...]]:
    found = state.rows.rows[row]
    return (found.app.number, *found.route.key)


def _digest(shown: list[Shown]) -> int:
    """A fingerprint of all that the policy was shown."""
    digest = blake2b(digest_size=7)
    for each in shown:
        digest.update(np.array([each.place, *each.view[:4]]).tobytes())
        digest.update(np.array([each.view.mean_loss]).tobytes())
        for column in each.view[4:13]:
            digest.update(np.ascontiguousarray(column).tobytes())
        if (each.view.confidence < 1.0).any():
            digest.update(np.ascontiguousarray(each.view.confidence).tobytes())
    return int.from_bytes(digest.digest(), "big")
