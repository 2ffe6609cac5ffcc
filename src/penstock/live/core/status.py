"""The state in words and numbers for people: what `status` and `top` show. Plain lists and dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from penstock.kernels.arrays import Floats
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.state import ControllerState

if TYPE_CHECKING:
    from penstock.live.core.core import Core


def summary(core: Core) -> dict[str, Any]:
    """How the controller is."""
    state = core.state
    members = state.members()
    return {
        "epoch": state.epoch,
        "mode": state.mode,
        "settling": settling(state),
        "draining": state.draining,
        "frozen": core.frozen,
        "policy": "fair-share" if state.overrun else core.decider.policy.label,
        "policy_failures": state.failures,
        "last_policy_failure": state.last_failure,
        "up": state.now,
        "capacity": capacities(state),
        "connections": len(core.sessions),
        "applications": len(state.apps),
        "active": len({row.app.number for row in state.rows.rows}),
        "members": dict(Counter(str(member.stage) for member in members)),
        "waiting": len(core.dispatch.waiting),
        "decisions": state.decisions,
        "exempt": sorted(state.exempt),
        "hooks_ignored": core.hooks_ignored,
    }


def capacities(state: ControllerState) -> dict[str, Any]:
    """Each resource: what there is, what is spoken for, what is told to be used."""
    told = state.rows.share[:, : state.rows.count] @ state.rows.rate[: state.rows.count]
    return {
        resource.name: {
            "capacity": state.capacity[k],
            "charged": state.charges.used[k],
            "granted": float(told[k]),
            "target": resource.target,
            "direction": resource.direction,
            "in_service": resource.name not in state.out_of_service,
        }
        for k, resource in enumerate(state.settings.resources)
    }


def settling(state: ControllerState) -> int:
    """How many may still go unpaced although they should not."""
    if state.chosen != "run":
        return 0
    return sum(member.free is not None and member.app.job not in state.exempt for member in state.members())


def top(core: Core, count: int, idle: bool = False) -> list[dict[str, Any]]:
    """The active applications, those that use most first; then, if they are asked for, the idle ones."""
    state, settled = core.state, core.state.rows.settled_to(core.state.now)
    apps = [_app(state, app, settled) for app in state.apps.values() if idle or app.active]
    return sorted(apps, key=lambda each: (not each["active"], -each["rate"], each["posted"], each["app"]))[:count]


def everything(core: Core) -> dict[str, Any]:
    """The summary and all applications with their members."""
    state, settled = core.state, core.state.rows.settled_to(core.state.now)
    apps = [
        {**_app(state, app, settled), "of": [_member(state, member) for member in app.members.values()]}
        for app in state.apps.values()
    ]
    return {"status": summary(core), "applications": apps}


def _app(state: ControllerState, app: App, settled: tuple[Floats, Floats]) -> dict[str, Any]:
    members = list(app.members.values())
    ops = [member.op for member in members if member.op is not None]
    return {
        "app": app.number,
        "job": app.job,
        "uid": app.uid,
        "labels": dict(app.labels),
        "nodes": app.nodes,
        "members": len(members),
        "direction": "+".join(sorted({op.route.key[0] for op in ops})),
        "targets": sorted({target for op in ops for target in op.route.key[1] or state.routes.unseen}),
        "lease": _shortest_lease(state, members),
        "stages": sorted({str(member.stage) for member in members}),
        "active": app.active,
        "rate": sum(member.rate for member in members if member.stage is not Stage.LOST),
        "charge": sum(member.charge for member in members),
        **_asked(state, members, settled[0]),
        "posted": state.now - app.posted if app.active else None,
        **_past(state, app, members, settled[1]),
        "operations": app.operations,
        "omega": app.omega if isfinite(app.omega) else None,
        "announced": app.announced,
        "moved": app.moved,
    }


def _rows(members: Sequence[Member]) -> list[int]:
    """Where the members stand among the rows that policies see, each place once."""
    return list(dict.fromkeys(member.row.index for member in members if member.row is not None))


def _asked(state: ControllerState, members: Sequence[Member], remaining: Floats) -> dict[str, float]:
    """What an application would move, and how fast; some of it may not be in any row yet."""
    rows, ops = _rows(members), [member.op for member in members if member.op]
    unseen = sum(member.op.volume - member.op.done for member in members if member.op and member.row is None)
    return {
        "wanted": float(sum(state.rows.wanted[row] for row in rows)),
        "limit": float(sum(state.rows.limit[row] for row in rows)),
        "volume": sum(op.volume for op in ops),
        "remaining": float(sum(max(0.0, remaining[row]) for row in rows)) + unseen,
    }


def _past(state: ControllerState, app: App, members: Sequence[Member], progress: Floats) -> dict[str, float]:
    """How long an application waits, has been there, and has computed or moved."""
    rows = _rows(members)
    return {
        "waited": max((_waited(state, row) for row in rows), default=0.0),
        "released": state.now - app.release,
        "progress": max([app.progress, *(float(progress[row]) for row in rows)]),
    }


def _shortest_lease(state: ControllerState, members: Sequence[Member]) -> float | None:
    leases = [_lease(state, member) for member in members]
    return min((lease for lease in leases if lease is not None), default=None)


def _waited(state: ControllerState, row: int) -> float:
    since = float(state.rows.waits[row])
    return state.now - since if isfinite(since) else 0.0


def _lease(state: ControllerState, member: Member) -> float | None:
    """Seconds until a silent member with an operation is given up; None if it has no lease."""
    leased = member.op is not None and member.stage is not Stage.LOST and isfinite(member.reclaim)
    return max(0.0, member.reclaim - state.now) if leased else None


def _member(state: ControllerState, member: Member) -> dict[str, Any]:
    return {
        "member": member.number,
        "stage": str(member.stage),
        "connected": member.session is not None,
        "nodes": member.nodes,
        "cap": member.cap,
        "rate": member.rate,
        "charge": member.charge,
        "usable": member.usable if isfinite(member.usable) else None,
        "unpaced": member.free is not None,
        "op": member.op.number if member.op else None,
        "volume": member.op.volume if member.op else None,
        "done": member.op.reported if member.op else None,
        "lease": _lease(state, member),
        "fallback": dict(member.fallback),
    }
