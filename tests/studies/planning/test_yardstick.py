"""One yardstick for all plans of a search: a worse machine must not look better for being measured by itself."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from machines import machines
from penstock import allocate, load, simulate
from penstock.engine.dedicated import dedicated
from penstock.errors import PenstockError
from penstock.model import Scenario
from penstock.model.plan_file import with_plan
from penstock.studies.planning import plan
from penstock.studies.planning.changes import changed
from penstock.studies.planning.draft import Task
from penstock.studies.planning.starts import unasked
from penstock.studies.planning.yardstick import Yardstick

EXAMPLES = Path(__file__).parents[3] / "examples"


def job(name, **more):
    phases = [{"repeat": 3, "phases": [{"read": 2.0}, {"compute": 5.0}, {"write": 9.0}]}]
    return {"name": name, "nodes": 4, "phases": phases, "profile": {1: 1.0, 2: 1.8, 3: 2.4}, **more}


def scenario(**more):
    """Two I/O nodes, three targets, a buffer with a bandwidth of its own."""
    platform = {
        "io_nodes": {"count": 2, "bandwidth": 2.0, "nodes": 64},
        "targets": 3,
        "burst_buffer": {"capacity": 30.0, "bandwidth": 5.0},
    }
    document = {"version": 1, "platform": platform, "applications": [job("a"), job("b", release=2.0), job("c")]}
    return Scenario.from_document(document | more)


def windowed():
    endless = [{"repeat": "forever", "phases": [{"read": 2.0}, {"compute": 5.0}, {"write": 9.0}]}]
    jobs = [job("a", phases=endless), job("b", release=10.0, walltime=15.0), job("c", phases=endless)]
    return scenario(applications=jobs, window={"begin": 4.0, "end": 60.0})


def drafts(task, count, seed):
    draw, draft = np.random.default_rng(seed), unasked(task)
    for _ in range(count):
        draft = changed(task, draft, draw) or draft
        yield draft


def run(task, draft):
    return simulate(with_plan(task.scenario, task.plan_of(draft)))


def test_the_speed_is_the_best_that_is_open():
    """Straight, the I/O node's 2; into the buffer as much: without a cap nothing says that nodes could drive more."""
    assert Yardstick(Task(scenario())).speed == pytest.approx(np.full((3, 2), 2.0))
    capped = scenario(applications=[job(name, write_bandwidth=4.0, read_bandwidth=9.0) for name in "abc"])
    assert Yardstick(Task(capped)).speed == pytest.approx(np.array([[4.0, 5.0]] * 3))  # the buffer moves 5


def test_what_is_decided_is_no_choice():
    decided = scenario(plan={"buffering": {"shares": {"a": 0.5}}, "placement": {name: [0] for name in "abc"}})
    assert Yardstick(Task(decided)).speed.tolist() == [[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]]


def test_of_unequal_targets_the_fastest_count():
    listed = [{"name": "slow", "capacity": 1.0}, {"name": "fast", "capacity": 7.0}, {"name": "other", "capacity": 5.0}]
    given_ = {"version": 1, "platform": {"targets": listed}}
    jobs = [{"name": "a", "phases": [{"write": 1.0}]}]
    # Two move 5 each; all three no more than 1 each, for an operation ends with its last flow.
    assert Yardstick(Task(Scenario.from_document(given_ | {"applications": jobs}))).speed.max() == pytest.approx(10.0)


@settings(max_examples=12)
@given(st.integers(0, 1000))
def test_without_a_window_fewer_node_hours_used_are_fewer_lost(seed):
    task = Task(scenario())
    yardstick = Yardstick(task)
    owed = {run_.node_hours_used - yardstick.judged(run_).node_hours_lost for run_ in _runs(task, seed)}
    assert max(owed) == pytest.approx(min(owed))


@settings(max_examples=12)
@given(st.integers(0, 1000))
def test_no_plan_makes_anybody_faster(seed):
    for given_ in (scenario(), windowed()):
        task = Task(given_)
        for run_ in _runs(task, seed):
            judged = Yardstick(task).judged(run_)
            assert max(each.yield_ for each in judged.applications) <= 1.0 + 1e-9
            assert judged.node_hours_used == pytest.approx(run_.node_hours_used)
            assert judged.utilization == pytest.approx(run_.utilization)


def _runs(task, seed):
    return [run(task, draft) for draft in drafts(task, 4, seed)]


def test_in_a_window_what_gets_more_done_loses_less():
    """One stripe each without a buffer, against three: measured by itself the worse one loses less."""
    jobs = windowed().applications
    tables = {"mapping": {"a": 0, "b": 1, "c": 1}, "buffering": {"shares": dict.fromkeys("abc", 0.0)}}
    few, many = (tables | {"placement": {job.name: where for job in jobs}} for where in ([0], [0, 1, 2]))
    yardstick = Yardstick(Task(windowed()))
    narrow, wide = (simulate(windowed().model_copy(update={"plan": _plan(each)})) for each in (few, many))
    assert narrow.utilization < wide.utilization
    assert yardstick.judged(narrow).node_hours_lost > yardstick.judged(wide).node_hours_lost


def _plan(document):
    return Scenario.from_document(
        {
            "version": 1,
            "platform": {
                "targets": 3,
                "io_nodes": {"count": 2, "bandwidth": 1, "nodes": 9},
                "burst_buffer": {"capacity": 9},
            },
            "applications": [job("a"), job("b"), job("c")],
            "plan": document,
        }
    ).plan


def test_stripes_are_not_taken_away_for_the_sake_of_the_yardstick():
    """`plan` gave one stripe to everybody here, for it made all of them slow alone, too."""
    given_ = load(EXAMPLES / "scratch-targets.yaml")
    found = plan(given_, trials=10)
    assert found.result.node_hours_used < allocate(given_, interval="all").node_hours_used
    assert found.value == pytest.approx(found.result.node_hours_used - owed_of(given_))


def owed_of(given_):
    yardstick = Yardstick(Task(given_))
    return float(yardstick.program.nodes @ dedicated(yardstick.program).listed) / 3600


def test_a_part_of_the_buffer_is_not_taken_away_either():
    given_ = load(EXAMPLES / "io-nodes-nvme.yaml")
    found = plan(given_, anew=True, trials=60)
    assert found.result.node_hours_used < simulate(given_).node_hours_used
    assert all(part > 0.0 for name, part in found.plan.buffer.shares.items() if name == "cosmology")


def test_anew_is_never_worse_than_what_was_given():
    """The scenario's own plan is tried, too."""
    good = plan(scenario(), trials=60, seed=1)
    given_ = with_plan(scenario(), good.plan)
    again = plan(given_, anew=True)
    assert again.value <= good.value * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_decision_is_worth_less_than_nothing(seed):
    found = plan(scenario(), trials=2, seed=seed)
    assert all(each.worth >= 0.0 for each in found.contributions)


@settings(max_examples=60, deadline=None)
@given(machines(policies=("fair-share", "max-min", "fcfs", "greedy-yield")))
def test_on_any_machine_no_plan_that_could_be_chosen_beats_it(drawn):
    """Unequal targets, ports, windows, walltimes, noise, interference."""
    document, decided = drawn
    task = Task(Scenario.from_document(document))
    placed = decided.get("placement", {})
    assume(all(len(placed[each.name]) in task.counts[i] for i, each in enumerate(task.applications) if placed))
    try:
        run_ = simulate(Scenario.from_document(document | {"plan": decided}))
    except PenstockError:  # nothing limits somebody, or nobody takes part
        return
    judged = Yardstick(task).judged(run_)
    assert judged.node_hours_used == pytest.approx(run_.node_hours_used)
    if ahead_of_the_clock(document):
        return
    assert max(each.yield_ for each in judged.applications) <= 1.0 + 1e-6
    assert judged.node_hours_lost >= -1e-6 * judged.node_hours_used


def ahead_of_the_clock(document):
    """An operation on targets of unequal speed moves most bytes first; cut in its midst, it has moved more than its
    share of the time that it takes as a whole."""
    cut = "window" in document or any("walltime" in each for each in document["applications"])
    listed = document["platform"].get("targets")
    speeds = {(each.get("bandwidth"), each.get("capacity")) for each in listed} if isinstance(listed, list) else set()
    return cut and len(speeds) > 1


def test_what_is_read_past_the_buffer_comes_from_all_targets_at_once():
    """Its flows draw on one pool: 2.5 and 1 a second, where an operation of its own has twice the slower."""
    document = {
        "version": 1,
        "platform": {
            "targets": [{"name": "t0", "capacity": 3.0}, {"name": "t1", "bandwidth": 1.0}],
            "burst_buffer": {"capacity": 1.0, "bandwidth": 2.0},
        },
        "applications": [{"name": "a", "bandwidth": 5.0, "phases": [{"read": 1.0}]}],
    }
    assert Yardstick(Task(Scenario.from_document(document))).speed[0].tolist() == [3.0, 3.5]
