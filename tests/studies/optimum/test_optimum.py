from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import penstock
from penstock import follow, generate, optimum, simulate
from penstock.errors import InvalidOption
from penstock.model import needs
from penstock.report.optimum import optimum_words
from penstock.studies.optimum import search
from penstock.studies.optimum.chains import bicolored
from penstock.studies.optimum.result import Heuristic, Optimum
from penstock.studies.optimum.search import ORDERS
from penstock.studies.schedules import load_plan, save_schedule, schedule_of
from penstock.studies.study import Study
from studies.optimum.brute import job, periodic, scenario, shortest

CALENDAR = 1.7e9  # seconds since 1970, as in the logs of real systems
LISTS = [name for name in ORDERS if name.startswith("list-")]
whole_numbers = st.integers(0, 8).map(float)
any_numbers = st.floats(0.0, 8.0, allow_subnormal=False).map(lambda value: value if value > 1e-3 else 0.0)


@st.composite
def scenarios(draw, amount, most=3, releases=True):
    """Up to three applications of at most three operations, with tails, releases and caps below the bandwidth."""
    jobs = []
    for i in range(draw(st.integers(1, most))):
        pairs = draw(st.lists(st.tuples(amount, amount), max_size=3))
        made = job(f"a{i}", *pairs, tail=draw(amount) + (0.5 if not any(map(sum, pairs)) else 0.0))
        if releases and draw(st.booleans()):
            made["release"] = draw(amount)
        if draw(st.booleans()):
            made["bandwidth"] = draw(st.sampled_from([0.5, 1.0, 1.5]))
        jobs.append(made)
    noise = draw(st.sampled_from([0.0, 0.0, 0.3]))
    return scenario(*jobs, bandwidth=draw(st.sampled_from([1.0, 2.0])), noise=noise)


def check(best, jobs):
    """Everything that must hold of any answer."""
    chains = bicolored(Study(jobs).program)
    truth = shortest(chains)
    assert best.makespan == pytest.approx(truth, rel=1e-6)
    assert best.bound <= best.makespan
    assert best.bound <= truth * (1 + 1e-12)
    assert best.optimal
    assert best.heuristic.makespan >= best.makespan * (1 - 1e-9)
    assert simulate(jobs, follow(best.schedule)).makespan == pytest.approx(best.makespan, rel=1e-9)


@given(scenarios(whole_numbers))
def test_whole_numbers_give_the_optimum_of_all_orders(jobs):
    best = optimum(jobs)
    check(best, jobs)
    if jobs.noise == 0.0:
        assert best.rounding == 0.0
        assert best.makespan == best.bound


@given(scenarios(any_numbers))
def test_any_numbers_give_the_optimum_of_all_orders(jobs):
    check(optimum(jobs), jobs)


@given(scenarios(whole_numbers))
def test_any_list_order_takes_at_most_twice_the_optimum(jobs):
    best = optimum(jobs)
    for name in LISTS:
        assert best.makespan * (1 - 1e-9) <= simulate(jobs, name).makespan <= 2 * best.makespan * (1 + 1e-9)
    assert len(LISTS) == 9


@pytest.mark.parametrize("epsilon", [0.5, 0.25, 0.1, 0.01, 1e-3, 1e-6])
def test_where_a_list_order_is_twice_as_long(epsilon):
    """P2, Theorem 3: the storage must stay idle for ε, which no list order does."""
    jobs = scenario(job("j1", (0, 1)), job("j2", (epsilon, epsilon), tail=1))
    best = optimum(jobs)
    assert (best.optimal, best.schedule.order) == (True, ("j2", "j1"))
    assert best.makespan == pytest.approx(1 + 2 * epsilon, rel=1e-12)
    for name in LISTS:
        assert simulate(jobs, name).makespan == pytest.approx(2 + epsilon, rel=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 12), st.integers(1, 8), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_hierarchical_round_robin_is_optimal_for_uniform_jobs(a, b, counts):
    """P2, Theorem 2."""
    jobs = periodic(*((a, b, n) for n in counts))
    best = optimum(jobs)
    assert best.optimal
    assert simulate(jobs, "hierarchical-round-robin").makespan == pytest.approx(best.makespan, rel=1e-9)


@settings(max_examples=60)
@given(st.integers(1, 4), st.lists(st.tuples(st.integers(0, 12), st.integers(1, 8)), min_size=1, max_size=4))
def test_hierarchical_round_robin_is_nearly_optimal_for_equal_counts(n, pairs):
    """P2, Theorem 4."""
    jobs = periodic(*((a, b, n) for a, b in pairs))
    best = optimum(jobs)
    assert best.optimal
    assert simulate(jobs, "hierarchical-round-robin").makespan <= (1 + 1 / n) * best.makespan * (1 + 1e-9)


def test_sharing_may_beat_it():
    jobs = scenario(job("long", (0, 10)), job("short", *[(1, 1)] * 5))
    best = optimum(jobs)
    (run,) = best.judged([simulate(jobs, "greedy-com")])
    assert (best.makespan, run.makespan) == (19.0, 15.0)
    assert run.ratio_to_optimum == run.ratio_to_bound == 15 / 19


def test_a_single_job_runs_alone():
    best = optimum(scenario(job("only", (1, 2), (3, 4), tail=5, release=7, bandwidth=0.5)))
    assert (best.makespan, best.bound, best.gap) == (28.0, 28.0, 0.0)
    assert best.schedule.start.tolist() == [8.0, 15.0]


def test_no_io_at_all():
    best = optimum(scenario(job("a", tail=3), job("b", tail=2, release=4)))
    assert (best.makespan, best.optimal, best.schedule.order) == (6.0, True, ())


def test_noise_is_what_really_runs():
    quiet = generate("chains", seed=3, m=3, n_min=2, n_max=4)
    noisy = quiet.model_copy(update={"noise": 0.5})
    best = optimum(noisy)
    assert best.optimal
    assert best.makespan != pytest.approx(optimum(quiet).makespan, rel=1e-3)
    assert simulate(noisy, follow(best.schedule)).makespan == pytest.approx(best.makespan, rel=1e-9)


def test_each_io_node_has_its_own_schedule():
    jobs = [generate("chains", seed=seed, m=3, n_min=2, n_max=4) for seed in (1, 2)]
    parts = [
        [{**app, "name": f"{node}{app['name']}", "io_node": node} for app in each.to_document()["applications"]]
        for node, each in enumerate(jobs)
    ]
    both = penstock.Scenario.from_document(
        {
            "version": 1,
            "platform": {"io_nodes": {"count": 2, "bandwidth": 1.0, "nodes": 100}},
            "applications": [app for part in parts for app in part],
        }
    )
    best = optimum(both)
    assert best.optimal
    assert best.makespan == pytest.approx(max(optimum(each).makespan for each in jobs), rel=1e-9)
    assert simulate(both, follow(best.schedule)).makespan == pytest.approx(best.makespan, rel=1e-9)


def hard():
    """The I/O of twelve jobs fills the storage without drowning it: the hardest kind."""
    return generate("chains", seed=0, m=12, n_min=20, n_max=60, load_max=0.3)


def test_too_little_time_leaves_a_gap():
    told = []
    best = optimum(hard(), 2.0, progress=lambda makespan, bound: told.append((makespan, bound)))
    assert not best.optimal
    assert 0 < best.gap < 0.1
    assert best.bound < best.makespan <= best.heuristic.makespan * (1 + 1e-9)
    assert told[-1] == pytest.approx((best.makespan, best.bound), rel=1e-6)
    (run,) = best.judged([simulate(hard(), "list-fifo")])
    assert 1 < run.ratio_to_optimum < run.ratio_to_bound


def without_short(run):
    """The schedule that a run kept to as if its operations of less than a second had left no trace."""
    kept = schedule_of(run)
    rows = np.flatnonzero(kept.end - kept.start >= 1.0)
    columns = ("application", "operation", "posted", "start", "end")
    return replace(kept, **{name: getattr(kept, name)[rows] for name in columns})


def test_orders_that_lack_operations_are_no_schedule(monkeypatch):
    jobs = scenario(job("a", (5, 0.5), (1, 3), tail=1), job("b", (1, 4), (2, 0.25)), job("c", (9, 0.5)))
    truth = shortest(bicolored(Study(jobs).program))
    monkeypatch.setattr(search, "schedule_of", without_short)
    for limit in (0.0, 30.0):
        best = optimum(jobs, limit)
        assert len(best.schedule.order) == 5
        assert best.makespan == simulate(jobs, follow(best.schedule)).makespan >= truth
    assert best.makespan == truth


@pytest.mark.parametrize("amounts", [1.0, 2**0.5 / 2])
def test_calendar_time_only_shifts_it(amounts):
    def jobs(origin):
        return scenario(
            job("a", (3 * amounts, 2), (1, 4), tail=7 * amounts, release=origin + 1.5),
            job("b", (1, amounts), (2, 2), release=origin),
            job("c", *[(2, 1.5 * amounts)] * 2, release=origin),
        )

    here, there = optimum(jobs(0.0)), optimum(jobs(CALENDAR))
    assert (there.start, here.start) == (CALENDAR, 0.0)
    assert there.makespan - CALENDAR == pytest.approx(here.makespan, abs=1e-6)
    assert there.bound - CALENDAR == pytest.approx(here.bound, abs=1e-6)
    assert there.optimal and here.optimal
    assert there.rounding == here.rounding
    assert (there.rounding == 0.0) == (amounts == 1.0)


def test_the_gap_is_that_of_the_run_not_of_the_calendar():
    here, there = (
        Optimum(origin + 10.0, origin + 9.0, origin, 1.0, Heuristic("fcfs", origin + 11.0), 1e-9, False, None)
        for origin in (0.0, CALENDAR)
    )
    assert here.gap == there.gap == 0.1
    assert not there.optimal
    assert replace(there, bound=there.makespan).optimal


def test_rounding_is_part_of_the_words():
    exact = optimum(scenario(job("a", (1, 1))))
    assert "ends earlier." in optimum_words(exact)
    assert "ends earlier by more than a millionth" in optimum_words(replace(exact, rounding=1e-9))


@pytest.mark.timing
@pytest.mark.parametrize("limit", [0.5, 3.0])
def test_the_time_limit_is_kept(limit):
    optimum(hard(), 2.0)  # loads the solver
    assert limit * 0.9 <= optimum(hard(), limit).seconds < limit + 3.0


def test_no_time_at_all_gives_the_best_known_order():
    best = optimum(hard(), 0.0)
    assert not best.optimal
    assert best.makespan == pytest.approx(best.heuristic.makespan, rel=1e-9)


def test_what_is_too_large_for_the_searches_still_has_a_bound(monkeypatch):
    monkeypatch.setattr(search, "MOST_OPERATIONS", 10)
    monkeypatch.setattr(search, "MOST_FOR_SOLVER", 10)
    monkeypatch.delattr(search, "explore")
    monkeypatch.delattr(search, "solve")
    best = optimum(hard())
    assert 0 < best.gap < 0.1
    assert best.too_large
    assert "too many operations" in optimum_words(best)
    assert "--time-limit" not in optimum_words(best)


def test_what_is_too_large_for_the_solver_is_still_walked_through(monkeypatch):
    jobs = generate("chains", seed=0, m=3, n_min=2, n_max=5)
    monkeypatch.setattr(search, "MOST_FOR_SOLVER", 1)
    monkeypatch.delattr(search, "solve")
    best = optimum(jobs)
    assert best.optimal
    assert not best.too_large
    assert "Time ran out" in optimum_words(optimum(hard(), 0.2))


@pytest.mark.slow
def test_the_solver_goes_on_where_the_states_are_too_many(monkeypatch):
    monkeypatch.setattr(search, "MOST_APPLICATIONS", 1)
    jobs = generate("chains", seed=0, m=4, n_min=5, n_max=15)
    alone = optimum(jobs)
    monkeypatch.undo()
    assert alone.optimal
    assert alone.makespan == pytest.approx(optimum(jobs).makespan, rel=1e-6)


def test_a_schedule_goes_through_a_file(tmp_path):
    jobs = generate("chains", seed=0, m=3, n_min=2, n_max=5)
    best = optimum(jobs)
    save_schedule(tmp_path / "plan.csv", best.schedule)
    assert load_plan(tmp_path / "plan.csv") == best.schedule.order
    assert simulate(jobs, follow(tmp_path / "plan.csv")).makespan == pytest.approx(best.makespan, rel=1e-9)


def test_a_window_is_refused():
    with pytest.raises(InvalidOption, match="has a window that ends at 9 s"):
        optimum(scenario(job("a", (1, 1)), window={"end": 9}))


def test_without_ortools(monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    with pytest.raises(InvalidOption, match=r"needs ortools; pip install penstock\[optimum\]"):
        optimum(scenario(job("a", (1, 1))))


def test_the_json_form():
    found = optimum(scenario(job("a", (1, 1)), job("b", (1, 1)))).to_dict()
    assert list(found) == ["makespan", "bound", "optimal", "seconds", "gap", "heuristic", "rounding"]
    assert found | {"seconds": 0} == {
        "makespan": 3.0,
        "bound": 3.0,
        "optimal": True,
        "seconds": 0,
        "gap": 0.0,
        "heuristic": {"sharing": "list-fifo", "makespan": 3.0},
        "rounding": 0.0,
    }
