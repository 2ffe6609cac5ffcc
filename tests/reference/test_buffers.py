"""The judge of burst buffers judged: closed forms, cases worked out by hand, and slower or older ways to the same."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from scipy.optimize import linprog

from strategies import amounts

from . import engine
from .buffers import (
    HIGHS,
    Flow,
    Program,
    caps_of,
    demands_of,
    events_of,
    fairest_shares,
    fill,
    limits_of,
    literal_lp,
    simulate_greedy,
    verify,
    volume_of,
)
from .engine import Document, unroll

SEPARATE = {"read_bandwidth": 1, "write_bandwidth": 1}
JOINT = {"bandwidth": 1}


def app(name: str, *phases: tuple[str, float], **more: float) -> Document:
    return {"name": name, "phases": [dict([phase]) for phase in phases], **more}


def scenario(platform: Document, *apps: Document) -> Document:
    return {"version": 1, "platform": platform, "applications": list(apps)}


def size(document: Document, partition: str) -> float:
    return float(literal_lp(document, partition)["size"])


def contents(result: Document, name: str = "a") -> list[Any]:
    return [pytest.approx((time, output[name], held[name])) for time, output, held in result["contents"]]


# -- limits, caps, demand -------------------------------------------------------------------------------------------


def test_limits_fall_back_to_the_joint_one_and_then_to_none() -> None:
    assert limits_of(scenario({"bandwidth": 3})) == (3, 3, 3)
    assert limits_of(scenario({"bandwidth": 3, "read_bandwidth": 2})) == (2, 3, 3)
    assert limits_of(scenario({"read_bandwidth": 2, "write_bandwidth": 5})) == (2, 5, inf)


def test_caps_are_not_clipped_to_the_file_system() -> None:
    document = scenario({"bandwidth": 3, "read_bandwidth": 2, "node_bandwidth": 4})
    assert caps_of(document, app("a", nodes=2)) == (8, 8)
    assert caps_of(document, app("a", bandwidth=5, write_bandwidth=7)) == (5, 7)
    assert caps_of(scenario({"bandwidth": 3, "read_bandwidth": 2}), app("a")) == (2, 3)


def test_demand_at_full_speed() -> None:
    phases = ("read", 4), ("compute", 3), ("write", 0), ("write", 6)
    [demand] = demands_of(scenario(SEPARATE, app("a", *phases, read_bandwidth=4, write_bandwidth=2, release=1)))
    assert demand.times == [1, 2, 5, 8]
    assert demand.read == [0, 4, 4, 4]
    assert demand.written == [0, 0, 0, 6]
    assert [list(curve) for curve in demand.at(np.array([0, 1.5, 6.5, 9]))] == [[0, 2, 4, 4], [0, 0, 3, 6]]


def test_times_closer_than_a_billionth_of_the_span_are_one_event() -> None:
    first = app("a", ("compute", 1), ("compute", 9))
    second = app("c", ("compute", 1 + 9e-9), ("compute", 5 - 9e-9), ("compute", 2e-8))
    assert list(events_of(demands_of(scenario(SEPARATE, first, second)))) == pytest.approx([0, 1, 6, 6 + 2e-8, 10])


# -- sizes by hand --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("partition", ["isolated", "static", "dynamic"])
@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("platform", [SEPARATE, JOINT])
def test_one_burst_needs_what_the_file_system_cannot_take_meanwhile(kind: str, platform: Any, partition: str) -> None:
    document = scenario(platform, app("a", ("compute", 1), (kind, 12), ("compute", 1), bandwidth=4, release=2))
    assert size(document, partition) == pytest.approx(12 * (1 - 1 / 4))


def test_two_bursts_add_up_when_there_is_no_time_to_drain() -> None:
    # 6 left at 2; one second drains 1; the next burst leaves 3 more.
    document = scenario(SEPARATE, app("a", ("write", 8), ("compute", 1), ("write", 4), bandwidth=4))
    assert size(document, "isolated") == pytest.approx(6 - 1 + 3)


def test_two_simultaneous_writers_share_evenly() -> None:
    document = scenario(SEPARATE, *(app(name, ("write", 4), bandwidth=2) for name in "ac"))
    assert size(document, "isolated") == pytest.approx(2)
    assert size(document, "dynamic") == size(document, "static") == pytest.approx(8 - 2)
    assert fairest_shares(document, 6) == pytest.approx({"a": 3, "c": 3})


def test_no_share_is_larger_than_its_owner_can_use() -> None:
    document = scenario(SEPARATE, app("a", ("write", 8), bandwidth=4), app("c", ("write", 1), bandwidth=0.5))
    assert size(document, "static") == pytest.approx(7)
    assert fairest_shares(document, 7) == pytest.approx({"a": 6, "c": 1})


def test_bursts_at_different_times_cost_twice_only_when_shares_are_fixed() -> None:
    early = app("a", ("write", 3), ("compute", 9), bandwidth=3)
    late = app("c", ("compute", 9), ("write", 3), bandwidth=3)
    assert size(scenario(SEPARATE, early, late), "dynamic") == pytest.approx(2)
    assert size(scenario(SEPARATE, early, late), "static") == pytest.approx(4)


def test_jobs_back_to_back_are_never_counted_together() -> None:
    pair = [app(name, ("write", 3), ("compute", 2), bandwidth=3, release=r) for name, r in (("a", 0), ("c", 3))]
    assert size(scenario(SEPARATE, *pair), "static") == pytest.approx(2)
    assert fairest_shares(scenario(SEPARATE, *pair), 2) == pytest.approx({"a": 2, "c": 2})


def test_output_left_at_completion_takes_room_from_the_next_job() -> None:
    # `a` ends at 1 with 2 to drain, when `c` takes its 2; unless `a` drains for a second before.
    first, second = app("a", ("write", 3), bandwidth=3), app("c", ("compute", 2), ("write", 3), bandwidth=3)
    assert size(scenario(SEPARATE, first, second | {"release": 1}), "static") == pytest.approx(4)
    assert size(scenario(SEPARATE, first, second | {"release": 2}), "static") == pytest.approx(3)


def test_input_staged_before_release_takes_room_from_the_job_before() -> None:
    # `c` must hold 2 when it starts at 3, until when `a` keeps its 2 although they are empty.
    pair = app("a", ("write", 3), ("compute", 2), bandwidth=3), app("c", ("read", 3), bandwidth=3, release=3)
    assert size(scenario(SEPARATE, *pair), "static") == pytest.approx(4)
    assert size(scenario(SEPARATE, *pair), "dynamic") == pytest.approx(2)


def test_space_passes_from_one_that_drains_to_one_not_yet_released() -> None:
    # From 1 to 3 `a` gives back 2 while `c`, released at 3, stages in the 2 that it cannot fetch while it reads.
    pair = app("a", ("write", 3), bandwidth=3), app("c", ("read", 3), bandwidth=3, release=3)
    assert size(scenario(SEPARATE, *pair), "static") == pytest.approx(2)


def test_reads_before_the_first_event_are_free() -> None:
    document = scenario(SEPARATE, app("a", ("read", 10), bandwidth=10))
    found = literal_lp(document, "dynamic")
    assert found["size"] == pytest.approx(9)
    assert found["schedule"]["before"]["a"] == pytest.approx(9)


def test_a_joint_limit_needs_more_than_the_two_directions_one_by_one() -> None:
    # 3 - w1 + r1 at 1 and 5 - w1 - r1 at 3, with w1 ≤ 1: they add up to at least 6.
    phases = ("write", 3), ("compute", 2), ("read", 4)
    document = scenario(JOINT, app("a", *phases, write_bandwidth=3, read_bandwidth=2))
    assert sweep(document) == pytest.approx(2)
    assert size(document, "dynamic") == size(document, "static") == size(document, "isolated") == pytest.approx(3)


def test_without_io_nothing_is_needed() -> None:
    assert size(scenario(SEPARATE, app("a", ("compute", 2))), "static") == 0


# -- random sizes ---------------------------------------------------------------------------------------------------


@st.composite
def documents(
    draw: DrawFn, kinds: tuple[str, ...] = ("compute", "read", "write"), joint: bool | None = None
) -> Document:
    exact = draw(st.booleans())
    limits = draw(st.sampled_from([("bandwidth",), ("bandwidth", "read_bandwidth", "write_bandwidth")]))
    if joint is False or (joint is None and draw(st.booleans())):
        limits = ("read_bandwidth", "write_bandwidth")
    elif joint:
        limits = ("bandwidth",)
    apps = []
    for name in "acd"[: draw(st.integers(1, 3))]:
        listed = draw(st.lists(st.tuples(st.sampled_from(kinds), amounts(0.5, 4, exact)), min_size=1, max_size=5))
        caps = {f"{kind}_bandwidth": draw(amounts(0.5, 4, exact)) for kind in ("read", "write")}
        apps.append(app(name, *listed, release=draw(amounts(0, 4, exact)), **caps))
    return scenario({limit: draw(amounts(0.5, 4, exact)) for limit in limits}, *apps)


def sweep(document: Document) -> float:
    """The most held when draining as early and fetching as late as each direction's limit allows."""
    demands = demands_of(document)
    events = events_of(demands)
    read_limit, write_limit, _ = limits_of(document)
    read, written = (sum(curves) for curves in zip(*(demand.at(events) for demand in demands), strict=True))
    backlog, ahead = [0.0], [0.0]
    for seconds, more in zip(np.diff(events), np.diff(written), strict=True):
        backlog.append(max(0.0, backlog[-1] + more - write_limit * seconds))
    for seconds, more in zip(np.diff(events)[::-1], np.diff(read)[::-1], strict=True):
        ahead.append(max(0.0, ahead[-1] + more - read_limit * seconds))
    return float(max(np.array(backlog) + np.array(ahead[::-1])))


@settings(deadline=None, max_examples=60)
@given(documents(), st.sampled_from(["static", "dynamic"]))
def test_the_dual_proves_the_size_and_the_schedule_reaches_it(document: Document, partition: str) -> None:
    found = literal_lp(document, partition)
    assert found["certificate"] == pytest.approx(found["size"], abs=1e-8 * (volume_of(demands_of(document)) or 1))
    assert verify(document, found["schedule"], found) == []
    if found["size"] > 1e-3 * volume_of(demands_of(document)):
        assert verify(document, found["schedule"], found | {"size": 0.99 * found["size"]})


@settings(deadline=None, max_examples=60)
@given(documents())
def test_fixed_shares_need_most_and_one_alone_least(document: Document) -> None:
    static, dynamic, isolated = (size(document, partition) for partition in ("static", "dynamic", "isolated"))
    assert static >= dynamic - 1e-9 >= isolated - 2e-9
    assert dynamic >= sweep(document) - 1e-9


@settings(deadline=None, max_examples=60)
@given(documents(joint=False))
def test_the_sweep_is_exact_without_a_joint_limit(document: Document) -> None:
    assert size(document, "dynamic") == pytest.approx(sweep(document), abs=1e-8)


@settings(deadline=None, max_examples=40)
@given(documents(kinds=("compute", "write"), joint=False))
def test_reading_is_writing_backwards(document: Document) -> None:
    end = max(demand.times[-1] for demand in demands_of(document))
    mirrored = []
    for job, demand in zip(document["applications"], demands_of(document), strict=True):
        phases = [("read" if kind == "write" else kind, amount) for kind, amount in unroll(job["phases"])]
        mirrored.append(app(job["name"], *phases[::-1], read_bandwidth=job["write_bandwidth"], write_bandwidth=1))
        mirrored[-1]["release"] = end - demand.times[-1]
    limit = document["platform"]["write_bandwidth"]
    other = scenario({"read_bandwidth": limit, "write_bandwidth": 1}, *mirrored)
    for partition in ("isolated", "static", "dynamic"):
        assert size(other, partition) == pytest.approx(size(document, partition), abs=1e-8)


@settings(deadline=None, max_examples=30)
@given(documents())
def test_no_optimal_partition_is_more_even(document: Document) -> None:
    best = size(document, "static")
    shares = fairest_shares(document, best)
    program = Program(document, "static")
    point = np.array(list(shares.values())) / program.unit
    slope = np.zeros(program.size + 1)
    slope[program.share(0) : program.size] = point
    bounds = program.bounds()
    bounds[program.size] = (0.0, best / program.unit + 1e-9)
    result = linprog(slope, A_ub=program.matrix(), b_ub=program.room, bounds=bounds, options=HIGHS)
    # The shortest point of a convex set is the one that no point of the set lies before, seen from 0.
    assert result.fun >= point @ point - 1e-7
    assert reachable(document, best, shares)


def reachable(document: Document, whole: float, shares: dict[str, float]) -> bool:
    """Whether some schedule respects these sizes."""
    program = Program(document, "static")
    sizes = np.array([*shares.values(), whole]) / program.unit
    bounds = [*program.bounds()[: program.share(0)], *((0.0, high + 1e-9) for high in sizes)]
    result = linprog(np.zeros(program.size + 1), A_ub=program.matrix(), b_ub=program.room, bounds=bounds)
    return bool(result.status == 0)


# -- the verifier ---------------------------------------------------------------------------------------------------

READS = scenario(SEPARATE, app("a", ("compute", 1), ("read", 4), ("compute", 1), bandwidth=4))
READ_SIZES = {"partition": "static", "size": 3.0, "shares": {"a": 3.0}}
READ_PLAN = {"events": [0, 1, 2, 3], "before": {"a": 2}, "written": {"a": [0, 0, 0]}, "read": {"a": [1, 1, 0]}}


MORE = "a: fetched more than it reads at"


@pytest.mark.parametrize(
    ("change", "sizes", "rules"),
    [
        ({}, {}, []),
        ({"before": {"a": 1}}, {}, ["a: read before fetched at 2", "a: read before fetched at 3"]),
        ({"read": {"a": [1, 2, 0]}}, {}, [f"{MORE} 2", f"{MORE} 3", "B_r at 1"]),
        ({"read": {"a": [2, 0, 0]}}, {}, ["B_r at 0", "a: S_k at 1"]),
        ({"read": {"a": [1, 2, -1]}}, {}, ["a: read falls at 3", f"{MORE} 2", "B_r at 1"]),
        ({"written": {"a": [1, -1, 0]}}, {}, ["a: written falls at 2", "a: sent before written at 1"]),
        ({}, {"shares": {"a": 2.5}}, ["a: S_k at 1"]),
        ({}, {"size": 2.5}, ["S at 0", "S at 1", "S at 2"]),
        ({}, {"size": 2.5, "partition": "dynamic"}, ["S at 1"]),
    ],
)
def test_the_verifier_names_what_is_broken(change: Document, sizes: Document, rules: list[str]) -> None:
    broken = verify(READS, READ_PLAN | change, READ_SIZES | sizes)
    assert sorted(line.rsplit(":", 1)[0] for line in broken) == sorted(rules)


def test_the_verifier_knows_the_joint_limit() -> None:
    document = scenario(JOINT, app("a", ("write", 1), ("read", 1), bandwidth=1))
    plan = {"events": [0, 1, 2], "before": {"a": 0}, "written": {"a": [1, 0]}, "read": {"a": [1, 0]}}
    [line] = verify(document, plan, {"partition": "dynamic", "size": 1})
    assert line.startswith("B at 0")


def test_draining_may_be_faster_than_the_application_writes() -> None:
    document = scenario(
        {"read_bandwidth": 1, "write_bandwidth": 2}, app("a", ("write", 2), ("compute", 2), bandwidth=0.5)
    )
    plan = {"events": [0, 4, 5], "before": {"a": 0}, "written": {"a": [0, 2]}, "read": {"a": [0, 0]}}
    assert verify(document, plan, {"partition": "static", "size": 2, "shares": {"a": 2}}) == []


# -- filling --------------------------------------------------------------------------------------------------------


def filled(limits: tuple[float, float, float], *flows: Flow) -> list[float | None]:
    fill(list(flows), limits)
    return [flow.rate for flow in flows]


def test_filling_by_hand() -> None:
    assert filled((inf, 3, inf), Flow("write", 1), Flow("write", 8)) == [1, 2]
    assert filled((1, inf, 4), Flow("read", 5), Flow("read", 5), Flow("write", 5)) == [0.5, 0.5, 3]
    assert filled((2, 3, inf), Flow("read", 5), Flow("write", 5)) == [2, 3]
    slow = Flow("write", 0.25)
    assert filled((1, 1, 1), slow, Flow("read", 5, under=[slow]), Flow("write", 5)) == [0.25, 0.25, 0.5]


@settings(deadline=None)
@given(st.data())
def test_every_flow_has_a_reason_not_to_be_faster(data: st.DataObject) -> None:
    exact = data.draw(st.booleans())
    limits = tuple(data.draw(amounts(0.5, 4, exact) | st.just(inf)) for _ in range(3))
    flows: list[Flow] = []
    for kind in data.draw(st.lists(st.sampled_from(["read", "write", "under"]), min_size=1, max_size=6)):
        cap = data.draw(amounts(0.5, 4, exact))
        flows.append(Flow("write" if kind == "under" else kind, cap))
        if kind == "under":
            flows.append(Flow("read", data.draw(amounts(0.5, 4, exact)), under=[flows[-1]]))
    fill(flows, limits)
    for flow in flows:
        tied = inf if flow.under is None else sum(above.rate or 0.0 for above in flow.under)
        assert flow.rate is not None and tied is not None and flow.rate <= min(flow.cap, tied) + 1e-12
        reasons = [flow.rate >= min(flow.cap, tied) - 1e-12]
        for limit, kinds in zip(limits, (("read",), ("write",), ("read", "write")), strict=True):
            members = [other.rate for other in flows if other.kind in kinds and other.rate is not None]
            assert sum(members) <= limit + 1e-12
            full = sum(members) >= limit - 1e-12
            reasons.append(flow.kind in kinds and full and flow.rate >= max(members) - 1e-12)
        assert any(reasons)


# -- strategy G by hand ---------------------------------------------------------------------------------------------


def test_a_full_buffer_slows_the_writer_down_to_the_file_system() -> None:
    # 4 go in 1 s, of which 3 stay; then 8 at 1.
    document = scenario(SEPARATE, app("a", ("compute", 1), ("write", 12), bandwidth=4))
    result = simulate_greedy(document, 3, {"a": 1})
    assert result["completion"] == pytest.approx({"a": 10})
    assert result["max_stretch"] == result["mean_stretch"] == pytest.approx(10 / 4)
    assert contents(result) == [(0, 0, 0), (1, 0, 0), (2, 3, 0), (10, 3, 0), (13, 0, 0)]


def test_fetching_waits_while_writing_into_a_full_buffer_and_then_follows_the_drain() -> None:
    # Fills at 3 + 1 until 0.75; 1 more written at 1; 2.25 drained and replaced until 4; full of input until it reads.
    document = scenario(SEPARATE, app("a", ("write", 4), ("compute", 10), ("read", 6), bandwidth=4))
    result = simulate_greedy(document, 3, {"a": 1})
    held = [(0, 0, 0), (0.75, 2.25, 0.75), (1.75, 2.25, 0.75), (4, 0, 3), (11.75, 0, 3), (12.75, 0, 0), (14.75, 0, 0)]
    assert contents(result) == held
    assert result["stretch"] == pytest.approx({"a": 14.75 / 12.5})
    assert result["moved"] == pytest.approx({"produced": 4, "sent": 4, "fetched": 6, "consumed": 6})


def test_what_a_full_buffer_cannot_take_goes_to_other_readers() -> None:
    # From 0.5 to 2 `a` fetches at 1, as it drains, so that `c` gets 2 of the 3.
    first = app("a", ("write", 2), ("compute", 1.5), ("read", 3), bandwidth=4)
    document = scenario(
        {"read_bandwidth": 3, "write_bandwidth": 1}, first, app("c", ("read", 3), bandwidth=4, release=0.5)
    )
    result = simulate_greedy(document, 3, {"a": 1, "c": 0})
    assert contents(result) == [(0, 0, 0), (0.5, 1.5, 1.5), (2, 0, 3), (2.75, 0, 0)]
    assert result["completion"] == pytest.approx({"a": 2.75, "c": 2})


def test_fetching_starts_before_release() -> None:
    document = scenario(SEPARATE, app("a", ("read", 6), bandwidth=3, release=5))
    result = simulate_greedy(document, 8, {"a": 0.5})
    assert contents(result) == [(0, 0, 0), (4, 0, 4), (5, 0, 4), (7, 0, 0)]
    assert result["stretch"] == pytest.approx({"a": 1})


def test_fetching_looks_one_read_ahead() -> None:
    phases = ("compute", 4), ("read", 2), ("compute", 4), ("read", 2)
    result = simulate_greedy(scenario(SEPARATE, app("a", *phases, bandwidth=2)), inf, {"a": 1})
    assert contents(result) == [(0, 0, 0), (2, 0, 2), (4, 0, 2), (5, 0, 1), (6, 0, 2), (9, 0, 2), (10, 0, 0)]


def test_with_a_joint_limit_both_directions_rise_together() -> None:
    # One each: 3 and 1 held at 1; the input is used up at 4/3; then 8/3 at 1 beside the drain.
    document = scenario({"bandwidth": 2}, app("a", ("write", 4), ("read", 4), bandwidth=4))
    result = simulate_greedy(document, inf, {"a": 1})
    assert contents(result) == [(0, 0, 0), (1, 3, 1), (4 / 3, 8 / 3, 0), (4, 0, 0)]
    assert result["stretch"] == pytest.approx({"a": 2})


def test_a_buffer_without_bounds_leaves_the_draining_for_later() -> None:
    document = scenario(SEPARATE, *(app(name, ("write", 4), ("compute", 1), bandwidth=4) for name in "ac"))
    result = simulate_greedy(document, inf, {"a": 0.5, "c": 0.5})
    assert result["completion"] == pytest.approx({"a": 2, "c": 2})
    assert contents(result, "c") == [(0, 0, 0), (1, 3.5, 0), (2, 3, 0), (8, 0, 0)]


def test_without_a_buffer_bandwidth_is_shared_evenly_up_to_the_caps() -> None:
    first, second = app("a", ("write", 4), bandwidth=1), app("c", ("write", 4), bandwidth=8)
    result = simulate_greedy(scenario({"write_bandwidth": 3, "read_bandwidth": 1}, first, second), 0, {"a": 1, "c": 1})
    assert result["completion"] == pytest.approx({"a": 4, "c": 2})
    assert result["stretch"] == pytest.approx({"a": 1, "c": 4})


def test_draining_is_capped_by_the_application_itself() -> None:
    # A third each until 4, when all that `c` and `d` wrote is sent; the 2/3 left of `a` then go at 0.5, not at 1.
    others = [app(name, ("write", 4 / 3), bandwidth=4) for name in "cd"]
    result = simulate_greedy(
        scenario(SEPARATE, app("a", ("write", 2), bandwidth=0.5), *others), inf, {"a": 1, "c": 1, "d": 1}
    )
    assert contents(result) == [(0, 0, 0), (1 / 3, 1 / 18, 0), (4, 2 / 3, 0), (16 / 3, 0, 0)]


def test_what_one_drains_from_the_common_part_another_may_write() -> None:
    # 3 held at 1, all there is; then half of 1 each, and `c` also gets the half that `a` makes free.
    first, second = app("a", ("write", 4), bandwidth=4), app("c", ("compute", 1), ("write", 4), bandwidth=4)
    result = simulate_greedy(scenario(SEPARATE, first, second), 3, {"a": 1, "c": 1}, common=1)
    assert result["completion"] == pytest.approx({"a": 1, "c": 5})
    assert contents(result) == [(0, 0, 0), (1, 3, 0), (5, 1, 0), (7, 0, 0), (8, 0, 0)]
    assert contents(result, "c") == [(0, 0, 0), (1, 0, 0), (5, 2, 0), (7, 1, 0), (8, 0, 0)]


def test_the_common_part_is_used_by_those_whose_own_is_full() -> None:
    # 1 each and 2 for both: `a` has filled its own at 1/3 and the common part at 1; `c` its own from 2 to 8/3.
    first, second = app("a", ("write", 8), bandwidth=4), app("c", ("compute", 2), ("write", 3), bandwidth=2)
    result = simulate_greedy(scenario(SEPARATE, first, second), 4, {"a": 0.5, "c": 0.5}, common=0.5)
    assert result["completion"] == pytest.approx({"a": 8, "c": 6})
    held = [(0, 0), (1 / 3, 1), (1, 3), (2, 3), (8 / 3, 3), (6, 3), (8, 3), (10, 1), (11, 0)]
    assert contents(result) == [(time, output, 0) for time, output in held]


def test_room_made_free_is_shared_up_to_what_writers_can_use() -> None:
    # `a` leaves 6 of 6 at 2 and drains at 1; `c` can use a quarter of a byte beside its own 1, `d` has the rest.
    jobs = app("a", ("write", 12), bandwidth=6), app("c", ("compute", 2), ("write", 5), bandwidth=1.25)
    document = scenario({"write_bandwidth": 3, "read_bandwidth": 1}, *jobs, app("d", ("compute", 2), ("write", 7)))
    result = simulate_greedy(document, 6, {"a": 1, "c": 1, "d": 1}, common=1)
    assert result["completion"] == pytest.approx({"a": 2, "c": 6, "d": 6})
    assert contents(result)[:3] == [(0, 0, 0), (2, 6, 0), (6, 2, 0)]
    assert contents(result, "c")[2] == (6, 1, 0)
    assert contents(result, "d")[2] == (6, 3, 0)


# -- strategy G at random -------------------------------------------------------------------------------------------


def even(state: Document) -> dict[str, float]:
    """Plain max-min sharing: serve those with the smallest caps first, each at most an even part of what is left."""
    left, rates = state["capacity"], {}
    waiting = sorted(state["active"], key=lambda flow: flow["bandwidth"])
    for i, flow in enumerate(waiting):
        rates[flow["name"]] = min(flow["bandwidth"], left / (len(waiting) - i))
        left -= rates[flow["name"]]
    return rates


@settings(deadline=None, max_examples=60)
@given(documents(joint=True))
def test_without_a_buffer_it_is_max_min_sharing(document: Document) -> None:
    result = simulate_greedy(document, 0, {job["name"]: 1.0 for job in document["applications"]})
    plain = engine.simulate(document, even)
    assert list(result["completion"].values()) == pytest.approx([row["completion"] for row in plain["applications"]])


@settings(deadline=None, max_examples=60)
@given(documents(), amounts(0, 6, True), st.sampled_from([0.0, 0.3, 1.0]))
def test_bytes_are_kept_and_buffers_respected(document: Document, capacity: float, common: float) -> None:
    shares = {job["name"]: (1 + i) / 6 for i, job in enumerate(document["applications"])}
    result = simulate_greedy(document, capacity, shares, common)
    moved = result["moved"]
    assert moved["produced"] == pytest.approx(moved["sent"])
    assert moved["fetched"] == pytest.approx(moved["consumed"])
    assert moved["produced"] + moved["fetched"] == pytest.approx(volume_of(demands_of(document)))
    assert min(result["stretch"].values()) >= 1 - 1e-9
    for _, output, held in result["contents"]:
        assert min(*output.values(), *held.values()) >= -1e-9
        beyond = [output[name] + held[name] - share * (1 - common) * capacity for name, share in shares.items()]
        assert sum(max(0.0, one) for one in beyond) <= common * capacity + 1e-8


@settings(deadline=None, max_examples=30)
@given(documents(kinds=("compute", "write")))
def test_writers_are_never_slowed_by_a_buffer_without_bounds(document: Document) -> None:
    result = simulate_greedy(document, inf, {job["name"]: 1.0 for job in document["applications"]})
    assert result["max_stretch"] == pytest.approx(1)


def simulate_in_steps(
    document: Document, spaces: dict[str, float], step: float, common: float = 0.0
) -> dict[str, float]:
    """Strategy G with a clock that ticks: each step moves what the state at its beginning allows; no transitions.

    `common` bytes are for everybody who writes.
    """
    jobs: list[dict[str, Any]] = []
    for job in document["applications"]:
        phases = [[kind, float(amount)] for kind, amount in unroll(job["phases"]) if amount > 0]
        caps = dict(zip(("read", "write"), caps_of(document, job), strict=True))
        ahead = next((amount for kind, amount in phases if kind == "read"), 0.0)
        jobs.append({"name": job["name"], "phases": [["compute", float(job["release"])], *phases], "caps": caps})
        jobs[-1] |= {"output": 0.0, "input": 0.0, "ahead": ahead, "space": spaces[job["name"]]}
    finished: dict[str, float] = {}
    tick = 0
    while len(finished) < len(jobs):
        for job in jobs:
            begin_phase(job, tick * step, finished)
        flows = step_flows(jobs, limits_of(document), step)
        for job in jobs:
            move_for_a_step(job, flows, step)
        use_common_part(jobs, common)
        tick += 1
        assert tick * step < 1000
    return finished


def begin_phase(job: dict[str, Any], now: float, finished: dict[str, float]) -> None:
    """Drop what is over (a read never runs below nothing); entering a read lets the next one be fetched."""
    while job["phases"] and job["phases"][0][1] <= 1e-9:
        job["phases"].pop(0)
        if job["phases"] and job["phases"][0][0] == "read":
            job["ahead"] += next((amount for kind, amount in job["phases"][1:] if kind == "read"), 0.0)
    if not job["phases"]:
        finished.setdefault(job["name"], now)


def step_flows(
    jobs: list[dict[str, Any]], limits: tuple[float, float, float], step: float
) -> dict[tuple[str, str], float]:
    """Rates for a step; what may be fetched depends on what is drained, so go round until they agree."""
    drained = {job["name"]: job["caps"]["write"] for job in jobs}
    for _ in range(30):
        flows: dict[tuple[str, str], Flow] = {}
        for job in jobs:
            kind, left = job["phases"][0] if job["phases"] else ("done", 0.0)
            fresh = min(job["caps"]["write"] * step, left) if kind == "write" else 0.0
            flows[job["name"], "write"] = Flow("write", min(job["caps"]["write"], (job["output"] + fresh) / step))
            room = max(0.0, job["space"] - job["output"] - job["input"])
            cap = min(job["caps"]["read"], job["ahead"] / step)
            if kind == "write":
                cap = min(cap, max(0.0, room - max(0.0, fresh - drained[job["name"]] * step)) / step)
            elif kind != "read":
                cap = min(cap, room / step + drained[job["name"]])
            flows[job["name"], "read"] = Flow("read", cap)
        fill(list(flows.values()), limits)
        before, drained = drained, {job["name"]: flows[job["name"], "write"].rate or 0.0 for job in jobs}
        if before == drained:
            break
    return {key: flow.rate or 0.0 for key, flow in flows.items()}


def move_for_a_step(job: dict[str, Any], flows: dict[tuple[str, str], float], step: float) -> None:
    sent, fetched = flows[job["name"], "write"] * step, flows[job["name"], "read"] * step
    kind, left = job["phases"][0] if job["phases"] else ("done", 0.0)
    room = max(0.0, job["space"] - job["output"] - job["input"])
    job["output"] -= sent
    job["input"] += fetched
    job["ahead"] -= fetched
    done = step
    if kind == "write":
        done = min(job["caps"]["write"] * step, left, sent + room)
        job["output"] += done
        job["wanting"] = min(job["caps"]["write"] * step, left) - done
    elif kind == "read":
        done = min(job["caps"]["read"] * step, left, job["input"])
        job["input"] -= done
    if job["phases"]:
        job["phases"][0][1] -= done


def use_common_part(jobs: list[dict[str, Any]], common: float) -> None:
    """What there was no room for in this step goes into the common part as far as it can, shared alike."""
    beyond = sum(max(0.0, job["output"] + job["input"] - job["space"]) for job in jobs)
    wanting = {job["name"]: Flow("write", job.pop("wanting", 0.0)) for job in jobs}
    fill(list(wanting.values()), (inf, max(0.0, common - beyond), inf))
    for job in jobs:
        if job["phases"] and (more := wanting[job["name"]].rate):
            job["output"] += more
            job["phases"][0][1] -= more


# A step is lost at most at every end of a phase, its own or another's that it waits for; at most 5 seen.
@settings(deadline=None, max_examples=25)
@given(documents(), amounts(0, 6, True))
def test_a_ticking_clock_gives_the_same(document: Document, capacity: float) -> None:
    shares = {job["name"]: (1 + i) / 6 for i, job in enumerate(document["applications"])}
    spaces = {name: capacity * share for name, share in shares.items()}
    step = 1 / 128
    slow = simulate_in_steps(document, spaces, step)
    assert simulate_greedy(document, capacity, shares)["completion"] == pytest.approx(slow, abs=15 * step)


@settings(deadline=None, max_examples=25)
@given(documents(kinds=("compute", "write")), amounts(0, 6, True), st.sampled_from([0.3, 1.0]))
def test_a_ticking_clock_gives_the_same_with_a_common_part(document: Document, capacity: float, common: float) -> None:
    shares = {job["name"]: (1 + i) / 6 for i, job in enumerate(document["applications"])}
    spaces = {name: (1 - common) * capacity * share for name, share in shares.items()}
    step = 1 / 128
    slow = simulate_in_steps(document, spaces, step, common * capacity)
    assert simulate_greedy(document, capacity, shares, common)["completion"] == pytest.approx(slow, abs=15 * step)
