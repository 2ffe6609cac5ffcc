"""Looks in pieces: none of them is long however many members there are, and the state may change in between."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from live.core.talk import Talk, settings_of
from penstock.live.core import Core, Stage, status
from penstock.live.core.events import Connected, Frame, Identity, Input, Tick
from penstock.live.core.forecast import forecasts
from penstock.live.core.job_status import top
from penstock.live.core.pieces import Pieces, whole
from penstock.policies.sharing import find
from penstock.wire import messages as wire

MEMBERS, ACTIVE = 10_000, 600
LOOKS: dict[str, Callable[[Core], Pieces[Any]]] = {
    "status": status.summary,
    "top": lambda core: top(core.state, 100),
    "top of all": lambda core: top(core.state, MEMBERS, idle=True),
    "batch": lambda core: status.batch(core.state),
    "forecasts": forecasts,
}
LONGEST = 0.25  # of the whole look


def core_of(jobs: int, members: int = MEMBERS) -> Core:
    """So many jobs and members; some have an operation."""
    each = members // jobs
    settings = settings_of(machine_nodes=members, members_per_job=each)
    core = Core(settings, find("fair-share"), epoch=1, boot=0.0, warm=True)
    sessions = range(1, members + 1)
    inputs: list[Input] = [Connected(number, Identity("peer", 1000)) for number in sessions]
    inputs += [Frame(n, wire.Register(1, f"job-{(n - 1) // each}", n % each)) for n in sessions]
    inputs += [Frame(n, wire.Post(2, 1, 1, 1e9)) for n in sessions[:ACTIVE]]
    inputs.append(Connected(0, Identity("peer", 0, "hook")))
    inputs += [Frame(0, wire.Hook(n, "job_start", f"job-{n}", uid=1000, nodes=1)) for n in range(jobs)]
    core.step(1.0, inputs)
    return core


@pytest.fixture(scope="module", params=[MEMBERS, 10], ids=["10,000 jobs", "10 jobs"])
def crowded(request: pytest.FixtureRequest) -> Iterator[Core]:
    gc.freeze()
    core = core_of(request.param)
    assert len(core.state.members()) == MEMBERS
    gc.disable()  # what it takes has nothing to do with what is looked at
    yield core
    gc.enable()
    gc.unfreeze()


def seconds_of(look: Pieces[Any]) -> list[float]:
    """Processor time of each piece."""
    taken = []
    while True:
        began = time.process_time()
        over = next(look, look) is look
        taken.append(time.process_time() - began)
        if over:
            return taken


@pytest.mark.parametrize("name", LOOKS)
def test_no_piece_of_a_look_at_ten_thousand_members_is_long(crowded: Core, name: str) -> None:
    """The least of several tries: what else the machine does is in none of them, or in few."""
    longest = total = float("inf")
    for _ in range(4):
        crowded.forecast = None
        taken = seconds_of(LOOKS[name](crowded))
        longest, total = min(longest, max(taken)), min(total, sum(taken))
    assert longest <= max(LONGEST * total, 1e-3), f"{1e3 * longest:.2f} of {1e3 * total:.2f} ms"


def test_a_look_goes_on_while_those_it_looks_at_come_and_go() -> None:
    core = core_of(400, members=400)
    looks: list[Pieces[Any]] = [top(core.state, 1000, idle=True), status.everything(core), forecasts(core)]
    for pieces in looks:
        next(pieces)
    for session in range(1, 401, 2):
        core.step(2.0, [Frame(session, wire.Complete(1, 1e9)), Frame(session, wire.Goodbye("done"))])
    jobs, everything, _ = (whole(pieces) for pieces in looks)
    left = {app.job for app in core.state.apps.values() if any(m.stage is Stage.POSTED for m in app.members.values())}
    assert len(left) == 200
    assert {job["job"] for job in jobs if job["active"]} == left
    assert {job["job"] for job in everything["applications"] if job["active"]} >= left


def test_looks_leave_no_records() -> None:
    talk = Talk()
    talk.join("a").post()
    before = len(talk.records)
    for verb in ("status", "top", "snapshot", "mine", "forecasts", "batch"):
        answer = talk.admin(verb)
        assert answer and not isinstance(answer, wire.Error)
    talk.core.step(talk.now, [Tick()])
    assert len(talk.records) == before
