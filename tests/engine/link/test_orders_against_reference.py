"""The exclusive orders against the slow, independent ones, and hierarchical round-robin against its closed form."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from engine.link.test_against_reference import assert_same, close
from penstock import Scenario, simulate
from penstock.model import Application, Compute, Platform, Repeat, Write
from penstock.studies.schedules import follow
from reference import ORDERS
from reference.orders import jobs_of, round_robin_makespan
from strategies import crowds, documents

Document = dict[str, Any]


@settings(max_examples=5 * settings().max_examples)
@given(document=crowds() | crowds(windowed=True) | crowds(endless=True), order=st.sampled_from(sorted(ORDERS)))
def test_jobs_that_wait_for_each_other(order: str, document: Document) -> None:
    assert_same(document, order)


@given(documents(forever=False) | crowds() | crowds(windowed=True), st.randoms(use_true_random=False), st.data())
def test_a_plan_is_followed(document: Document, shuffle: random.Random, data: st.DataObject) -> None:
    plan = [name for name, job in jobs_of(document).items() for _ in range(int(job.operations()))]
    shuffle.shuffle(plan)
    plan = plan[: data.draw(st.integers(0, len(plan)))]
    fast = simulate(Scenario.from_document(document), follow(plan))
    slow = reference.simulate(document, reference.follow(plan))
    assert [job.yield_ for job in fast.applications] == [close(job["yield"]) for job in slow["applications"]]
    assert [job.completion for job in fast.applications] == [close(job["completion"]) for job in slow["applications"]]
    assert fast.events == slow["events"]


def uniform(a: float, b: float, counts: list[int]) -> Scenario:
    iteration = Compute(compute=a), Write(write=b)
    jobs = tuple(
        Application(name=f"j{index}", phases=(Repeat(repeat=count, phases=iteration),))
        for index, count in enumerate(counts)
    )
    return Scenario(version=1, platform=Platform(bandwidth=1.0), applications=jobs)


@pytest.mark.parametrize("times", [500, pytest.param(10_000, marks=pytest.mark.soak)])
def test_round_robin_takes_what_the_closed_form_says(times: int) -> None:
    draw = random.Random(2)
    for _ in range(times):
        a, b = draw.choice([0.0, draw.randint(1, 9), draw.uniform(0, 9)]), draw.choice([1.0, draw.uniform(0.1, 5)])
        counts = [draw.randint(1, draw.choice([1, 3, 6, 12])) for _ in range(draw.randint(1, 6))]
        found = simulate(uniform(a, b, counts), "hierarchical-round-robin").makespan
        assert found == pytest.approx(round_robin_makespan(a, b, counts), rel=1e-9), (a, b, counts)
