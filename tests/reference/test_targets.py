"""The judge of targets judged: cases worked out by hand, Figure 2 of P4, and Algorithm 1 step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import target_documents

from . import simulate as simulate_shared
from .allocations import (
    best_bandwidth,
    cpu_load,
    greedy_clairvoyant,
    greedy_non_clairvoyant,
    limits_of,
    load,
    mckp,
    n_perf,
    n_sys,
    nsys,
    static,
    stress,
    tcpu,
)
from .engine import unroll
from .orders import ORDERS
from .policies import POLICIES, Policy
from .targets import Stalled, round_robin, simulate

Document = dict[str, Any]


def app(name: str, profile: dict[int, float], *phases: tuple[str, float], **more: float) -> Document:
    return {"name": name, "profile": profile, "phases": [dict([phase]) for phase in phases], **more}


def scenario(targets: Any, *apps: Document, nodes: int | None = None, **more: float) -> Document:
    platform = {"targets": targets} | ({} if nodes is None else {"nodes": nodes})
    return {"version": 1, "platform": platform, "applications": list(apps), **more}


def simple(name: str, compute: float, volume: float, profile: dict[int, float], **more: float) -> Document:
    return app(name, profile, ("compute", compute), ("write", volume), **more)


def run(
    document: Document,
    placed: dict[str, list[int]],
    sharing: str | Policy = "fair-share",
    interval: str | None = None,
) -> Document:
    return simulate(document, {name: len(targets) for name, targets in placed.items()}, placed, sharing, interval)


def column(result: Document, key: str) -> list[Any]:
    return [row[key] for row in result["applications"]]


# Alone, each transfer of `wide` takes 2 s. `narrow` halves one of them until 2, so that it ends at 3.
FIGURE_2 = scenario(
    2,
    app("wide", {1: 1.0, 2: 2.0}, ("write", 4), ("compute", 10)),
    app("narrow", {1: 1.0}, ("write", 1), ("compute", 10)),
)


def test_figure_2_one_slow_transfer_delays_the_phase_and_no_other_transfer() -> None:
    result = run(FIGURE_2, {"wide": [0, 1], "narrow": [1]})
    assert result["interval"] == 12
    assert column(result, "io_seconds") == [3, 2]
    assert column(result, "moved") == [4, 1]
    assert column(result, "compute_done") == [9, 10]
    assert column(result, "io_slowdown") == [1.5, 2]
    assert column(result, "rho_io") == [1, 1]
    assert column(result, "rho_con") == [1.5, 2]
    assert result["mean_io_slowdown"] == 1.75
    assert result["machine_idletime"] == pytest.approx(1 - 19 / 24)
    assert result["load"] == pytest.approx((4 / 12 + 1 / 11) / 2)
    assert [target["stress"] for target in result["target_use"]] == pytest.approx([2 / 12, 2 / 12 + 1 / 11])
    assert result["imbalance"] == pytest.approx(1 / 11)
    assert [target["busy"] for target in result["target_use"]] == pytest.approx([2 / 12, 3 / 12])


def test_two_on_one_target_go_at_half_speed() -> None:
    both = [app(name, {1: 2.0}, ("write", 6), ("compute", 4)) for name in "ab"]
    result = run(scenario(1, *both), {"a": [0], "b": [0]})
    assert result["interval"] == 10
    assert column(result, "io_seconds") == [6, 6]
    assert column(result, "rho_con") == [2, 2]
    assert result["target_use"] == [{"stress": pytest.approx(6 / 7), "busy": 0.6}]


def test_alone_it_takes_what_the_profile_says() -> None:
    document = scenario(4, app("a", {1: 1.0, 2: 1.5, 3: 3.0}, ("compute", 2), ("read", 6), ("compute", 1)), nodes=5)
    for n, seconds in {1: 6, 2: 4, 3: 2}.items():
        result = run(document, {"a": list(range(n))})
        assert result["interval"] == pytest.approx(3 + seconds)
        assert column(result, "io_slowdown") == pytest.approx([seconds / 2])
        assert column(result, "rho_io") == pytest.approx([seconds / 2])
        assert column(result, "rho_con") == pytest.approx([1])
        assert result["machine_idletime"] == pytest.approx(1 - 3 / (5 * (3 + seconds)))
        assert result["load"] == pytest.approx(n * seconds / (3 + seconds) / 4)


def test_a_limit_slows_the_transfers_of_its_target_only() -> None:
    listed: list[Any] = ["fast", {"name": "slow", "bandwidth": 0.5}]
    document = scenario(listed, app("a", {2: 2.0}, ("write", 4), ("compute", 4)))
    result = run(document, {"a": [0, 1]})
    assert column(result, "io_seconds") == [4]
    assert column(result, "rho_con") == [2]
    assert [target["busy"] for target in result["target_use"]] == [0.25, 0.5]


def test_the_run_stops_at_the_first_completion_and_credits_what_is_under_way() -> None:
    document = scenario(
        2,
        app("short", {1: 1.0}, ("compute", 3)),
        app("io", {2: 2.0}, ("compute", 2), ("write", 8)),
        app("late", {1: 1.0}, ("write", 1), release=5),
        app("computing", {1: 1.0}, ("compute", 7)),
    )
    result = run(document, {"short": [0], "io": [0, 1], "late": [0], "computing": [1]}, interval="first")
    assert result["interval"] == 3
    assert column(result, "compute_done") == [3, 2, 0, 3]
    assert column(result, "moved") == [0, 2, 0, 0]
    assert column(result, "io_slowdown") == [None, 1, None, None]
    assert result["mean_io_slowdown"] == 1


def test_nobody_moves_nobody_is_slow() -> None:
    result = run(scenario(1, app("a", {1: 1.0}, ("compute", 3))), {"a": [0]})
    assert result["mean_io_slowdown"] is None
    assert result["machine_idletime"] == 0


def test_targets_decide_for_themselves() -> None:
    # On target 0 `first` is served before `second`; target 1 has `second` alone, which ends there at 1.
    document = scenario(
        2,
        app("first", {1: 1.0}, ("write", 2), ("compute", 5)),
        app("second", {2: 2.0}, ("write", 2), ("compute", 5)),
    )
    result = run(document, {"first": [0], "second": [0, 1]}, "fcfs")
    assert column(result, "io_seconds") == [2, 3]
    assert [target["busy"] for target in result["target_use"]] == pytest.approx([3 / 7, 1 / 7])


def test_a_target_where_nothing_happens_keeps_its_rates() -> None:
    # At 3 `a` has yield 2/3, `b` 1, so greedy-yield would then take `a` first; but nothing happens on target 0 then.
    document = scenario(
        2,
        app("b", {1: 1.0}, ("compute", 1), ("write", 3), ("compute", 9)),
        app("a", {1: 1.0}, ("compute", 2), ("write", 2), ("compute", 9)),
        app("other", {1: 1.0}, ("compute", 3), ("write", 1), ("compute", 9)),
    )
    apart = run(document, {"b": [0], "a": [0], "other": [1]}, "greedy-yield")
    # At 2 both have yield 1 and `b` goes on, as it was posted first; it ends at 4, `a` at 6.
    assert column(apart, "io_seconds") == [3, 4, 1]
    together = run(document, {"b": [0], "a": [0], "other": [0]}, "greedy-yield")
    # `other` comes at 3 with yield 1; `a`, the one held back, is served from 3 to 5.
    assert column(together, "io_seconds")[1] == 3


def test_orders_see_the_seconds_on_their_target() -> None:
    listed: list[Any] = [{"name": "slow", "bandwidth": 0.25}, "fast"]
    document = scenario(
        listed,
        app("hold", {2: 0.5}, ("write", 0.5), ("compute", 9)),  # 1 s on either
        app("wide", {2: 2.0}, ("compute", 0.5), ("write", 2), ("compute", 9)),  # 4 s on slow, 1 s on fast
        app("narrow", {2: 0.5}, ("compute", 0.5), ("write", 1.5), ("compute", 9)),  # 3 s on either
    )
    result = run(document, {name: [0, 1] for name in ("hold", "wide", "narrow")}, "list-shortest-io")
    # Slow: hold until 1, narrow until 4, wide until 8. Fast: hold until 1, wide until 2, narrow until 5.
    assert column(result, "io_seconds") == [1, 7.5, 4.5]


@pytest.mark.parametrize("sharing", [*POLICIES, *ORDERS])
def test_one_application_is_never_in_its_own_way(sharing: str) -> None:
    document = scenario(3, app("a", {3: 3.0}, ("write", 3), ("compute", 1), ("read", 6), ("write", 3)), noise=0.2)
    result = run(document, {"a": [0, 1, 2]}, sharing)
    assert column(result, "io_slowdown") == pytest.approx([1])
    assert result["interval"] == pytest.approx(column(result, "io_seconds")[0] + column(result, "compute_done")[0])


def on_one_link(document: Document) -> Document:
    """The same applications on one link of capacity 1, each operation as long there as on the only target."""
    apps, (limit,) = document["applications"], limits_of(document)
    shared = []
    for app in apps:
        pace = 1 / min(app["profile"][1], limit)
        listed = [{kind: amount if kind == "compute" else amount * pace} for kind, amount in unroll(app["phases"])]
        shared.append({"name": app["name"], "phases": listed})
    return document | {"platform": {"bandwidth": 1.0}, "applications": shared}


@given(sharing=st.sampled_from([*POLICIES, *ORDERS]), document=target_documents())
def test_one_target_is_one_link(sharing: str, document: Document) -> None:
    # A release is an event of a link but not of a target, so all start at 0.
    first = document["platform"]["targets"]
    document["platform"]["targets"] = 1 if isinstance(first, int) else first[:1]
    for app in document["applications"]:
        app["profile"] = {1: next(iter(app["profile"].values()))}
        app.pop("release", None)
    names = [app["name"] for app in document["applications"]]
    one = run(document, {name: [0] for name in names}, sharing)
    link = simulate_shared(on_one_link(document), sharing)
    assert one["interval"] == pytest.approx(min(row["completion"] for row in link["applications"]), rel=1e-9)


def test_characteristic_counts() -> None:
    document = scenario(4, simple("a", 6, 6, {1: 1.0, 2: 1.5, 4: 1.5, 8: 9.0}))
    a = document["applications"][0]
    assert [stress(a, n) for n in (1, 2, 4)] == pytest.approx([0.5, 0.8, 1.6])
    assert [cpu_load(a, n) for n in (1, 2, 4)] == pytest.approx([0.5, 0.6, 0.6])
    assert (n_perf(document, a), n_sys(document, a)) == (2, 1)
    assert load(document, {"a": 4}) == pytest.approx(0.4)
    assert (best_bandwidth(document), nsys(document)) == ({"a": 2}, {"a": 1})


def test_static_rounds_half_up_then_to_what_is_allowed() -> None:
    names = {"a": 1, "b": 3, "c": 2, "d": 10}
    profiles: dict[str, list[int]] = {"a": [1, 2], "b": [1, 2, 3], "c": [1, 3, 5], "d": [4]}
    apps = [simple(name, 1, 1, dict.fromkeys(profiles[name], 1.0), nodes=nodes) for name, nodes in names.items()]
    # 5 targets, 10 nodes: shares 0.5 → 1, 1.5 → 2, 1 → 1, 5 → the only one allowed.
    assert static(scenario(5, *apps, nodes=10)) == {"a": 1, "b": 2, "c": 1, "d": 4}
    # c: 2·5/5 = 2 lies between 1 and 3.
    assert static(scenario(5, apps[2], nodes=5)) == {"c": 1}


def test_algorithm_1_by_hand() -> None:
    x = simple("x", 6, 6, {1: 1.0, 2: 1.5}, nodes=1)  # stress 0.5 or 0.8, gain 0.1
    y = simple("y", 2, 2, {1: 1.0, 2: 1.25}, nodes=3)  # stress 0.5 or 8/9, gain 1/6
    z = simple("z", 1, 1, {1: 1.0})  # stress 0.5
    # On 2 targets: 0.75 at first. y gains most and fits: 0.944. Then x would make it 1.094.
    assert tcpu(scenario(2, x, y, z)) == {"x": 1, "y": 2, "z": 1}
    # On 3 targets there is room for both, as if everyone took its best.
    assert tcpu(scenario(3, x, y, z)) == {"x": 2, "y": 2, "z": 1}
    # Equal gains go to the first.
    twins = [simple(name, 6, 6, {1: 1.0, 2: 1.5}) for name in "pqr"]
    assert tcpu(scenario(2, *twins)) == {"p": 2, "q": 1, "r": 1}  # 0.75, then 0.9, then 1.05


def test_algorithm_1_looks_past_a_count_that_does_not_fit() -> None:
    full = app("full", {3: 1.0}, ("write", 1))  # stress 3
    some = simple("some", 3, 1, {1: 1.0})  # stress 0.25
    leap = simple("leap", 1, 1, {1: 1.0, 2: 1.01, 4: 6.0})  # stress 0.5, 0.995, 0.571
    assert tcpu(scenario(4, full, some, leap)) == {"full": 3, "some": 1, "leap": 4}
    # Saturated from the start: nothing moves.
    assert tcpu(scenario(4, full, full | {"name": "more"}, leap)) == {"full": 3, "more": 3, "leap": 1}


def test_mckp_by_hand() -> None:
    a, b = simple("a", 1, 1, {1: 1.0, 2: 3.0, 3: 3.5}), simple("b", 1, 1, {1: 2.0, 2: 2.5})
    assert mckp(scenario(2, a, b)) == {"a": [0], "b": [1]}
    assert mckp(scenario(3, a, b)) == {"a": [0, 1], "b": [2]}  # 5.0 against 3.5
    assert mckp(scenario(4, a, b)) == {"a": [0, 1], "b": [2, 3]}  # 5.5 twice: lexicographic
    assert mckp(scenario(9, a, b)) == {"a": [0, 1, 2], "b": [3, 4]}
    flat = simple("flat", 1, 1, {1: 1.0, 2: 1.0})
    assert mckp(scenario(4, flat, flat | {"name": "too"})) == {"flat": [0], "too": [1]}  # least total
    assert mckp(scenario(2, a, b, flat)) == {"a": [1], "b": [0], "flat": [1]}  # one target for b, one for the rest
    assert mckp(scenario(1, a, b)) == {"a": [0], "b": [0]}
    assert mckp(scenario(2, simple("p", 1, 1, {2: 1.0}), simple("q", 1, 1, {1: 1.0}))) is None


def test_placements_by_hand() -> None:
    apps = [simple("a", 3, 1, {1: 1.0}), simple("b", 1, 1, {3: 1.0}), simple("c", 1, 3, {2: 1.0})]
    document = scenario(4, *apps)
    counts = {"a": 1, "b": 3, "c": 2}
    # b takes 0 to 2, c 3 and 0, a 1.
    assert greedy_non_clairvoyant(document, counts) == {"a": [1], "b": [0, 1, 2], "c": [0, 3]}
    # c (0.75 each) on 0, 1; b (0.5 each) on 2, 3 and then 0; a on 2.
    assert greedy_clairvoyant(document, counts) == {"a": [2], "b": [0, 2, 3], "c": [0, 1]}


def repeated(name: str, targets: int, times: int, work: float) -> Document:
    loop = {"repeat": times, "phases": [{"compute": work}, {"write": 1.0}]}
    return {"name": name, "profile": {targets: 1.0}, "phases": [loop]}


def test_round_robin_on_several_targets_keeps_one_order() -> None:
    # Blocks of their own would be c, dbc, dbc, ac, ac on target 0 and c, ac, ac, dc, dc on target 1. Then 0 would wait
    # for d, whose second operation comes after the first one on 1, which would wait for a, and that for 0.
    document = scenario(
        2, repeated("a", 2, 2, 0), repeated("b", 1, 2, 1), repeated("c", 2, 5, 0), repeated("d", 2, 2, 0)
    )
    assert "".join(round_robin(document)) == "cdbcdbcacac"
    result = run(document, {"a": [0, 1], "b": [0], "c": [0, 1], "d": [0, 1]}, "hierarchical-round-robin")
    # Target 0: c, d, b, c, d. Target 1: c, d, c, d, c.
    assert result["interval"] == 5
    assert column(result, "io_seconds") == [5, 3, 5, 5]
    assert column(result, "moved") == [0, 1, 2.5, 2]


def test_a_run_that_cannot_go_on_says_so() -> None:
    with pytest.raises(Stalled):
        run(scenario(1, app("a", {1: 1.0}, ("write", 1))), {"a": [0]}, lambda state: {})
