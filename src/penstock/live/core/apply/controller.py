"""The controller itself: its starts, its policies, and what operators tell it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.live.core import records
from penstock.live.core.apply.steps import Changes, enter_row, leave_row, resize, set_rate
from penstock.live.core.members import Stage

if TYPE_CHECKING:
    from penstock.live.core.state import ControllerState


def _started(state: ControllerState, record: records.Started) -> None:
    state.epoch = record.epoch
    state.rev = 0
    state.fenced = False
    over = state.now + state.settings.waiting
    if not record.warm:
        # A warm start owes what is left of the time that an earlier one had to wait.
        state.grace_until = max(state.grace_until, over)
    _configure(state, record)
    for member in state.members():
        leave_row(state, member)
        member.session = None
        member.hb = -1
        member.reclaim = over
        if member.stage in (Stage.POSTED, Stage.ORPHAN):
            member.stage = Stage.RECOVERED
        state.charges.put(member)


def _configure(state: ControllerState, record: records.Started) -> None:
    """What the configuration says counts once it is another than last time; else what operators said since."""
    if record.capacity != state.configured:
        for name, capacity in record.capacity.items():
            if name in state.routes.place:
                state.capacity[state.routes.place[name]] = capacity
        state.configured = dict(record.capacity)
    if record.sharing != state.configured_sharing:
        state.sharing = state.configured_sharing = record.sharing
        state.overrun = ""
        state.memory.clear()


def _fenced(state: ControllerState, record: records.Fenced) -> None:
    state.fenced = True


def _policy_failed(state: ControllerState, record: records.PolicyFailed) -> None:
    state.failures += 1
    state.last_failure = record.text


def _overran(state: ControllerState, record: records.Overran) -> None:
    state.overrun = record.policy
    state.failures += 1
    state.last_failure = (
        f"sharing policy {record.policy!r} took more than {record.seconds:g} s for a decision; fair-share decides "
        "until an operator chooses a policy"
    )


def _decision(state: ControllerState, record: records.RatesDecided) -> None:
    rows = state.rows
    rows.settle_all(state.now)
    for number, direction, targets, rate in record.rates:
        rows.wanted[rows.by_key[number, (direction, targets)].index] = rate
    rows.floored[: rows.count] = False
    for number, direction, targets in record.floored:
        rows.floored[rows.by_key[number, (direction, targets)].index] = True
    if state.chosen == "monitor":
        rows.rate[: rows.count] = rows.wanted[: rows.count]
    state.memory.change(record.width, state.next_place, record.memory)
    state.decisions += 1
    state.decided = state.now


def _commanded(state: ControllerState, record: records.Commanded) -> None:
    _COMMANDS[record.verb](state, record.args)


def _policy(state: ControllerState, args: dict[str, Any]) -> None:
    state.sharing = args["name"]
    state.overrun = ""
    state.memory.clear()
    state.last_failure = ""


def _capacity(state: ControllerState, args: dict[str, Any]) -> None:
    state.capacity[state.routes.place[args["resource"]]] = args["capacity"]
    for row in state.rows.rows:
        state.rows.settle(row, state.now)
        resize(state, row, 0.0)


def _service(state: ControllerState, args: dict[str, Any]) -> None:
    others = [name for name in state.out_of_service if name != args["resource"]]
    state.out_of_service = others if args["on"] else [*others, args["resource"]]


def _mode(state: ControllerState, args: dict[str, Any]) -> None:
    state.rows.settle_all(state.now)
    state.chosen = args["mode"]
    for row in state.rows.rows:
        set_rate(state, row)


def _drain(state: ControllerState, args: dict[str, Any]) -> None:
    state.draining = args["on"]


def _exempt(state: ControllerState, args: dict[str, Any]) -> None:
    job = args["job"]
    (state.exempt.add if args["on"] else state.exempt.discard)(job)
    for app in state.apps.values():
        if app.job == job:
            for member in app.members.values():
                if member.stage is Stage.POSTED:
                    leave_row(state, member)
                    enter_row(state, member)


_COMMANDS: dict[str, Callable[[ControllerState, dict[str, Any]], None]] = {
    "policy": _policy,
    "capacity": _capacity,
    "service": _service,
    "mode": _mode,
    "drain": _drain,
    "exempt": _exempt,
}


CHANGES: Changes = {
    records.Started: _started,
    records.Commanded: _commanded,
    records.RatesDecided: _decision,
    records.PolicyFailed: _policy_failed,
    records.Fenced: _fenced,
    records.Overran: _overran,
}
