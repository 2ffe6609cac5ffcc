"""Flows that come, move and go, by hand: two on one path, with the arrays that each step touches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from as_python import as_python
from penstock.engine.machine import motion
from penstock.engine.machine.state import DIRTY, TOUCHED


def machine() -> Any:
    """Flow 0 crosses resources 1 and 0, flow 1 crosses resource 1, flow 2 nothing; nobody is there."""
    network = SimpleNamespace(
        path=np.array([0, 2, 3, 3]),
        resource=np.array([1, 0, 1]),
        room=np.array([0, 1, 3]),
        peak=np.array([7.0, 8.0, 9.0]),
    )
    flows = SimpleNamespace(
        **{name: np.zeros(3) for name in ("rate", "remaining", "updated", "carried")},
        **{name: np.zeros(3, np.int64) for name in ("active", "member", "slot")},
        members=np.zeros(2, np.int64),
        moving=np.zeros(2, np.int64),
        busy=np.zeros(2),
        busy_since=np.zeros(2),
    )
    desk = SimpleNamespace(
        bottom=np.full(2, 4.0),
        dirty_resource=np.zeros(2, np.int64),
        waiting=np.zeros(2, np.int64),
        stop=np.zeros(3),
        given=np.zeros(3),
    )
    clock = SimpleNamespace(counts=np.zeros(10, np.int64))
    return SimpleNamespace(network=network, flows=flows, desk=desk, clock=clock)


def test_who_is_touched_is_noted_once() -> None:
    apps = SimpleNamespace(is_touched=np.zeros(3, np.int64), touched=np.zeros(3, np.int64))
    clock = SimpleNamespace(counts=np.zeros(10, np.int64))
    for i in (2, 0, 2):
        as_python(motion.touch)(apps, clock, i)
    assert clock.counts[TOUCHED] == 2 and apps.touched.tolist() == [2, 0, 0] and apps.is_touched.tolist() == [1, 0, 1]


def test_a_resource_that_is_to_decide_is_noted_once() -> None:
    whole = machine()
    for resource in (1, 1, 0):
        whole.desk.bottom[resource] = 4.0
        as_python(motion.soil)(whole.clock, whole.desk, resource)
        assert whole.desk.bottom[resource] == -1.0
    assert whole.clock.counts[DIRTY] == 2 and whole.desk.waiting.tolist() == [1, 0]
    assert whole.desk.dirty_resource.tolist() == [1, 1]


def test_bytes_move_up_to_now() -> None:
    flows = machine().flows
    flows.rate[1], flows.remaining[1], flows.updated[1], flows.carried[1] = 3.0, 20.0, 5.0, 1.0
    as_python(motion.bring_up)(flows, 1, 7.0)
    assert (flows.remaining[1], flows.carried[1], flows.updated[1]) == (14.0, 7.0, 7.0)


def test_a_resource_is_busy_while_somebody_moves() -> None:
    whole = machine()
    network, flows = whole.network, whole.flows
    for flow, rate, now in [(0, 2.0, 10.0), (1, 1.0, 12.0), (0, 3.0, 13.0), (0, 0.0, 15.0), (1, 0.0, 18.0)]:
        as_python(motion.set_rate)(network, flows, flow, rate, now)
        assert flows.rate[flow] == rate
        if now == 13.0:
            assert flows.moving.tolist() == [1, 2] and flows.busy_since.tolist() == [10.0, 10.0]
    assert flows.moving.tolist() == [0, 0]
    assert flows.busy.tolist() == [5.0, 8.0]  # from 10 to 15, and until the other ends at 18
    assert flows.carried.tolist() == [2 * 3 + 3 * 2, 6.0, 0.0]
    for rate, now in [(0.5, 20.0), (0.0, 21.0)]:
        as_python(motion.set_rate)(network, flows, 1, rate, now)
    assert flows.busy.tolist() == [5.0, 9.0]


def test_flows_come_and_go() -> None:
    whole = machine()
    flows, desk = whole.flows, whole.desk
    as_python(motion.open_flow)(whole, 0, 40.0, 3.0)
    as_python(motion.open_flow)(whole, 1, 50.0, 4.0)
    assert flows.active.tolist() == [1, 1, 0] and flows.remaining.tolist() == [40.0, 50.0, 0.0]
    assert flows.updated.tolist() == [3.0, 4.0, 0.0] and desk.stop.tolist() == [np.inf, np.inf, 0.0]
    assert flows.members.tolist() == [1, 2]
    assert flows.member.tolist() == [1, 0, 2] and flows.slot.tolist() == [1, 0, 2]  # edges, by resource
    assert sorted(desk.waiting.tolist()) == [0, 1] and flows.rate.tolist() == [0.0, 0.0, 0.0]

    desk.dirty_resource[:] = whole.clock.counts[DIRTY] = 0
    flows.rate[0], flows.moving[:] = 2.0, 1
    as_python(motion.close_flow)(whole, 0, 5.0)
    assert flows.active.tolist() == [0, 1, 0] and flows.rate[0] == 0.0 and flows.carried[0] == 4.0
    assert flows.members.tolist() == [0, 1]
    assert flows.member[1] == 2 and flows.slot[2] == 1  # the last one took its place
    assert desk.dirty_resource.tolist() == [1, 1] and flows.moving.tolist() == [0, 0]


def test_a_flow_that_crosses_nothing_has_its_peak_at_once() -> None:
    whole = machine()
    as_python(motion.open_flow)(whole, 2, 40.0, 3.0)
    assert (whole.flows.rate[2], whole.desk.given[2]) == (9.0, 9.0)
    assert not whole.clock.counts.any()
