"""Targets for jobs that come and go: cases worked out by hand, and what must be true whatever the arrivals are."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.targets.test_engine import close, job, numbers, scenario_of
from penstock import Scenario
from penstock.errors import InvalidOption, InvalidScenario, PolicyError
from penstock.policies.allocation import NAMES as ALLOCATIONS
from penstock.policies.placement import NAMES as PLACEMENTS
from penstock.policies.sharing import NAMES as SHARING
from penstock.studies.targets import Allotment, allocate, improve, moves
from strategies import site_documents

Document = dict[str, Any]
PROFILE = {1: 1.0, 2: 1.8, 4: 3.0}


def writer(name: str, release: float = 0.0, **more: Any) -> Document:
    """Three rounds of 2 s of compute and 6 bytes: 12 s alone on four targets."""
    phases = [{"repeat": 3, "phases": [{"compute": 2.0}, {"write": 6.0}]}]
    return {"name": name, "profile": PROFILE, "nodes": 4, "phases": phases, "release": release, **more}


def given_out(document: Document, *policies: str, **more: Any) -> Allotment:
    return allocate(Scenario.from_document(document), *policies, **more)


def counts(found: Allotment) -> list[int]:
    return [each.count for each in found.applications]


# By hand.


def test_jobs_that_never_overlap_get_what_one_alone_gets() -> None:
    alone = given_out(scenario_of(4, writer("a")), interval="all")
    found = given_out(scenario_of(4, *(writer(name, at) for name, at in {"a": 0.0, "b": 100.0, "c": 200.0}.items())))
    assert found.until == "all"
    assert counts(found) == 3 * counts(alone) == [4, 4, 4]
    assert found.load == alone.load == close(0.5)
    assert [target.stress for target in found.targets] == close([0.5] * 4)
    assert [each.io_slowdown for each in found.applications] == close([1.0] * 3)
    assert [each.completion for each in found.applications] == close([12.0, 112.0, 212.0])
    assert (found.interval, found.unfinished) == (close(212.0), 0)
    assert found.node_hours_used == close(4 * 36 / 3600)
    assert found.lost_share == close(0.0)
    # Four nodes are the most that run at a time, and they compute 6 of each 12 seconds.
    assert found.machine_idletime == close(1 - 4 * 18 / (4 * 212))


def test_who_starts_as_another_ends_does_not_overlap_with_it() -> None:
    found = given_out(scenario_of(4, writer("a"), writer("b", 12.0)))
    assert (counts(found), found.load) == ([4, 4], close(0.5))


def a_week(jobs: int = 145, targets: int = 20) -> Document:
    """Jobs of hours, of which about three run at a time."""
    draw = random.Random(5)
    made = []
    for i in range(jobs):
        hours, volume = draw.lognormvariate(0.5, 0.8), draw.uniform(0.05, 0.4)
        body = [{"compute": 360 * hours}, {"write": 360 * hours * volume}]
        made.append(
            {
                "name": f"j{i}",
                "nodes": 2 ** draw.randrange(7),
                "profile": {n: n**0.8 for n in (1, 2, 4, 8)},
                "phases": [{"repeat": 10, "phases": body}],
                "release": draw.uniform(0, 7 * 86400),
            }
        )
    return scenario_of(targets, *made)


def test_a_week_of_jobs_is_not_given_one_target_each() -> None:
    found, least = given_out(a_week()), given_out(a_week(), "nsys")
    assert found.load <= 1
    assert min(counts(found)) > 1 == max(counts(least))
    assert found.mean_io_slowdown is not None and least.mean_io_slowdown is not None
    assert found.mean_io_slowdown < 1.3
    assert least.mean_io_slowdown > 4
    assert found.node_hours_lost < least.node_hours_lost / 10


def test_what_is_lost_of_two_jobs_one_of_them_late() -> None:
    """One target: `a` writes for 4 s, from 2 on together with `b`, so that it ends at 6 and `b`, with 4 s, at 8."""
    a = job("a", {1: 1.0}, ("write", 4), nodes=3)
    found = given_out(scenario_of(1, a, job("b", {1: 1.0}, ("write", 4), release=2)))
    assert [each.completion for each in found.applications] == close([6.0, 8.0])
    assert [each.yield_ for each in found.applications] == close([4 / 6, 4 / 6])
    assert [each.stretch for each in found.applications] == close([1.5, 1.5])
    assert found.node_hours_lost * 3600 == close(3 * 2 + 2)
    assert found.node_hours_used * 3600 == close(3 * 6 + 6)
    assert (found.worst, found.unfinished) == ("a", 0)
    assert (found.mean_yield, found.p95_stretch) == (close(2 / 3), close(1.5))
    early = given_out(scenario_of(1, a, job("b", {1: 1.0}, ("write", 4), release=2)), interval="first")
    assert (early.until, early.interval, early.unfinished) == ("first", close(6.0), 1)
    assert early.node_hours_lost * 3600 == close(3 * 2 + 2)


def test_progress_counts_bytes_at_the_best_bandwidth() -> None:
    """Alone, but on one target instead of two: half as fast, though undisturbed."""
    found = allocate(Scenario.from_document(scenario_of(2, job("a", {1: 1.0, 2: 2.0}, ("write", 4)))), "nsys")
    assert counts(found) == [1]
    (only,) = found.applications
    assert (only.yield_, only.stretch, only.io_slowdown) == (close(0.5), close(2.0), close(2.0))
    assert found.node_hours_lost * 3600 == close(2.0)


def test_a_window_takes_up_what_began_before_it_and_leaves_what_goes_on() -> None:
    """From 10 to 20: `old` has made 5 of 10 s, writes for 6 s; `new` begins at 12 and writes on."""
    old = job("old", {1: 1.0}, ("write", 6), release=0, progress=5)
    new = job("new", {1: 1.0}, ("compute", 2), ("write", 100), release=12)
    found = given_out(scenario_of(1, old, new, window={"begin": 10, "end": 20}))
    assert (found.until, found.interval, found.unfinished) == ("all", close(10.0), 1)
    first, second = found.applications
    # Alone until 14, with 2 bytes left, which take 4 s beside `new`.
    assert (first.start, first.completion, first.stretch) == (10.0, close(18.0), close(18 / 11))
    assert (second.completion, second.moved, second.io_seconds) == (None, close(4.0), close(6.0))
    assert [each.yield_ for each in found.applications] == close([11 / 18, 6 / 8])
    assert found.node_hours_lost * 3600 == close((8 - 6) + (8 - 6))
    assert found.machine_idletime == close(1 - 2 / (2 * 10))
    assert found.targets[0].busy == close(1.0)


def test_who_has_not_finished_at_its_walltime_is_cut_off() -> None:
    """Both write 8 on one target. `short` is cut off at 6 with 3 moved; `b` then has it alone for its other 5."""
    short = job("short", {1: 1.0}, ("write", 8), nodes=2, walltime=6)
    found = given_out(scenario_of(1, short, job("b", {1: 1.0}, ("write", 8))), interval="all")
    cut, kept = found.applications
    assert (cut.cut, cut.completion, cut.stretch, cut.moved) == (True, None, None, close(3.0))
    assert (cut.io_seconds, cut.yield_) == (close(6.0), close(0.5))
    assert (kept.cut, kept.completion) == (False, close(11.0))
    assert found.node_hours_lost * 3600 == close(2 * 6 + 3)
    assert (found.interval, found.unfinished, found.worst) == (close(11.0), 1, "short")


def test_a_walltime_may_come_during_compute_or_a_last_compute_or_be_just_enough() -> None:
    jobs = [
        job("computing", {1: 1.0}, ("compute", 9), ("write", 1), walltime=4),
        job("at the end", {1: 1.0}, ("write", 1), ("compute", 9), walltime=5),
        job("enough", {1: 1.0}, ("compute", 3), walltime=3),
    ]
    found = given_out(scenario_of(3, *jobs), "nsys", interval="all")
    assert [each.cut for each in found.applications] == [True, True, False]
    assert [each.compute_done for each in found.applications] == close([4.0, 4.0, 3.0])
    assert [each.completion for each in found.applications] == [None, None, close(3.0)]
    assert (found.interval, found.unfinished) == (close(5.0), 2)


@pytest.mark.parametrize(("sharing", "ends"), [("fair-share", [5.0, 5.0]), ("fcfs", [2.0, 4.0])])
def test_sharing_costs_where_targets_have_interference(sharing: str, ends: list[float]) -> None:
    """Together they have 0.8 of the target; one after the other each has all of it."""
    targets = [{"name": "t", "interference": [1.0, 0.8]}]
    jobs = [job(name, {1: 1.0}, ("write", 2)) for name in "ab"]
    found = given_out(scenario_of(targets, *jobs), sharing=sharing, interval="all")
    assert [each.completion for each in found.applications] == close(ends)


def test_the_slowest_node_sets_the_pace() -> None:
    found = given_out(scenario_of(2, job("a", {1: 1.0, 2: 2.0}, ("write", 4), node_skew=1.25)))
    (only,) = found.applications
    assert (only.bandwidth, found.interval, only.stretch) == (close(1.6), close(2.5), close(1.0))


def test_what_cannot_be_is_refused() -> None:
    forever = job("a", {1: 1.0}) | {"phases": [{"repeat": "forever", "phases": [{"write": 1}]}]}
    with pytest.raises(InvalidScenario, match="'a' goes on forever"):
        given_out(scenario_of(1, forever, window={"begin": 0, "end": 9}))
    with pytest.raises(InvalidOption, match="interval is 'last'; accepted is first or all"):
        given_out(scenario_of(1, job("a", {1: 1.0}, ("write", 1))), interval="last")


# Whatever the arrivals.

EVERY = {
    "allocation": st.sampled_from(ALLOCATIONS),
    "placement": st.sampled_from(PLACEMENTS),
    "sharing": st.sampled_from(SHARING),
}


def run_or_skip(document: Document, **how: Any) -> Allotment:
    """Some documents are nothing for mckp, some orders wait for each other."""
    try:
        return given_out(document, **how)
    except PolicyError:
        assume(False)
        raise


@settings(max_examples=2 * settings().max_examples)
@given(document=site_documents(), **EVERY)
def test_what_everybody_did_fits_into_its_life(document: Document, **how: str) -> None:
    document.pop("noise", None)
    found = run_or_skip(document, **how)
    begin = document.get("window", {}).get("begin", 0.0)
    assert all(0.0 <= target.busy <= 1 + 1e-9 for target in found.targets)
    assert 0.0 <= found.node_hours_lost * (1 + 1e-9) + 1e-12 <= found.node_hours_used * (1 + 2e-9) + 2e-12
    for each, whole in zip(found.applications, document["applications"], strict=True):
        end = each.completion if each.completion is not None else begin + found.interval
        if each.cut:
            end = max(each.start, whole["release"] + whole["walltime"])
        assert each.io_seconds + each.compute_done == close(max(0.0, end - each.start), 1e-8)
        assert each.moved <= each.bandwidth * each.io_seconds * (1 + 1e-8)
        assert each.start >= max(begin, whole["release"])
        assert not (each.cut and each.completion is not None)
        if each.completion is not None and each.stretch is not None:
            assert each.stretch >= 1 - 1e-9
            assert each.yield_ == close(1 / each.stretch, 1e-8)
        if each.rho_con is not None:
            assert each.rho_con >= 1 - 1e-8
    finished = sum(each.completion is not None for each in found.applications)
    assert found.unfinished <= len(found.applications) - finished


@given(document=site_documents(), **EVERY)
def test_the_interval_changes_only_where_metrics_stop(document: Document, **how: str) -> None:
    first, all_of_it = (run_or_skip(document, **how, interval=interval) for interval in ("first", "all"))
    for name in ("load", "least_load", "imbalance"):
        assert getattr(first, name) == getattr(all_of_it, name)
    assert [each.targets for each in first.applications] == [each.targets for each in all_of_it.applications]
    assert first.interval <= all_of_it.interval
    done = [each.completion for each in all_of_it.applications if each.completion is not None]
    begin = document.get("window", {}).get("begin", 0.0)
    assert first.interval == close(min(done) - begin if done else all_of_it.interval)


@given(document=site_documents(), **EVERY)
def test_the_calendar_means_nothing(document: Document, **how: str) -> None:
    later = document | {
        "applications": [each | {"release": each["release"] + 1024.0} for each in document["applications"]]
    }
    if "window" in document:
        later["window"] = {key: at + 1024.0 for key, at in document["window"].items()}
    one, other = run_or_skip(document, **how), run_or_skip(later, **how)
    assert [each.targets for each in one.applications] == [each.targets for each in other.applications]
    assert (one.load, one.node_hours_used) == (close(other.load), close(other.node_hours_used, 1e-6))
    for ours, theirs in zip(one.applications, other.applications, strict=True):
        assert (ours.moved, ours.io_seconds) == (close(theirs.moved, 1e-6), close(theirs.io_seconds, 1e-6))


@given(document=site_documents(), allocation=st.sampled_from(["tcpu", "nsys", "best-bandwidth"]))
def test_who_comes_when_all_have_left_changes_nothing_for_them(document: Document, allocation: str) -> None:
    document.pop("window", None)
    placements = ("greedy-clairvoyant", "greedy-non-clairvoyant")
    before = [given_out(document, allocation, placement, interval="all") for placement in placements]
    late = job("late", {1: 0.01}, ("write", 0.02), release=before[0].interval + 1e4)  # slower than any target
    after = document | {"applications": [*document["applications"], late]}
    for placement, earlier in zip(placements, before, strict=True):
        found = given_out(after, allocation, placement)
        assert [each.to_dict() for each in found.applications[:-1]] == [each.to_dict() for each in earlier.applications]
        assert found.applications[-1].stretch == close(1.0)


# Plans, searches and targets out of service.


def test_a_plan_says_the_same_again() -> None:
    found = given_out(a_week(30, 8))
    again = given_out(a_week(30, 8), plan={each.name: each.targets for each in found.applications})
    assert numbers(again) == numbers(found) | {"allocation": "plan", "placement": "plan"}


def test_a_search_lowers_the_slowdown_over_whole_lives() -> None:
    document = a_week(40, 6)
    start = given_out(document, "nsys", "random")
    better = improve(Scenario.from_document(document), start, most_runs=150, seconds=1e9)
    assert (better.until, better.interval > 0, better.runs) == ("all", True, 150)
    assert better.mean_io_slowdown is not None and start.mean_io_slowdown is not None
    assert better.mean_io_slowdown < 0.95 * start.mean_io_slowdown


def test_a_drained_target_is_replaced_by_one_that_is_free_at_the_time() -> None:
    """`b` is on a target of its own by day, `c` by night; `a`, of the day, moves to where nobody is by day."""
    jobs = [writer("a"), writer("b"), writer("c", 1000.0)]
    for each in jobs:
        each["profile"] = {1: 1.0}
    document = scenario_of(3, *jobs)
    plan = {"a": [0], "b": [1], "c": [2]}
    before, after = given_out(document, plan=plan), given_out(document, plan=plan, without=0)
    assert [each.targets for each in after.applications] == [(2,), (1,), (2,)]
    assert [move.application for move in moves(before, after)] == ["a"]
    assert [target.stress for target in after.targets] == close([0.0, 0.75, 0.75])
