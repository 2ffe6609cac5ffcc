"""The controller's forecast: when phases open now will begin to move, and be over, by running the policy forward.

It decides when the controller would: when somebody is done, has waited for too long, or at the policy's ticks. Nobody
else comes in it, nobody computes and comes back, everybody moves at its rate, and policy and capacities stay. Beginning
and end have ranges: early if all volumes are less than announced, late if they are more; a late end also if everybody
who is known and computes comes back at once. `scripts/measure/forecasts.py` counts how often what happens lies in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.live.core.decide import Decider, tick_of
from penstock.live.core.members import App
from penstock.live.core.pieces import DESCRIPTION, GLANCES, Pace, Pieces, members_of
from penstock.live.core.state import ControllerState
from penstock.wire.messages import BYTES

if TYPE_CHECKING:
    from penstock.live.core.core import Core

MOST_ROWS = 64  # phases side by side: more are not looked into
MOST_STEPS = 200
LONGEST = 1e6  # seconds of one step, where nobody moves
SOME, MUCH = 0.2, 0.5  # by how much volumes may be off: of those that were announced, and of those that were guessed
AGAIN = 1.0  # seconds for which an answer is good
ASSUMES = "nobody new comes, and policy and capacities stay"


@dataclass(frozen=True)
class Forecast:
    """Of one job's open phase; seconds from now, None where it is not foreseen."""

    start: float | None  # when it is first told to move; 0: it is
    start_earliest: float | None  # its range
    start_latest: float | None
    end: float | None
    earliest: float | None  # the range of the end
    latest: float | None
    sure: str  # good, rough, none
    behind: int  # jobs that move bytes before it on what it uses; of one that moves: those that move beside it
    ahead: float  # bytes that those have still to move
    before: tuple[int, ...] | None  # the applications of these jobs, who begins first first; None: not foreseen
    assumes: str = ASSUMES


def forecasts(core: Core) -> Pieces[dict[int, dict[str, Any]]]:
    """By application. It takes a while, so the answer of a second ago will do."""
    known = core.forecast
    if known is None or core.state.now >= known[0] + AGAIN:
        asked = core.state.now
        made = yield from _made(core)
        known = core.forecast = asked, made
    return known[1]


def for_user(state: ControllerState, uid: int, forecast: dict[str, Any]) -> dict[str, Any]:
    """A forecast as a user is told it: of the jobs before, its own by name; those of others are counted only."""
    before = forecast["before"]
    apps = [state.apps[number] for number in before or () if number in state.apps]
    own = None if before is None else [app.job for app in apps if app.uid == uid]
    return {**without_others(forecast), "own": own}


def without_others(forecast: dict[str, Any]) -> dict[str, Any]:
    """A forecast with how many are before, and not who."""
    return {name: value for name, value in forecast.items() if name != "before"}


def _made(core: Core) -> Pieces[dict[int, dict[str, Any]]]:
    state = core.state
    open_now = _Open(state)
    policy = core.decider.policy
    few = len(open_now.apps) <= MOST_ROWS and ".py" not in policy.label and state.mode == "run"
    images = [imagined(state) for _ in range(3)] if few else []
    off = MUCH if (yield from _guessed(open_now.apps)) else SOME
    runs = []
    for image, wrong in zip(images, (0.0, -off, off), strict=False):
        runs.append((yield from _run(image, Decider(policy), wrong, core.dirty)))
    starts, ends = [run[0] for run in runs], [run[1] for run in runs]
    others, back = (yield from _coming_back(state)) if few else (False, 0.0)
    found, pace = {}, Pace()
    ahead = yield from _ahead(open_now, pace)
    if starts:
        ahead |= yield from _before(open_now, starts[0], pace)
    for app in ahead:
        behind, to_go, before = ahead[app]
        begins, over = ([each[app] for each in times if app in each] for times in (starts, ends))
        if len(begins) == len(over) == 3:
            sure = "rough" if off == MUCH or others else "good"
            first, last = _range(begins), _range(over)
            told = Forecast(begins[0], *first, over[0], last[0], last[1] + back, sure, behind, to_go, before)
        else:
            told = Forecast(None, None, None, None, None, None, "none", behind, to_go, before)
        found[app] = vars(told)
        if pace.enough():
            yield
    return found


def _range(times: Sequence[float]) -> tuple[float, float]:
    return min(times), max(times)


def _coming_back(state: ControllerState) -> Pieces[tuple[bool, float]]:
    """Whether anybody who is known computes now, and the seconds of all the bandwidth that all these would take.

    They come with as much as usual; of one that has not moved anything yet, that is not known.
    """
    others, volume, apps = False, 0.0, list(state.apps.values())
    for start in range(0, len(apps), GLANCES):
        for app in apps[start : start + GLANCES]:
            if app.posted != app.posted and app.members and app.kind == BYTES:  # it computes
                others = True
                volume += app.moved / app.operations if app.operations else 0.0
        yield
    capacity = [state.capacity[k] for k, each in enumerate(state.settings.resources) if each.kind == BYTES]
    return others, volume / min(capacity, default=inf)


class _Open:
    """The phases that are open now, as they stay when the controller goes on: whose each is, and what it uses."""

    def __init__(self, state: ControllerState) -> None:
        rows = state.rows
        self.apps = [row.app for row in rows.rows]
        self.used, self.moving = rows.share[:, : rows.count] > 0.0, rows.rate[: rows.count] > 0.0
        self.remaining = np.maximum(rows.settled_to(state.now)[0], 0.0)


def imagined(state: ControllerState) -> ControllerState:
    """A state to let time pass in: rows and memory of its own; all else, which nobody changes there, is real."""
    image = copy(state)
    image.rows, image.memory = state.rows.copy(), state.memory.copy()
    return image


def _guessed(apps: Sequence[App]) -> Pieces[bool]:
    """Whether somebody's volume is not announced, or its announcements were far off so far."""
    different = {app.number: app for app in apps}
    ended = {number: app.announced for number, app in different.items()}  # less what is announced and still open
    for some in members_of(different.values()):
        for member in some:
            if member.op is not None:
                if member.op.confidence < 1.0:
                    return True
                ended[member.app.number] -= member.op.volume
        yield
    moved = ((ended[number], app.moved) for number, app in different.items() if app.moved)
    return any(not 1 - SOME <= announced / done <= 1 + SOME for announced, done in moved)


Times = dict[int, float]  # by application
Ahead = tuple[int, float, tuple[int, ...] | None]  # how many, with how much, and who


def _before(now: _Open, starts: Times, pace: Pace) -> Pieces[dict[int, Ahead]]:
    """By application: the others that the forecast lets move before it on what it uses, and what they have left."""
    numbers = [number for number in dict.fromkeys(app.number for app in now.apps) if number in starts]
    of_app = np.array([[app.number == number for app in now.apps] for number in numbers], bool)
    uses, left = (of_app @ now.used.T) > 0, of_app @ now.remaining
    begins = np.array([starts[number] for number in numbers])
    order = np.argsort(begins, kind="stable")
    found: dict[int, Ahead] = {}
    for place, number in enumerate(numbers):
        early = (begins < begins[place]) if begins[place] > 0.0 else (begins <= 0.0)
        early &= (uses & uses[place]).any(axis=1)
        early[place] = False
        others = tuple(numbers[each] for each in order if early[each])
        found[number] = len(others), float(left[early].sum()), others
        if pace.enough(DESCRIPTION):
            yield
    return found


def _ahead(now: _Open, pace: Pace) -> Pieces[dict[int, Ahead]]:
    """By application, where nothing is foreseen: how many others move on what it uses now, and what they have left.

    Many use the same, so it is summed up once for all of these: thousands of phases are not compared with each other.
    """
    own: dict[int, list[int]] = {}
    for index, app in enumerate(now.apps):
        own.setdefault(app.number, []).append(index)
        if pace.enough():
            yield
    alike: dict[bytes, tuple[NDArray[np.bool_], int, float]] = {}
    found: dict[int, Ahead] = {}
    for number, indices in own.items():
        uses = now.used[:, indices].any(axis=1)
        if (key := uses.tobytes()) not in alike:
            there = now.moving & now.used[uses].any(axis=0)
            jobs = {now.apps[index].number for index in np.flatnonzero(there)}
            alike[key] = there, len(jobs), float(now.remaining[there].sum())
        there, jobs_there, left = alike[key]
        mine = [index for index in indices if there[index]]
        others = jobs_there - bool(mine)
        found[number] = others, max(0.0, left - float(now.remaining[mine].sum())) if others else 0.0, None
        if pace.enough(DESCRIPTION):
            yield
    return found


def _run(state: ControllerState, decider: Decider, wrong: float, due: bool) -> Pieces[tuple[Times, Times]]:
    """When each begins and ends in this image, if all volumes are wrong by this part of what was announced.

    What was decided last holds until the controller would decide again, unless that is due.
    """
    starts: dict[int, float] = {}
    ends: dict[int, float] = {}
    begin, rows = state.now, state.rows
    rows.settle_all(begin)
    announced = [sum(m.op.volume for m in row.members.values() if m.op is not None) for row in rows.rows]
    rows.remaining[: rows.count] = np.maximum(rows.remaining[: rows.count] + wrong * np.array(announced), 1.0)
    longest = _longest(state, decider)
    rates = None if due else rows.wanted[: rows.count].copy()
    for _ in range(MOST_STEPS):
        if not rows.count:
            break
        if rates is None:
            try:
                verdict = decider.decide(state)
            except PolicyError:
                break
            state.apply(state.origin + state.now, verdict.decision)
            rates = verdict.exact
        _move(state, rates, longest, starts, begin)
        done = 1e-6 * max(1.0, rates.max())
        for row in [each for each in rows.rows if rows.remaining[each.index] <= done]:
            rows.drop(row)
            ends[row.app.number] = state.now - begin
        rates = None
        yield
    left = {row.app.number for row in rows.rows}
    return starts, {app: end for app, end in ends.items() if app not in left}


def _longest(state: ControllerState, decider: Decider) -> float:
    """Seconds to the next decision if nobody is done: at the policy's ticks, but not at all of very many."""
    rows, tick = state.rows, tick_of(decider.policy, state.settings)
    return inf if tick is None else max(tick, float(np.sum(rows.remaining[: rows.count]) / min(state.capacity)) / 40)


def _move(state: ControllerState, rates: Floats, longest: float, starts: dict[int, float], begin: float) -> None:
    """Everybody moves until the controller would decide again: somebody is done, or has waited for too long."""
    rows, active = state.rows, slice(0, state.rows.count)
    moving = rates > 0.0
    for row in rows.rows:
        if moving[row.index]:
            starts.setdefault(row.app.number, state.now - begin)
    rows.rate[active] = rates
    since = np.where(np.isnan(rows.waits[active]), state.now, rows.waits[active])
    rows.waits[active] = np.where(moving, np.nan, since)
    done = np.maximum(rows.remaining[active][moving], 0.0) / rates[moving]
    floored = since[~moving] + state.settings.max_wait - state.now
    state.now += float(min(longest, done.min(initial=inf), floored[floored > 0.0].min(initial=inf), LONGEST))
    rows.settle_all(state.now)
