"""References: schedules that are runs, bounds that hold, and their order; each against something slow or by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock import Scenario, compare, reference
from penstock.errors import InvalidOption
from penstock.policies.sharing import NAMES
from penstock.studies.reference import chain_bound, delays
from penstock.studies.reference.clairvoyant import Effort, search, soft_maximum
from penstock.studies.reference.grid import Grid
from penstock.studies.reference.reference import KNOWN, plan_of
from penstock.studies.reference.steering import steer
from penstock.studies.share import run_study
from penstock.studies.study import Study
from strategies import amounts
from studies.reference import literal

SLACK = 1e-9
# Jobs that meet in ever other ways, where no policy of ours is best.
ALIKE = [{"phases": [{"repeat": 8, "phases": [{"compute": 2 + i}, {"write": 1.5}]}]} for i in range(4)]


def scenario(jobs, end=None, bandwidth=1.0):
    window = {} if end is None else {"window": {"begin": 0, "end": end}}
    listed = [{"name": f"a{i}"} | job for i, job in enumerate(jobs)]
    document = {"version": 1, "platform": {"bandwidth": bandwidth}, "applications": listed}
    return Scenario.from_document(document | window)


@st.composite
def small(draw, most=3, exact=True, windowed=True, capped=False):
    """Few jobs; unless they are capped, all can use the whole bandwidth."""
    jobs = []
    for _ in range(draw(st.integers(2, most))):
        phases = []
        for _ in range(draw(st.integers(1, 3))):
            phases += [{"compute": draw(amounts(0.5, 4, exact))}, {"write": draw(amounts(0.5, 3, exact))}]
        job = {"phases": phases, "release": draw(st.sampled_from([0, 0, 1, 2.5]))}
        jobs.append(job | ({"bandwidth": draw(st.sampled_from([0.25, 0.5, 0.7]))} if capped else {}))
    return scenario(jobs, draw(st.sampled_from([6, 10, 12.5])) if windowed else None)


@pytest.fixture
def coarse(monkeypatch):
    """Grids that take little time."""
    monkeypatch.setattr(delays, "SLOTS", (100, 50, 25))
    monkeypatch.setattr(chain_bound, "SLOTS", (50, 25))
    monkeypatch.setattr(chain_bound, "QUESTIONS", 4)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(given_=st.one_of(small(exact=True), small(exact=False), small(windowed=False), small(capped=True)))
def test_schedules_are_below_bounds_and_bounds_are_in_order(coarse, given_):
    best = reference(given_, trials=2)
    runs = compare(given_, NAMES)
    assert (best.clairvoyant or 0.0) <= best.min_yield <= best.bound + SLACK
    assert best.bound <= best.bound_interval + SLACK
    # Nothing that any policy does is above a bound, also where these begin from fair-share's yield only.
    least = next(run.min_yield for run in runs if run.sharing == "fair-share")
    program = Study(given_).program
    top = best.bound_interval
    exact = None if (program.limit < program.capacity).any() else delays.exact(program, least, top)
    for bound in (exact, chain_bound.chain_bound(program, least, top)):
        assert bound is None or max(run.min_yield for run in runs) <= bound.bound + SLACK
        assert bound is None or best.min_yield <= bound.bound + SLACK


def steered_run(study, trials, seed):
    """What the search finds, and the run that it is."""
    (part,) = study.parts
    ends = [run.end for run in compare(study.scenario, KNOWN)]
    plan = search(study, part, min(ends), Effort(trials, seed))
    return plan, run_study(study, steer({study.program.names: plan}, "clairvoyant"))


def test_the_schedule_found_is_a_run_that_can_be_made_again():
    study = Study(scenario(ALIKE))
    plan, run = steered_run(study, 3, 1)
    again, _ = steered_run(study, 3, 1)
    other, _ = steered_run(study, 3, 2)
    assert np.array_equal(plan.offsets, again.offsets)
    assert not np.array_equal(plan.offsets, other.offsets)
    assert reference(study.scenario, 3, 1).clairvoyant == run.min_yield


@pytest.mark.parametrize("end", [None, 40])
def test_a_search_goes_on_from_where_it_stands_as_a_run_from_the_start_does(end):
    """What was seen of the future when offsets were kept is what a whole run meets: no more is lost than before."""
    study = Study(scenario(ALIKE, end))
    plan, found = steered_run(study, 3, 0)
    none = plan._replace(offsets=np.zeros_like(plan.offsets))
    plain = run_study(study, steer({study.program.names: none}, "plain"))
    lost, before = (soft_maximum(np.array([1.0 - job.yield_ for job in run.applications])) for run in (found, plain))
    assert lost < before if plan.offsets.any() else lost == before
    assert end or found.min_yield > plain.min_yield


def test_more_than_any_policy_gets():
    """Three jobs that meet again and again: policies have 0.7714, and the grid proves that none has above 0.8039."""
    rng = np.random.default_rng(0)
    jobs = []
    for _ in range(3):
        phases = []
        for _ in range(rng.integers(2, 5)):
            phases += [{"compute": int(rng.integers(1, 7))}, {"write": int(rng.integers(1, 4))}]
        jobs.append({"phases": phases, "release": int(rng.integers(0, 4))})
    given_ = scenario(jobs, 20)
    best = reference(given_, trials=5)
    assert max(run.min_yield for run in compare(given_, KNOWN)) < best.min_yield
    assert best.exact.aligned
    study = Study(given_)
    exact = delays.exact(study.program, best.min_yield, best.bound_interval)
    run = run_study(study, steer({study.program.names: plan_of(study.program, exact)}, "delays"))
    assert exact.bound - run.min_yield < 2 * exact.slot / 17 + SLACK  # the youngest is 17 s old at the end
    assert (best.exact.bound, best.bound_by) == (best.bound, "delays")
    assert best.bound < best.bound_interval - 0.02


def test_two_jobs_by_hand():
    """Both want 1 s of the storage at 2 s, and 6 s later it is over: one of them waits a second."""
    jobs = [{"phases": [{"compute": 2}, {"write": 1}, {"compute": 3}]}] * 2
    best = reference(scenario(jobs, 6), trials=2)
    assert best.min_yield == pytest.approx(5 / 6)
    assert best.bound == pytest.approx(5 / 6, abs=2 * 6 / 4000)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_all_delays_are_found(seed):
    rng = np.random.default_rng(seed)
    m, slots = int(rng.integers(1, 4)), int(rng.integers(1, 9))
    posted = rng.integers(0, 2, size=(m, slots + 1))
    most = rng.integers(0, 4, size=m)
    size = np.cumprod(np.concatenate([[1], most + 1]))
    reached = np.zeros((slots + 1, int(size[-1])), np.uint8)
    served = np.full(slots, -1)
    values = np.ones((m, int(most.max()) + 1))
    found = delays.explore(posted, most, size[:-1].copy(), values, reached, served)
    expected = literal.delays_by_brute_force(posted.tolist(), most.tolist(), slots)
    assert {v for v in literal.all_vectors(most.tolist()) if reached[slots, int(np.dot(v, size[:-1]))]} == expected
    assert (found == 1.0) == bool(expected)
    if expected:
        state = (0,) * m
        for slot, chosen in enumerate(served):
            asking = [i for i in range(m) if posted[i, slot - state[i]]]
            assert chosen in (asking or [-1])
            state = tuple(d + (i in asking and i != chosen) for i, d in enumerate(state))
        assert state in expected


@settings(max_examples=8, deadline=None)
@given(small(exact=True), st.floats(0.4, 0.95))
def test_prices_prove_what_a_literal_linear_program_says(given_, y):
    program = Study(given_).program
    grid = Grid(program, (program.end - program.begin) / 25)
    y = min(y, Study(given_).interval_bound)
    slots, ways = grid.slots(y), chain_bound.ways_at(grid, y)
    proved = chain_bound.load(slots, ways, chain_bound.prices_of(slots, ways))
    if chain_bound.slack(ways) == (0.0, 0.0):
        assert proved == pytest.approx(literal.smallest_load(slots, ways), rel=1e-6, abs=1e-9)
    else:
        assert proved <= literal.smallest_load(slots, ways) + 1e-7


def test_what_does_not_apply_is_said(coarse):
    many = reference(scenario([{"phases": [{"write": 1}]}] * 9, 12), trials=1)
    assert many.left_out == (
        "The exact optimum is left out: it takes at most 4 applications, and there are 9.",
        "The chain bound is left out: it takes at most 8 applications, and there are 9.",
    )
    capped = reference(scenario([{"phases": [{"write": 1}], "bandwidth": 0.5}] * 3, 4), trials=1)
    assert "a0 cannot use the whole bandwidth" in capped.left_out[0]
    ended = reference(scenario([{"phases": [{"write": 2}], "walltime": 3}] * 2, 4), trials=1)
    assert "walltime" in ended.left_out[0]


def test_io_nodes_are_steered_one_by_one():
    jobs = [{"phases": [{"repeat": 3, "phases": [{"compute": 2}, {"write": 1}]}], "io_node": i % 2} for i in range(4)]
    document = {
        "version": 1,
        "platform": {"io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}},
        "window": {"end": 9},
        "applications": [{"name": f"a{i}"} | job for i, job in enumerate(jobs)],
    }
    best = reference(Scenario.from_document(document), trials=2)
    assert best.min_yield <= best.bound
    assert all("several I/O nodes" in why for why in best.left_out)


def test_a_budget_of_nothing_is_refused():
    with pytest.raises(InvalidOption, match="accepted is 1 to"):
        reference(scenario([{"phases": [{"write": 1}]}], 4), trials=0)
