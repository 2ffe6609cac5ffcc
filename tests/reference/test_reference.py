"""The judge judged: cases small enough to work out by hand, and the linear program for best-next-event."""

import math
import random

import numpy as np
import pytest

from . import bound_min_yield, decide, simulate
from .engine import default_delta, stages_of
from .lp import best_min_yield
from .next_event import best_candidate, flows_of, peak
from .policies import POLICIES, quantise


def scenario(*apps, capacity=1.0, window=None, **more):
    listed = [{"name": f"a{i}", **app} for i, app in enumerate(apps)]
    document = {"version": 1, "platform": {"bandwidth": capacity}, "applications": listed, **more}
    return document | ({"window": {"begin": window[0], "end": window[1]}} if window else {})


def flow(name, remaining, bandwidth=1.0, *, posted=0.0, release=0.0, progress=0.0, **more):
    known = {"name": name, "bandwidth": bandwidth, "remaining": remaining, "posted": posted}
    return known | {"release": release, "progress": progress, **more}


def state(*flows, capacity=1.0, now=0.0, end=None):
    return {"capacity": capacity, "now": now, "end": end, "active": list(flows)}


def app(*phases, **more):
    return {"phases": [dict([phase]) for phase in phases], **more}


def completions(result):
    return [row["completion"] for row in result["applications"]]


TWO = scenario(app(("write", 2)), app(("compute", 1), ("write", 1)))


def test_fair_share_by_hand():
    # a0 alone until 1 (1 byte left), then halves until 3: both end at 3.
    result = simulate(TWO, "fair-share")
    assert completions(result) == [3, 3]
    assert [row["yield"] for row in result["applications"]] == pytest.approx([2 / 3, 2 / 3])
    assert result["trace"] == [(0, {"a0": 1}), (1, {"a0": 0.5, "a1": 0.5})]
    assert (result["events"], result["end"], result["makespan"]) == (3, 3, 3)
    assert result["max_stretch"] == result["mean_stretch"] == pytest.approx(1.5)
    assert result["utilization"] == pytest.approx(1 / 6)
    assert result["efficiency"] == pytest.approx(4 / 6)
    assert result["io_weight"] == pytest.approx(1.5)
    assert result["pressure"] is result["bound_min_yield"] is None


def test_fcfs_by_hand():
    result = simulate(TWO, "fcfs")
    assert completions(result) == [2, 3]
    assert result["events"] == 4
    assert result["min_yield"] == pytest.approx(2 / 3)


def test_greedy_com_prefers_the_shorter_rest():
    long_short = scenario(app(("write", 3)), app(("compute", 1), ("write", 1)))
    assert completions(simulate(long_short, "greedy-com")) == [4, 2]


def test_greedy_yield_serves_whoever_is_behind():
    # In the window [4, 8] a0 has half its progress, a1 all of it: a0 first, then the rest of the window is a1's.
    document = scenario(app(("write", 3), progress=2), app(("write", 3)), window=(4, 8))
    result = simulate(document, "greedy-yield")
    assert [row["yield"] for row in result["applications"]] == pytest.approx([5 / 7, 5 / 8])
    assert completions(result) == [7, None]
    assert result["applications"][0]["stretch"] == pytest.approx(7 / 5)
    assert result["makespan"] is None
    assert result["max_stretch"] == pytest.approx(7 / 5)
    assert result["pressure"] == pytest.approx(6 / 4)
    assert result["events"] == 3  # both posted, a0 completed, end of the window
    # 8y−2 and 8y−4 bytes fit into 4: y = 10/16, below a0's dedicated 5/7.
    assert result["bound_min_yield"] == pytest.approx(10 / 16)


def test_ticks():
    # Alone each starts one operation: E = 4, δ = 1. The tick at 4 is the window's end.
    document = scenario(app(("write", 4)), app(("write", 4)), window=(0, 4))
    assert default_delta(document) == 1
    result = simulate(document, "periodic-greedy-yield")
    assert [time for time, _ in result["trace"]] == [0, 1, 2, 3]
    assert [rates["a0"] for _, rates in result["trace"]] == [1, 0, 1, 0]
    assert result["events"] == 5
    assert simulate(document, "greedy-yield")["events"] == 2
    assert simulate(document, "periodic-greedy-yield", delta=3)["events"] == 3


def test_an_operation_posted_at_the_end_does_not_count_for_the_tick():
    assert default_delta(scenario(app(("compute", 4), ("write", 1)), app(("write", 1)), window=(0, 4))) == 2
    assert default_delta(scenario(app(("compute", 4)), window=(0, 4))) is None


def test_computes_merge_and_empty_phases_vanish():
    plain = scenario(app(("compute", 3), ("write", 1)))
    split = scenario(app(("write", 0), ("compute", 1), ("compute", 0), ("read", 0), ("compute", 2), ("write", 1)))
    first, second = simulate(plain), simulate(split)
    assert first == second
    assert first["events"] == 3


def test_trailing_compute_is_no_event():
    result = simulate(scenario(app(("write", 1), ("compute", 5)), app(("compute", 2), ("write", 1))))
    assert completions(result) == [6, 3]
    assert result["events"] == 4  # start, a0 writes, a1 posts, a1 done; not a0's end at 6
    assert result["end"] == 6


def test_release_is_an_event_and_forever_runs_to_the_end():
    body = {"repeat": "forever", "phases": [{"compute": 1}, {"write": 1}]}
    document = scenario({"phases": [body]}, app(("compute", 9), release=3.5), window=(0, 8))
    result = simulate(document)
    assert result["events"] == 10  # 0, 1, 2, 3, 3.5, 4, 5, 6, 7, 8
    assert [row["yield"] for row in result["applications"]] == [1, 1]
    assert result["applications"][0]["transferred"] == 4
    assert result["io_weight"] == pytest.approx(0.5)
    assert result["efficiency"] == pytest.approx((8 + 4.5) / 16)


def test_forever_without_io_only_computes():
    document = scenario({"phases": [{"repeat": "forever", "phases": [{"compute": 1}]}]}, window=(0, 8))
    result = simulate(document)
    assert (result["events"], result["utilization"], completions(result)) == (2, 1, [None])


def test_repeat_nests():
    inner = {"repeat": 2, "phases": [{"write": 1}]}
    document = scenario({"phases": [{"repeat": 3, "phases": [{"compute": 1}, inner]}]})
    assert list(stages_of(document, 0)) == [(1, 1, 1), (0, 1, 1)] * 3
    assert completions(simulate(document)) == [9]


def test_limits():
    platform = {"bandwidth": 10.0, "node_bandwidth": 2.0}
    apps = [{"nodes": 3}, {"nodes": 9}, {"bandwidth": 4}, {"bandwidth": 4, "write_bandwidth": 5}, {"bandwidth": 99}]
    document = scenario(*(app(("read", 20), ("write", 20), **more) for more in apps)) | {"platform": platform}
    limits = [[limit for _, _, limit in stages_of(document, i)] for i in range(5)]
    assert limits == [[6, 6], [10, 10], [4, 4], [4, 5], [10, 10]]


def test_a_compute_below_the_tolerance_is_swallowed_but_credited():
    document = scenario(app(("compute", 1), ("write", 1), ("compute", 1e-9), ("write", 1)))
    result = simulate(document)
    assert result["events"] == 4
    assert result["applications"][0]["compute_done"] == 1 + 1e-9
    assert completions(result) == [3]


def test_noise_draws_once_per_listed_phase():
    document = scenario(app(("compute", 4)), app(("write", 0), ("compute", 2), ("write", 3)), noise=0.5, seed=7)
    draws = 1 + np.random.default_rng([7, 1]).uniform(-0.5, 0.5, 3)
    assert list(stages_of(document, 1)) == [pytest.approx((2 * draws[1], 3 * draws[2], 1))]


def test_bound_stops_at_the_slowest_dedicated_run():
    assert bound_min_yield(scenario(app(("write", 1), progress=2), app(("write", 1)), window=(4, 8))) == 3 / 5
    # Two seconds of compute first, so a yield y takes 6y − 2 bytes of each, within 6 in all.
    both = scenario(*[app(("compute", 2), ("write", 9))] * 2, window=(0, 6))
    assert bound_min_yield(both) == pytest.approx(5 / 6)


def test_quantise():
    assert quantise(1.0) == quantise(1 - 2e-16) == quantise(1 + 4e-10)
    assert quantise(1.0) < quantise(1 + 3e-9)
    assert (quantise(0.0), quantise(math.inf)) == (0.0, math.inf)


def test_undisturbed_applications_are_ordered_by_posting():
    late = flow("a", 1, posted=3, progress=10 * (1 - 1e-15))
    assert decide(state(late, flow("b", 1, posted=2, progress=10), now=10), "greedy-yield")["rates"] == {"b": 1, "a": 0}


def test_decide_clips_limits_and_takes_an_idle_system():
    assert decide(state(flow("a", 4, bandwidth=9), capacity=2), "fcfs") == {
        "rates": {"a": 2},
        "next_event": 2,
        "min_yield": 1,
    }
    assert decide(state(end=5), "fcfs") == {"rates": {}, "next_event": 5, "min_yield": None}


def test_lookahead_prefers_the_better_next_event():
    # First a: event at 8, b has 5.5/18. First b: event at 1, a has 5/11, which is better.
    decision = decide(state(flow("a", 8, progress=5), flow("b", 1, progress=5.5), now=10), "lookahead-greedy-yield")
    assert decision["rates"] == {"b": 1, "a": 0}
    assert decision["next_event"] == 11
    assert decision["min_yield"] == pytest.approx(5 / 11)


def test_set_10_by_hand():
    # ω = 1 and 100: priorities 1 and 0.01; the newcomer joins with priority 1. x is held to 0.2 of its 1/2.01.
    flows = [flow("x", 9, bandwidth=0.2, omega=1.0), flow("y", 9, omega=100.0), flow("z", 9, posted=1, omega=90.0)]
    rates = decide(state(*flows, flow("new", 9), now=2), "set-10")["rates"]
    assert rates == pytest.approx({"x": 0.2, "y": 0.8 / 101, "z": 0, "new": 0.8 * 100 / 101})
    assert decide(state(flow("new", 1)), "set-10")["rates"] == {"new": 1}


def test_the_first_io_is_no_iteration():
    seen = []

    def spy(now):
        seen.append([f.get("omega") for f in now["active"]])
        return POLICIES["fcfs"](now)

    simulate(scenario(app(("write", 1), ("write", 3), ("compute", 4), ("read", 1), ("read", 1))), spy)
    assert seen == [[None], [None], [3], [4]]


def test_best_next_event_splits_evenly_when_that_is_best():
    # a completes at u: 1/u for a, 1 − 1/u for b; they meet at u = 2.
    decision = decide(state(flow("a", 1), flow("b", 1)), "best-next-event")
    assert decision["rates"] == pytest.approx({"a": 0.5, "b": 0.5})
    assert decision["next_event"] == pytest.approx(2)


def test_best_next_event_aims_at_the_window():
    rates = decide(state(flow("a", 9), flow("b", 9, progress=1), now=2, end=6), "best-next-event")["rates"]
    assert rates == pytest.approx({"a": 2.5 / 4, "b": 1.5 / 4})


def test_best_next_event_may_idle():
    # b's cap holds it to (1 + u)/(9 + u): waiting for u = 4 (its completion) is best, and a's byte takes only 1/4.
    held = state(flow("a", 1, progress=7), flow("b", 2, bandwidth=0.5, progress=1), now=9)
    decision = decide(held, "best-next-event")
    assert decision["rates"] == pytest.approx({"a": 1 / 4, "b": 0.5})
    assert decision["next_event"] == pytest.approx(13)
    assert decision["min_yield"] == pytest.approx(5 / 13)


def test_best_next_event_shares_the_rest_lexicographically():
    # s can take 0.2 at most and its (1 + u)/(10 + u) rises until the window's end; the other 0.8 bring 4 bytes by then,
    # which lift p and q to 7.5 each.
    held = state(flow("s", 9, 0.2, progress=1), flow("p", 9, progress=5), flow("q", 9, progress=6), now=10, end=15)
    decision = decide(held, "best-next-event")
    assert decision["rates"] == pytest.approx({"s": 0.2, "p": 2.5 / 5, "q": 1.5 / 5})
    assert decision["min_yield"] == pytest.approx(6 / 15)


def test_best_next_event_prefers_the_window_to_a_completion_right_then():
    # As above, but p's 3 bytes could complete just then: same instant, same minimum yield, but less even.
    held = state(flow("p", 3, progress=5), flow("s", 9, 0.2, progress=1), flow("q", 9, progress=6), now=10, end=15)
    assert decide(held, "best-next-event")["rates"] == pytest.approx({"s": 0.2, "p": 2.5 / 5, "q": 1.5 / 5})


def random_state(seed):
    draw = random.Random(seed)
    now = draw.choice([0.0, 5.0, 100.0])
    flows = []
    for i in range(draw.randint(2, 6)):
        release = draw.uniform(0, now)
        limit, volume = draw.choice([0.3, 0.6, 1.0]), draw.choice([1.0, draw.uniform(0.1, 8)])
        flows.append(flow(f"a{i}", volume, limit, release=release, progress=draw.random() * (now - release)))
    return state(*flows, now=now, end=draw.choice([None, now + draw.uniform(1, 20)]))


@pytest.mark.parametrize("seed", range(25))
def test_best_next_event_against_the_linear_program(seed):
    given = random_state(seed)
    flows = flows_of(given)
    room = math.inf if given["end"] is None else given["end"] - given["now"]
    best = best_candidate(flows, 1.0, room)
    name = best.completing.name if best.completing else None
    assert best_min_yield(given, best.u, name) == pytest.approx(best.level, rel=1e-6)
    for k in flows:
        top = peak(flows, 1.0, k, room)
        for factor in (0.5, 0.9, 0.99, 1.01, 1.1, 2, 4) if top else ():
            if k.volume / k.limit <= top.u * factor <= room:
                assert best_min_yield(given, top.u * factor, k.name) <= top.level * (1 + 1e-6)
    if sum(f.limit for f in flows) > 1:
        decision = decide(given, "best-next-event")
        assert decision["min_yield"] == pytest.approx(best.level, rel=1e-9)
        assert decision["next_event"] - given["now"] == pytest.approx(best.u, rel=1e-9)


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_conserves_bytes_and_bandwidth(name):
    for seed in range(12):
        draw = random.Random(seed)
        body = [{"compute": draw.uniform(0, 4)}, {"write": draw.uniform(0, 4)}, {"read": draw.uniform(0, 1)}]
        apps = [app(("write", draw.uniform(0, 2)), ("compute", draw.uniform(0, 2)), ("read", 2)) for _ in range(4)]
        apps.append({"phases": [{"repeat": 3, "phases": body}], "bandwidth": 0.4, "release": draw.uniform(0, 3)})
        document = scenario(*apps)
        result = simulate(document, name)
        for index, row in enumerate(result["applications"]):
            assert row["transferred"] == pytest.approx(sum(volume for _, volume, _ in stages_of(document, index)))
            assert 0 < row["yield"] <= 1 + 1e-9
        assert all(sum(rates.values()) <= 1 + 1e-9 and min(rates.values()) >= 0 for _, rates in result["trace"])
        windowed = simulate(document | {"window": {"begin": 0, "end": 8}}, name)
        assert windowed["min_yield"] <= windowed["bound_min_yield"] * (1 + 1e-9)
