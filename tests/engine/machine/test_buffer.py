"""A whole machine with a burst buffer: equal to the loop made for buffers where that suffices, and never overfull."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from pytest import approx

from penstock import Scenario, buffer, simulate
from penstock.engine.machine.execution import execute_machine
from penstock.model import Plan
from penstock.studies.machine import MachineStudy
from penstock.studies.machine import run as machine_run
from penstock.studies.machine.run import policies_of

from .test_machine import assert_same


def behind(seed: int, *, joint: bool, extra: dict[str, Any] | None = None) -> Scenario:
    """A few jobs that read and write behind a buffer whose parts are given."""
    draw = random.Random(seed)
    jobs: list[dict[str, Any]] = []
    for i in range(draw.randint(1, 4)):
        body: list[dict[str, Any]] = [{"read": draw.uniform(0.2, 3)}] if draw.random() < 0.6 else []
        body += [{"compute": draw.uniform(0.1, 3)}, {"write": draw.uniform(0.5, 4)}]
        job: dict[str, Any] = {"name": f"j{i}", "nodes": draw.randint(1, 3), "bandwidth": draw.uniform(0.5, 4)}
        job["release"] = draw.uniform(0, 4) if draw.random() < 0.6 else 0
        jobs.append(job | {"phases": [{"repeat": draw.randint(1, 3), "phases": body}]})
    cuts = [draw.random() for _ in jobs]
    whole = draw.uniform(0.5, 1.3)  # more than all of it: some wait for others to drain
    shares = {job["name"]: min(1.0, whole * cut / sum(cuts)) for job, cut in zip(jobs, cuts, strict=True)}
    platform: dict[str, Any] = {"burst_buffer": {"capacity": draw.uniform(0.5, 5), "shares": shares}}
    platform |= {"bandwidth": 1.0} if joint else {"write_bandwidth": 1.0, "read_bandwidth": 0.8}
    platform["burst_buffer"] |= extra or {}
    return Scenario.from_document({"version": 1, "platform": platform, "applications": jobs})


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("lead", [math.inf, 0.0])
@pytest.mark.parametrize("seed", range(6))
def test_max_min_on_the_file_system_is_the_strategy_of_p5(
    seed: int, lead: float, joint: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the loop made for buffers bit by bit, on that of whole machines as nearly as can be."""
    scenario = behind(seed, joint=joint)
    device = scenario.platform.burst_buffer
    assert device is not None
    special = buffer(scenario, device.capacity, lead=lead, strategy="fair")
    plan = Plan.model_validate({"sharing": "max-min", "buffering": {"lead": "forever" if lead else 0}})
    chosen = simulate(scenario, plan=plan)
    assert tuple(each.completion for each in chosen.applications) == special.completion
    assert chosen.events == special.events
    monkeypatch.setattr(machine_run, "buffer_alone", lambda *_: False)
    general = simulate(scenario, plan=plan)
    assert_same(chosen, general)
    assert chosen.resources is not None and general.resources is not None
    for one, other in zip(chosen.resources, general.resources, strict=True):
        assert (other.name, other.busy, other.moved) == (one.name, approx(one.busy), approx(one.moved))
    assert [each.completion for each in general.applications] == approx(special.completion, rel=1e-9)
    assert general.node_hours_lost == pytest.approx(special.node_hours_lost, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("policy", ["fair-share", "fcfs", "greedy-yield", "max-min", "greedy-com", "set-10"])
def test_all_that_is_written_and_read_crosses_the_file_system(policy: str) -> None:
    for seed in range(4):
        scenario = behind(seed, joint=False, extra={"bandwidth": 2.5} if seed % 2 else None)
        study = MachineStudy(scenario.model_copy(update={"plan": Plan(sharing=policy)}))
        chosen = policies_of(study, None)
        run = execute_machine(study.program, study.kind, study.network, study.resources, chosen, None, study.behind)
        names = [each.name for each in study.resources]
        moved = dict(zip(names, run.moved, strict=True))
        in_all = run.run.transferred.sum()
        assert moved["file_system:write"] + moved["file_system:read"] == pytest.approx(in_all, rel=1e-9)
        # Nobody gets more than there is, at any time.
        busy = dict(zip(names, run.busy, strict=True))
        for name, capacity in (("file_system:write", 1.0), ("file_system:read", 0.8)):
            assert moved[name] <= busy[name] * capacity * (1 + 1e-9)


def test_a_buffer_in_front_of_targets() -> None:
    job = {"bandwidth": 4, "profile": {1: 1.0, 2: 2.0}, "phases": [{"write": 8}, {"compute": 2}, {"write": 8}]}
    document: dict[str, Any] = {
        "version": 1,
        "platform": {"targets": 2, "burst_buffer": {"capacity": 6, "shares": {"a": 1.0}}},
        "applications": [{"name": "a", **job}],
        "plan": {"placement": {"a": [0, 1]}},
    }
    result = simulate(Scenario.from_document(document))
    # 8 bytes at 4/s fill 6 while 2/s drain: full after 3 s, but the write takes 2 s. 4 are held then, of which 2 s of
    # compute drain all. The same again.
    assert result.applications[0].completion == pytest.approx(6.0)
    assert result.resources is not None
    assert [each.moved for each in result.resources] == pytest.approx([8.0, 8.0])
    tight = document | {"platform": {"targets": 2, "burst_buffer": {"capacity": 2, "shares": {"a": 1.0}}}}
    # Full after 1 s and 4 bytes; the other 4 pass through at 2/s: 3 s, and again 3 s after the compute.
    assert simulate(Scenario.from_document(tight)).applications[0].completion == pytest.approx(8.0)


def test_a_slow_port_is_crossed_twice_by_what_passes_through() -> None:
    job = {"name": "a", "bandwidth": 4, "phases": [{"write": 6}]}
    platform = {"write_bandwidth": 3, "burst_buffer": {"capacity": 1e-3, "bandwidth": 2, "shares": {"a": 1.0}}}
    document = {"version": 1, "platform": platform, "applications": [job], "plan": {"sharing": "fair-share"}}
    # The part is full at once: what is written passes through, which crosses the port twice, at 1/s.
    assert simulate(Scenario.from_document(document)).makespan == pytest.approx(6.0, rel=1e-3)


@pytest.mark.parametrize("seed", [0, 1, 3, 7, 9, 23, 30])
def test_a_port_is_shared_as_in_the_loop_for_buffers(seed: int) -> None:
    scenario = behind(seed, joint=seed % 2 == 0, extra={"bandwidth": 1.0 + 0.6 * (seed % 7)})
    device = scenario.platform.burst_buffer
    assert device is not None
    special = buffer(scenario, device.capacity, lead=0.0, strategy="fair")
    general = simulate(scenario, plan=Plan.model_validate({"sharing": "max-min", "buffering": {"lead": 0}}))
    assert [each.completion for each in general.applications] == pytest.approx(special.completion, rel=1e-9)


def test_who_finds_no_room_in_the_buffer_writes_past_its_port() -> None:
    # All of the device is a's, and what it leaves will be b's. c gets no part: 4 bytes at the 2/s of the file system.
    a, b = ({"name": name, "bandwidth": 4, "phases": [{"compute": 10}, {"write": 1}]} for name in "ab")
    c = {"name": "c", "bandwidth": 4, "release": 1, "phases": [{"write": 4}]}
    shares = {"a": 1.0, "b": 0.5, "c": 0.5}
    platform = {"write_bandwidth": 2, "burst_buffer": {"capacity": 2, "bandwidth": 1, "shares": shares}}
    plan = {"sharing": "fair-share", "buffering": {"lead": 0}}
    document = {"version": 1, "platform": platform, "applications": [a, b, c], "plan": plan}
    assert simulate(Scenario.from_document(document)).applications[2].completion == pytest.approx(3.0)


@pytest.mark.parametrize("capacity", [2.0, 3.0])
def test_what_rounding_leaves_of_the_device_is_no_room(capacity: float) -> None:
    """a, b and c have all of it, though 2 - 1.4 - 0.4 - 0.2 is 6e-17 by its digits, and e is next. So d writes past.

    Its byte takes 1 s; twice across the port, at 0.25 bytes/s, it took 4.
    """
    shares = {"a": 0.7, "b": 0.2, "c": 0.1, "d": 0.25, "e": 0.25}
    jobs: list[dict[str, Any]] = [{"name": name, "bandwidth": 1, "phases": [{"compute": 12}]} for name in "abcde"]
    jobs[3] |= {"release": 3, "phases": [{"write": 1}]}
    jobs[4] |= {"release": 2}
    device = {"capacity": capacity, "bandwidth": 0.5, "shares": shares}
    platform = {"read_bandwidth": 2, "write_bandwidth": 2, "burst_buffer": device}
    scenario = Scenario.from_document({"version": 1, "platform": platform, "applications": jobs})
    plan = Plan.model_validate({"sharing": "fcfs", "buffering": {"lead": "forever"}})
    assert simulate(scenario, plan=plan).applications[3].completion == approx(4.0)
    assert buffer(scenario, capacity, lead=math.inf, strategy="fair").completion[3] == approx(4.0)
