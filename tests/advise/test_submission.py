"""Advice for jobs that wait: the planners' own answers, for jobs of a known kind only."""

from typing import NamedTuple

import pytest

from penstock import Scenario, allocate, pack
from penstock.advise.submission import MOST, submission_advice
from penstock.studies.buffers.split import split


class Job(NamedTuple):
    job: str
    name: str
    nodes: int = 2


def site(**platform):
    phases = [{"repeat": 3, "phases": [{"compute": 60}, {"write": 400}]}]
    jobs = [
        {"name": "wide", "nodes": 4, "profile": {1: 10, 2: 19, 4: 36}, "phases": phases},
        {"name": "small", "nodes": 1, "profile": {1: 9, 2: 7, 4: 4}, "phases": phases},
    ]
    return Scenario.from_document({"version": 1, "platform": {"bandwidth": 40, **platform}, "applications": jobs})


def with_jobs(scenario, *jobs):
    usual = {each.name: each for each in scenario.applications}
    more = [usual[job.name].model_copy(update={"name": job.job, "nodes": job.nodes}) for job in jobs]
    return scenario.model_copy(update={"applications": (*scenario.applications, *more)})


WAITING = (Job("7", "wide"), Job("8", "small", 1))


def test_stripes_are_those_of_the_allocation_beside_the_usual_jobs():
    scenario = site(targets=4)
    counts = {each.name: each.count for each in allocate(with_jobs(scenario, *WAITING)).applications}
    advice = submission_advice(scenario, WAITING)
    assert advice == {"7": {"stripes": str(counts["7"])}, "8": {"stripes": str(counts["8"])}}
    assert int(advice["7"]["stripes"]) > int(advice["8"]["stripes"])


def test_the_io_node_is_that_of_the_mapping():
    scenario = site(io_nodes={"count": 2, "bandwidth": 20, "nodes": 4})
    nodes = {each.name: each.io_node for each in pack(with_jobs(scenario, *WAITING), mapping="easy").jobs}
    assert submission_advice(scenario, WAITING) == {job: {"io_node": str(nodes[job])} for job in ("7", "8")}


def test_the_buffer_part_is_that_of_the_split():
    scenario = site(burst_buffer={"capacity": 1000}, nodes=100, node_bandwidth=100)
    parts = split(with_jobs(scenario, *WAITING)).parts
    advice = submission_advice(scenario, WAITING)
    assert {job: float(words["buffer"]) for job, words in advice.items()} == {
        job: pytest.approx(1000 * min(1.0, parts[job]), abs=1) for job in ("7", "8")
    }


def test_a_job_of_an_unknown_kind_gets_none_and_neither_does_anybody_on_a_plain_machine():
    assert submission_advice(site(targets=4), [Job("9", "other")]) == {}
    assert submission_advice(site(), WAITING) == {}


def test_what_a_planner_refuses_is_left_out():
    """No I/O node has 99 nodes behind it; the targets are answered all the same."""
    scenario = site(targets=4, io_nodes={"count": 2, "bandwidth": 20, "nodes": 4})
    assert set(submission_advice(scenario, [Job("7", "wide", 99)])["7"]) == {"stripes"}


def test_a_long_queue_is_planned_in_part():
    assert len(submission_advice(site(targets=4), [Job(str(n), "small") for n in range(60)])) == MOST
