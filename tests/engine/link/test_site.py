"""Walltimes, uneven nodes, interference and turns of jobs that come and go, worked out by hand (models §3, §8)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario, simulate
from penstock.errors import InvalidScenario
from penstock.studies.schedules import schedule_of
from strategies import documents, sites

Document = dict[str, Any]


def scenario(*applications: Document, window: float | None = None, **platform: Any) -> Scenario:
    document: Document = {"version": 1, "platform": {"bandwidth": 1.0, **platform}, "applications": list(applications)}
    return Scenario.from_document(document | ({"window": {"end": window}} if window else {}))


def job(name: str, *phases: Document, **keys: Any) -> Document:
    return {"name": name, "phases": list(phases), **keys}


def test_a_job_is_cut_off_by_its_walltime() -> None:
    """Both share 1 byte/s; a is cut at 3 s with 1.5 of 2 bytes moved, and b has the rest of the time for itself."""
    two = scenario(job("a", {"write": 2}, walltime=3, nodes=2), job("b", {"write": 4}))
    found = simulate(two, "fair-share", timeline=True)
    a, b = found.applications
    assert (a.completion, a.stretch, a.cut, a.transferred) == (None, None, True, 1.5)
    assert (a.yield_, b.completion, b.cut) == (0.5, 5.5, False)
    assert (found.makespan, found.end, found.unfinished, found.worst) == (None, 5.5, 1, "a")
    assert found.node_hours_lost == pytest.approx((2 * 3 + 1.5) / 3600)
    assert found.timeline is not None
    kept = schedule_of(found.timeline)
    assert {kept.names[i]: end for i, end in zip(kept.application, kept.end, strict=True)}["b"] == 5.5
    assert (kept.end == 5.5).sum() == 1, "what was cut off has no end"


@pytest.mark.parametrize(("walltime", "cut"), [(3, False), (2.5, True)])
def test_what_ends_with_its_walltime_has_ended_in_time(walltime: float, cut: bool) -> None:
    alone = scenario(job("a", {"compute": 1}, {"write": 1}, {"compute": 1}, walltime=walltime))
    found = simulate(alone).applications[0]
    assert (found.cut, found.completion) == (cut, None if cut else 3.0)
    assert found.yield_ == 1.0


def test_a_compute_that_the_walltime_ends_posts_nothing() -> None:
    two = scenario(job("a", {"compute": 5}, {"write": 9}, walltime=2), job("b", {"write": 1}, {"compute": 1}))
    found = simulate(two)
    assert (found.applications[0].compute_done, found.applications[0].transferred, found.end) == (2.0, 0.0, 2.0)
    assert found.events == 3  # releases, b's write, a's walltime


def test_a_walltime_before_the_window_is_refused() -> None:
    document = {"version": 1, "platform": {"bandwidth": 1}, "window": {"begin": 10, "end": 20}}
    document |= {"applications": [job("a", {"write": 1}, walltime="10 s")]}
    with pytest.raises(InvalidScenario, match=r"applications\[0\].walltime is 10; .* beyond window.begin, 10"):
        Scenario.from_document(document)


@pytest.mark.parametrize("policy", ["periodic-fifo", "hierarchical-round-robin"])
def test_nobody_waits_for_a_job_that_is_gone(policy: str) -> None:
    loop = {"repeat": 3, "phases": [{"compute": 1}, {"write": 1}]}
    found = simulate(scenario(job("a", loop, walltime=2.5), job("b", loop)), policy)
    assert found.applications[0].cut
    assert found.applications[1].completion is not None


@pytest.mark.parametrize("times", ["forever", 4])
def test_the_blocks_go_on_without_a_longest_job_that_is_gone(times: int | str) -> None:
    """Blocks of hierarchical round-robin: b a | c b a | d b a | e b a. a is cut off before its first turn.

    Its second operation would come at 9 s, after the window; the blocks from the second on are there all the same.
    """
    a = job("a", {"repeat": times, "phases": [{"write": 1}, {"compute": 8}]}, walltime=0.5)
    b = job("b", {"repeat": times, "phases": [{"write": 1}]})
    short = [job(name, {"write": 1}) for name in "cde"]
    found = simulate(scenario(a, b, *short, window=8), "hierarchical-round-robin", timeline=True)
    assert [each.completion for each in found.applications[2:]] == [2, 4, 6]
    assert found.timeline is not None
    kept = schedule_of(found.timeline)
    assert [kept.names[i] for i in kept.application][:7] == list("bcbdbeb")


def test_the_blocks_go_on_when_all_longest_jobs_are_gone() -> None:
    """Blocks: a | b a | b a | c a. a is cut off in its first turn; without its blocks c would go before b's second."""
    a = job("a", {"repeat": "forever", "phases": [{"write": 1}, {"compute": 8}]}, walltime=0.5)
    rest = job("b", {"write": 1}, {"write": 1}), job("c", {"write": 1})
    found = simulate(scenario(a, *rest, window=8), "hierarchical-round-robin")
    assert [each.completion for each in found.applications] == [None, 2.5, 3.5]


def test_uneven_nodes_are_slower() -> None:
    found = simulate(scenario(job("a", {"write": 3}, bandwidth=4, node_skew=2))).applications[0]
    assert (found.completion, found.transferred, found.stretch) == (6.0, 3.0, 1.0)  # min(4, 1)/2


def test_those_who_share_lose_some_of_the_bandwidth_and_one_alone_does_not() -> None:
    jobs = [job(name, {"write": 2}) for name in "ab"]
    shared = simulate(scenario(*jobs, interference=[1, 0.8]), "fair-share")
    assert [each.completion for each in shared.applications] == [5.0, 5.0]
    exclusive = simulate(scenario(*jobs, interference=[1, 0.8]), "list-fifo")
    assert [each.completion for each in exclusive.applications] == [2.0, 4.0]


def test_a_policy_is_asked_again_when_fewer_move() -> None:
    """Two of three can use the 0.7 that three would leave: they leave 0.9."""
    jobs = [job(name, {"write": 6}, bandwidth=0.6) for name in "abc"]
    assert first_rates(scenario(*jobs, interference=[1, 0.9, 0.7])) == pytest.approx({"a": 0.6, "b": 0.3, "c": 0.0})


def test_more_never_move_than_there_is_room_for() -> None:
    """Only one can use the 0.6 that three leave; asked with all of it, a second would, too, but two leave 0.8 only."""
    jobs = [job(name, {"write": 6}, bandwidth=0.6) for name in "abc"]
    assert first_rates(scenario(*jobs, interference=[1, 0.8, 0.6])) == pytest.approx({"a": 0.6, "b": 0.0, "c": 0.0})


def first_rates(given: Scenario) -> dict[str, float]:
    found = simulate(given, "fcfs", timeline=True).timeline
    assert found is not None
    starting = found.start == 0.0
    return {found.names[i]: rate for i, rate in zip(found.application[starting], found.rate[starting], strict=True)}


@given(document=sites(documents()), policy=st.sampled_from(["fcfs", "greedy-com", "set-10", "list-fifo"]))
def test_so_many_never_have_more_than_they_leave(document: Document, policy: str) -> None:
    given = Scenario.from_document(document)
    found = simulate(given, policy, timeline=True).timeline
    assert found is not None
    efficiencies = given.platform.interference or (1.0,)
    for start, stop in pairwise(sorted({*found.start, *found.stop})):
        rates = found.rate[(found.start <= start) & (found.stop >= stop)]
        share = efficiencies[min(max(1, (rates > 0).sum()), len(efficiencies)) - 1]
        assert rates.sum() <= found.capacity * share * (1 + 1e-9)


def by_posting(view: Any, rates: Any) -> None:
    left = view.capacity
    for row in sorted(range(rates.size), key=lambda row: (view.posted[row], view.application[row])):
        rates[row] = min(left, view.limit[row])
        left -= rates[row]


@given(document=sites(documents()))
def test_plain_and_compiled_policies_are_asked_alike(document: Document) -> None:
    given = Scenario.from_document(document)
    assert simulate(given, by_posting).applications == simulate(given, "fcfs").applications


@given(document=documents())
def test_without_loss_interference_changes_nothing(document: Document) -> None:
    plain = simulate(Scenario.from_document(document), "fair-share")
    document["platform"]["interference"] = [1.0, 1.0]
    for application in document["applications"]:
        application |= {"walltime": 1e6, "node_skew": 1}
    assert simulate(Scenario.from_document(document), "fair-share").applications == plain.applications


@pytest.mark.parametrize("first", [True, False])
def test_whom_the_storage_waits_for_keeps_the_turn(first: bool) -> None:
    """By the longest job: z, then a, then b. The storage waits for b from 1 s on; z joins at 2 s and waits for it.

    Without another operation posted meanwhile nobody asks the policy before z posts: the same must come of it.
    """
    late = job("z", {"write": 1}, {"compute": 90}, release=2)
    jobs = [job("a", {"write": 1}, {"compute": 50}), job("b", {"compute": 5}, {"write": 1})]
    found = simulate(scenario(*([late, *jobs] if first else [*jobs, late])), "periodic-most-remaining", timeline=True)
    assert found.timeline is not None
    kept = schedule_of(found.timeline)
    assert [kept.names[i] for i in kept.application] == ["a", "b", "z"]
    assert kept.start.tolist() == [0, 5, 6]
