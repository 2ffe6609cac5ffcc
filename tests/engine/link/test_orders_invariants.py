"""What must be true of every exclusive order: one at a time, at full rate, without a break; and the bounds of P2 §4."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.link.test_invariants import Piece, pieces
from penstock import Result, Scenario, compare
from penstock.engine.compile import compile_scenario
from penstock.engine.program import Program
from penstock.model import Application, Compute, Platform, Repeat, Write
from reference import ORDERS
from strategies import crowds, documents

EXCLUSIVE = [name for name in ORDERS if name != "best-effort"]
LISTS = [name for name in ORDERS if name.startswith("list-")]
BY_PERIOD = [name for name in ORDERS if name.startswith("periodic-")] + ["hierarchical-round-robin"]

# Instants are equal within 1e-9.
SLACK = 3e-9

anything = documents() | crowds() | crowds(windowed=True) | crowds(endless=True)


def recorded(result: Result, program: Program) -> list[Piece]:
    assert result.timeline is not None
    return pieces(result.timeline, program)


@given(anything.map(Scenario.from_document))
def test_one_at_a_time_at_full_rate(scenario: Scenario) -> None:
    program = compile_scenario(scenario)
    for result in compare(scenario, EXCLUSIVE, timeline=True):
        served = sorted((p for p in recorded(result, program) if p.rate > 0), key=lambda piece: piece.start)
        for piece in served:
            assert piece.rate == min(program.limit[piece.operation], program.capacity), (result.sharing, piece)
        for before, after in pairwise(served):
            assert before.stop <= after.start, (result.sharing, before, after)


@given(anything.map(Scenario.from_document))
def test_what_has_started_is_served_to_its_end(scenario: Scenario) -> None:
    program = compile_scenario(scenario)
    for result in compare(scenario, EXCLUSIVE, timeline=True):
        last: dict[int, Piece] = {}
        for piece in recorded(result, program):
            before = last.get(piece.operation)
            if before is not None and before.rate > 0:
                assert piece.rate > 0, (result.sharing, piece)
                assert piece.start == before.stop, (result.sharing, piece)
            last[piece.operation] = piece


@given(anything.map(Scenario.from_document))
def test_a_list_never_idles_while_something_is_pending(scenario: Scenario) -> None:
    for result in compare(scenario, LISTS, timeline=True):
        timeline = result.timeline
        assert timeline is not None
        for moment in np.unique(np.concatenate([timeline.start, timeline.stop])):
            pending = (timeline.start <= moment) & (moment < timeline.stop)
            assert not pending.any() or timeline.rate[pending].max() > 0, (result.sharing, moment)


@given((documents(windowed=False) | crowds()).map(Scenario.from_document))
def test_noise_is_the_same_whatever_the_order(scenario: Scenario) -> None:
    first, *others = compare(scenario, ORDERS)
    for result in others:
        for one, other in zip(first.applications, result.applications, strict=True):
            assert other.transferred == pytest.approx(one.transferred, rel=1e-12), (result.sharing, one.name)
            assert other.compute_done == pytest.approx(one.compute_done, rel=1e-12), (result.sharing, one.name)


def at_zero(document: dict[str, object]) -> Scenario:
    scenario = Scenario.from_document(document)
    return scenario.model_copy(
        update={"applications": tuple(each.model_copy(update={"release": 0.0}) for each in scenario.applications)}
    )


@given((documents(windowed=False) | crowds()).map(at_zero))
def test_a_list_takes_at_most_all_io_and_one_compute(scenario: Scenario) -> None:
    """P2 theorem 3: while the resource is idle, the job that ends last computes."""
    program = compile_scenario(scenario)
    io = (program.volume / program.limit).sum()
    chains = [slice(*ends) for ends in pairwise(program.first)]
    compute = max(program.work[chain].sum() + tail for chain, tail in zip(chains, program.tail, strict=True))
    for result in compare(scenario, LISTS):
        assert result.makespan is not None
        assert result.makespan <= (io + compute) * (1 + SLACK), result.sharing


@given(st.integers(1, 8), st.integers(1, 6), st.randoms(use_true_random=False))
def test_periods_are_within_one_more_of_the_optimum(n: int, m: int, draw: random.Random) -> None:
    """P2 theorem 4, for every fixed order inside the period.

    Let P = max(Σ b, max (a_i + b_i)); the optimum is at least n·P. The operation of job i in period k ends by
    max a + b_1 + … + b_i + (k − 1)·P: it waits for the one before it or for its own compute, and both claims follow by
    induction. So all is over by max a + Σ b + (n − 1)·P ≤ (n + 1)·P.
    """
    pairs = [
        (draw.choice([0, 1, 2, 9 * draw.random()]), draw.choice([1, 2, 3 * draw.random() + 0.1])) for _ in range(m)
    ]
    jobs = tuple(
        Application(name=f"j{i}", phases=(Repeat(repeat=n, phases=(Compute(compute=a), Write(write=b))),))
        for i, (a, b) in enumerate(pairs)
    )
    period = max(sum(b for _, b in pairs), *(a + b for a, b in pairs))
    scenario = Scenario(version=1, platform=Platform(bandwidth=1.0), applications=jobs)
    for result in compare(scenario, BY_PERIOD):
        assert result.makespan is not None
        assert n * period * (1 - SLACK) <= result.makespan <= (n + 1) * period * (1 + SLACK), result.sharing
