"""The controller's state in words and numbers for people: what `status` shows, and bridges ask. Plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.live.core.job_status import everybody, lease_of
from penstock.live.core.members import Member
from penstock.live.core.pieces import GLANCES, Pace, Pieces, members_of
from penstock.live.core.state import GRACE, RUN, ControllerState

if TYPE_CHECKING:
    from penstock.live.core.core import Core

NEARLY = 0.98  # of what a job would use: from there on it is not held back
_MOST_NAMED = 20  # jobs that go past their pacers


class _Census:
    """What all members come to."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self.stages: Counter[str] = Counter()
        self.active: set[int] = set()  # applications
        self.settling = 0
        self._outside: dict[int, dict[str, Any]] = {}

    def add(self, members: Sequence[Member]) -> None:
        """Take some in."""
        self.stages.update([member.stage._value_ for member in members])
        self.active.update([member.app.number for member in members if member.row is not None])
        self.settling += _settling(self._state, members)
        for member in members:
            if member.outside or "unpaced" in member.labels:
                self._add_outside(member)

    def _add_outside(self, member: Member) -> None:
        app = member.app
        known = self._outside.setdefault(app.number, {"job": app.job, "uid": app.uid, "bytes": 0.0, "by": set()})
        known["bytes"] += member.outside
        if how := member.how or member.labels.get("unpaced", ""):
            known["by"].add(how)

    def outside(self) -> list[dict[str, Any]]:
        """Jobs of which bytes go past their pacers, those with most first, and those that nothing can pace."""
        most = sorted(self._outside.values(), key=lambda each: -each["bytes"])[:_MOST_NAMED]
        return [{**each, "by": sorted(each["by"])} for each in most]


def summary(core: Core) -> Pieces[dict[str, Any]]:
    """How the controller is."""
    state = core.state
    found = _Census(state)
    for some in members_of(list(state.apps.values()), GLANCES):
        found.add(some)
        yield
    return {
        "epoch": state.epoch,
        "mode": state.mode,
        "settling": found.settling,
        "draining": state.draining,
        "frozen": core.frozen,
        "policy": "fair-share" if state.overrun else core.decider.policy.label,
        "policy_failures": state.failures,
        "last_policy_failure": state.last_failure,
        "up": state.now,
        "capacity": capacities(state),
        "connections": len(core.sessions),
        "applications": len(state.apps),
        "active": len(found.active),
        "members": dict(found.stages),
        "waiting": len(core.dispatch.waiting),
        **held_back(state),
        "decisions": state.decisions,
        "exempt": sorted(state.exempt),
        "hooks_ignored": core.hooks_ignored,
        "outside": found.outside(),
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
            "kind": resource.kind,
        }
        for k, resource in enumerate(state.settings.resources)
    }


def held_back(state: ControllerState) -> dict[str, int]:
    """How many jobs are granted less than they would use, and how many of these nothing."""
    rows = state.rows
    if not rows.count or state.mode not in (RUN, GRACE):
        return {"held_back": 0, "stopped": 0}
    _, which = np.unique(rows.application[: rows.count], return_inverse=True)
    rate, able = (np.bincount(which, each) for each in (rows.rate[: rows.count], rows.able))
    held = rate < NEARLY * able
    return {"held_back": int(held.sum()), "stopped": int((held & (rate <= 0.0)).sum())}


def settling(state: ControllerState) -> int:
    """How many may still go unpaced although they should not."""
    return _settling(state, state.members())


def _settling(state: ControllerState, members: Sequence[Member]) -> int:
    if state.chosen != "run":
        return 0
    free = [member for member in members if member.free is not None]
    return sum(not state.is_exempt(member) for member in free)


def batch(state: ControllerState) -> Pieces[dict[str, Any]]:
    """What a bridge to the batch system asks: the jobs it has said to start, and how full the fullest resource is."""
    jobs = yield from _batch_jobs(state)
    resources = [each for each in capacities(state).values() if each["in_service"] and each["capacity"] > 0.0]
    return {
        "jobs": jobs,
        "committed": max((each["charged"] / each["capacity"] for each in resources), default=0.0),
    }


def _batch_jobs(state: ControllerState) -> Pieces[list[dict[str, Any]]]:
    """`names`: nodes on which it has not ended; `leased`: whether members of it are connected or have a lease."""
    pace, found = Pace(), []
    for name, job in list(state.jobs.items()):
        bytes_of, names_of = (each.get((name, job.uid)) for each in (state.by_job, state.on_names))
        charge, leased = 0.0, False
        for app in (bytes_of, names_of):
            for some in members_of([app] if app is not None else []):
                charge += sum(member.charge for member in some) if app is bytes_of else 0.0
                leased = leased or any(_is_leased(state, member) for member in some)
                if pace.enough(1 + len(some)):
                    yield
        found.append(
            {
                "job": name,
                "restart": job.restart,
                "uid": job.uid,
                "account": job.account,
                "nodes": job.nodes,
                "names": [node for node in job.names if node not in job.over],
                "ending": job.ending,
                "charge": charge,
                "leased": leased,
            }
        )
    return found


def _is_leased(state: ControllerState, member: Member) -> bool:
    return member.session is not None or lease_of(state, member) is not None


def everything(core: Core) -> Pieces[dict[str, Any]]:
    """The summary and all applications with their members."""
    told = yield from summary(core)
    apps = yield from everybody(core.state)
    return {"status": told, "applications": apps}
