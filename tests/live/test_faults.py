"""The promise under faults: what clients really use together exceeds the capacity by no more than the proved bound.

Every run is a function of its seed. The first SLICE seeds are in `make test`, the others up to RUNS in `make soak`;
PENSTOCK_FAULT_RUNS=N makes N runs. A failure names its seed, and `PENSTOCK_FAULT_SEED=S` makes that run alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from live.harness.client import FALLBACK, UNPACED
from live.harness.crash import KILL, POWER, WIPE, Death, every_death
from live.harness.judge import Judge
from live.harness.network import DOWN, UP, Weather
from live.harness.operators import VERBS
from live.harness.plan import Plan, draw_plan
from live.harness.runs import BLOCK, POLICIES, calm_plan, run_seed, run_world
from live.harness.world import World
from penstock.live.core.events import Close, Output, Send
from penstock.live.core.records import decode
from penstock.policies.sharing import Sharing, find

SLICE = 25
RUNS = int(os.environ.get("PENSTOCK_FAULT_RUNS", "3000"))
SEED = os.environ.get("PENSTOCK_FAULT_SEED")
BLOCKS = [range(first, min(first + BLOCK, RUNS)) for first in range(0, RUNS, BLOCK)] if not SEED else [[int(SEED)]]


def block(seeds: Sequence[int]) -> object:
    asked = SEED or "PENSTOCK_FAULT_RUNS" in os.environ
    later = [pytest.mark.soak] if seeds[0] >= SLICE and not asked else [pytest.mark.slow] if seeds[0] else []
    return pytest.param(seeds, marks=later, id=f"{seeds[0]}-{seeds[-1]}")


@pytest.mark.parametrize("seeds", [block(seeds) for seeds in BLOCKS])
def test_the_bound_holds(seeds: Sequence[int]) -> None:
    for seed in seeds:
        assert run_seed(seed).worst_allowed <= 1.0


def test_a_run_is_a_function_of_its_seed() -> None:
    one, two = run_seed(3), run_seed(3)
    assert one.seen == two.seen
    assert one.worst == two.worst


def test_without_faults_the_capacity_is_used_and_never_exceeded() -> None:
    worst = [run_world(calm_plan(seed)).worst for seed in range(5)]
    assert max(worst) <= 1.0 + 1e-6
    assert max(worst) >= 1.0 - 1e-6


def test_nobody_waits_longer_than_promised() -> None:
    """One at a time, and operations that are longer than anybody should wait: the floor lets the others move."""
    longest = []
    for seed in range(6):
        plan = replace(calm_plan(seed, seconds=120.0, policy=find("list-fifo")), volume=6000.0)
        longest.append(run_world(plan).longest_wait)
        assert longest[-1] <= plan.settings.max_wait * (1 + 2 * plan.drift) + plan.settings.waiting
    assert max(longest) >= plan.settings.max_wait * 0.9


def test_there_is_trouble_enough() -> None:
    """A judge that sees nothing happen proves nothing."""
    plans = [draw_plan(seed, POLICIES) for seed in range(400)]
    kinds = {kind for plan in plans for kind in plan.troubles.kinds if plan.troubles.crash}
    assert kinds == {KILL, POWER, WIPE}
    assert any(plan.weather.datagrams and plan.weather.loss >= 0.3 and plan.weather.twice for plan in plans)
    assert any(plan.weather.slowest > 2 * plan.settings.lease for plan in plans)
    assert any(plan.troubles.partition < math.inf and not plan.weather.datagrams for plan in plans)
    assert len({plan.settings.reserve for plan in plans}) == 2
    assert any(len(plan.settings.resources) > 1 for plan in plans)
    for trouble in (*VERBS, "hook"):
        assert sum(getattr(plan.troubles, trouble) < math.inf for plan in plans) >= 50
    assert sum(plan.troubles.crash_at_order > 0.0 for plan in plans) >= 20
    assert sum(plan.troubles.stirred > 0.0 and plan.troubles.partition < math.inf for plan in plans) >= 50
    assert sum(plan.settings.forget < plan.seconds for plan in plans) >= 50
    assert sum(plan.settings.shares is not None for plan in plans) >= 80
    assert sum(plan.lazy for plan in plans) >= 80


def short_plan(seconds: float) -> Plan:
    """Two clients and short leases, so that a few seconds are enough for a restart and all that follows from it."""
    plan = calm_plan(1, seconds)
    settings = replace(plan.settings, lease=2.0, beat=0.5, pace=0.002)
    clients = tuple(replace(client, cap=None) for client in plan.clients[:2])
    return replace(plan, settings=settings, clients=clients, volume=100.0)


def turns(seconds: float) -> list[tuple[list[bytes], list[Output]]]:
    """What each turn of a quiet run writes and sends."""
    seen: list[tuple[list[bytes], list[Output]]] = []

    class Watched(World):
        def death_at(
            self, turn: int, outputs: list[Output], payloads: list[bytes], sends: Sequence[object]
        ) -> Death | None:
            seen.append((payloads, outputs))
            return None

    Watched(short_plan(seconds), Judge()).run()
    return seen


def messages(outputs: list[Output]) -> int:
    return sum(isinstance(output, Send | Close) for output in outputs)


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.parametrize("kind", [KILL, POWER])
def test_dying_around_every_record_and_every_message(kind: str, every: int) -> None:
    plan, moments = short_plan(10.0), []
    for turn, (payloads, outputs) in enumerate(turns(6.0), start=1):
        if turn > 1:
            deaths = every_death(kind, payloads, messages(outputs), torn=False)
            moments += [(turn, death) for death in deaths]
    assert len(moments) > 100
    for turn, death in moments[::every]:
        run_world(plan, deaths={turn: death})


@pytest.mark.slow
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_the_last_record_is_torn_at_every_byte(every: int) -> None:
    """One turn for each kind of record that can be the last of a write."""
    plan = short_plan(10.0)
    last: dict[Any, Any] = {}
    for turn, (payloads, outputs) in enumerate(turns(6.0), start=1):
        if turn > 1 and payloads:
            last.setdefault(type(decode(payloads[-1]).record), (turn, payloads, messages(outputs)))
    assert len(last) >= 5
    for turn, payloads, sends in last.values():
        torn = [death for death in every_death(KILL, payloads, sends, torn=True) if death.bytes is not None]
        for death in torn[::every]:
            run_world(plan, deaths={turn: death})


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("delay", [0.0, 0.5])
@pytest.mark.parametrize("seeds", [3, pytest.param(8, marks=pytest.mark.soak)])
def test_over_commitment_ends(seeds: int, delay: float, policy: Sharing) -> None:
    """Cut everybody off in turn: within two leases the others have made room for the fallback rates."""
    worst = 0.0
    for seed in range(seeds):
        plan = calm_plan(seed, seconds=90.0, weather=Weather(delay=delay), partition=12.0, policy=policy)
        judge = run_world(replace(plan, volume=2000.0))
        worst = max(worst, judge.worst)
        assert judge.worst_allowed <= 1.0
    assert worst > 1.0  # else nothing was seen


def test_one_with_nothing_to_do_on_a_dead_link() -> None:
    """Cut off unnoticed while idle, then busy at its fallback: after two pings and a lease the others make room."""
    worst = 0.0
    for seed in range(8):
        plan = replace(calm_plan(seed, seconds=120.0, policy=find("fcfs")), busy=0.3)
        world = World(replace(plan, volume=600.0), judge := Judge())
        world.run_until(10.0)
        for client in world.clients[1:]:
            if client.route is None:
                world.network.block(client.index, (UP, DOWN))
        world.run()
        worst = max(worst, judge.worst)
        assert judge.worst_allowed <= 1.0
    assert worst > 1.0


def test_half_open_links() -> None:
    """Clients that are heard and hear nothing go on at their fallback and say so: others must make room for them."""
    for seed in range(8):
        plan = replace(calm_plan(seed, seconds=90.0, policy=find("list-fifo")), volume=6000.0)
        world = World(replace(plan, settings=replace(plan.settings, max_wait=300.0)), judge := Judge())
        world.run_until(20.0)
        for client in world.clients[1:]:
            world.network.block(client.index, (DOWN,))
        world.run()
        assert judge.worst_allowed <= 1.0


def long_operations(seed: int, seconds: float) -> tuple[World, Judge, str]:
    """Ten seconds into a calm run whose operations do not end, with the job that can use least."""
    plan = replace(calm_plan(seed, seconds), volume=20_000.0)
    world = World(plan, judge := Judge())
    world.run_until(10.0)
    return world, judge, min(plan.clients, key=lambda client: client.cap or math.inf).job


def test_what_an_exempt_job_can_use_is_kept_free() -> None:
    """Two leases later the others have left it all; when it is exempt no more, it is paced as they are."""
    kept = 0
    for seed in range(3):
        world, judge, job = long_operations(seed, 70.0)
        world.order("exempt", {"add": job})
        world.run_until(50.0)
        kept += judge.seen["kept free"]
        assert any(client.pace()[1] == UNPACED for client in world.clients)
        world.order("exempt", {"del": job})
        world.run()
        assert not any(client.pace()[1] == UNPACED for client in world.clients)
        assert judge.worst_allowed <= 1.0
    assert kept > 0


@pytest.mark.parametrize("exempt", [False, True])
def test_the_evicted_count_until_their_lease_is_over(exempt: bool) -> None:
    """Then they are forgotten and go on at their fallback; a minute later they ask to be taken back."""
    for seed in range(3):
        world, judge, job = long_operations(seed, 90.0)
        clients = [client for client in world.clients if client.settings.job == job]
        if exempt:
            world.order("exempt", {"add": job})
            world.run_until(15.0)
        before = {member.key: member.charge for member in world.controller.core.state.members()}
        world.order("evict", {"job": job})
        world.run_until(world.now + 0.5)
        for client in clients:
            (member,) = (member for key in client.keys if (member := world.controller.core.state.find(*key)))
            assert member.charge == before[member.key] > 0.0
        world.run_until(35.0)
        assert job not in {app.job for app in world.controller.core.state.apps.values()}
        assert {client.pace()[1] for client in clients} == {FALLBACK}
        world.run()
        assert job in {app.job for app in world.controller.core.state.apps.values()}
        assert judge.worst_allowed <= 1.0


@pytest.mark.parametrize("deaf", [False, True])
def test_a_lowered_capacity_holds_one_lease_later(deaf: bool) -> None:
    """Even if those who should use less never hear of it."""
    for seed in range(3):
        world, judge, _ = long_operations(seed, 40.0)
        for client in world.clients[1:] if deaf else ():
            world.network.block(client.index, (DOWN,))
        for resource in world.plan.settings.resources:
            world.order("capacity", {"resource": resource.name, "capacity": 0.6 * resource.capacity})
        world.run()
        assert judge.worst_allowed <= 1.0
