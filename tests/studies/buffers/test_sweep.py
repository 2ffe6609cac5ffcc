"""Many runs behind a buffer: each is the run that it says, and one sizing serves them all."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.policies.buffering import NAMES
from penstock.policies.sharing import find as find_sharing
from penstock.studies.buffers import buffer
from penstock.studies.buffers import sweep as module
from penstock.studies.buffers.split import split
from penstock.studies.buffers.sweep import FACTORS, compare_buffers, sweep_buffer
from studies.sizing.plans import ONE_EACH, app, document

BURSTS = Scenario.from_document(
    document(
        ONE_EACH,
        app("a", ("compute", 4), ("write", 12), ("compute", 6), ("write", 12), bandwidth=4),
        app("b", ("read", 3), ("compute", 5), ("write", 8), ("compute", 9), ("write", 8), bandwidth=6),
    )
)
CALM = Scenario.from_document(document(ONE_EACH, app("a", ("compute", 4), ("write", 2), bandwidth=1)))


def test_capacities_are_dense_below_the_smallest_that_is_enough() -> None:
    assert (FACTORS[0], FACTORS[-1]) == (0.0, 3.0) and 1.0 in FACTORS and 0.5 in FACTORS
    assert list(FACTORS) == sorted(set(FACTORS)) and 20 <= len(FACTORS) <= 30
    assert sum(factor < 1.0 for factor in FACTORS) > sum(factor > 1.0 for factor in FACTORS)


@pytest.mark.parametrize(
    ("partition", "common"), [("static", None), ("static", 0.3), ("isolated", 0.0), ("dynamic", None)]
)
def test_a_sweep_is_its_runs(partition: str, common: float | None) -> None:
    strategies: list[Any] = ["fair", "earliest-burst", find_sharing("fcfs")]
    found = sweep_buffer(BURSTS, strategies, partition=partition, common=common, factors=(0.0, 0.4, 1.0))
    shared = split(BURSTS, partition, common)
    assert (found.partition, found.common, found.size) == (partition, shared.common, shared.size)
    for point in found.points:
        assert point.capacity == point.factor * shared.size
        for strategy, outcome in zip(strategies, point.runs, strict=True):
            run = buffer(BURSTS, point.capacity, partition=partition, common=common, strategy=strategy)
            assert (outcome.max_stretch, outcome.mean_stretch) == (run.max_stretch, run.mean_stretch)
            assert outcome.strategy == run.strategy
            assert (point.bound_max_stretch, point.bound_mean_stretch) == (
                run.bound_max_stretch,
                run.bound_mean_stretch,
            )
        assert point.best.max_stretch == min(outcome.max_stretch for outcome in point.runs)


def test_the_buffer_is_sized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sized = []

    def counting(*given: object) -> object:
        sized.append(given)
        return split(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "split", counting)
    sweep_buffer(BURSTS, NAMES, factors=(0.1, 0.2))
    assert len(sized) == 1
    compare_buffers(BURSTS, 3.0, split=split(BURSTS))
    assert len(sized) == 1


def test_a_comparison_is_sorted() -> None:
    found = compare_buffers(BURSTS, 5.0)
    assert sorted(run.strategy for run in found.runs) == sorted(NAMES)
    order = [(run.max_stretch, run.mean_stretch) for run in found.runs]
    assert order == sorted(order) and len(set(order)) > 1
    record = found.to_dict()
    assert record["runs"] == [run.to_dict() for run in found.runs]
    assert record["capacity"] == 5.0 and record["size"] == split(BURSTS).size


def test_nothing_to_sweep_where_no_buffer_is_needed() -> None:
    found = sweep_buffer(CALM, NAMES)
    assert found.to_dict() == {"partition": "static", "common": 0.0, "size": 0.0, "points": []}


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    sweep_buffer(BURSTS, ["fair", "blocked-first"], factors=(0.5, 1.0), progress=lambda *step: told.append(step))
    assert told == [
        ("fair, 0.5 × S_opt", 0.0),
        ("blocked-first, 0.5 × S_opt", 0.25),
        ("fair, 1 × S_opt", 0.5),
        ("blocked-first, 1 × S_opt", 0.75),
    ]
    told.clear()
    compare_buffers(BURSTS, 1.0, ["fair", "planned"], progress=lambda *step: told.append(step))
    assert told == [("fair", 0.0), ("planned", 0.5)]


def test_no_strategy_is_refused() -> None:
    with pytest.raises(InvalidOption, match="there is no strategy to run; give at least one"):
        sweep_buffer(BURSTS, [])
