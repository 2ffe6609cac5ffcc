"""P3 Table 1: its numbers, and what iteration batches do to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import load, save
from penstock.errors import InvalidOption
from penstock.model import Compute, Repeat, Write
from penstock.workloads import generate


def loops_of(batches: float) -> list[Any]:
    phases: list[Any] = [application.phases for application in generate("tucan", batches=batches).applications]
    return [each[0] for each in phases]


def iterations(batches: float) -> list[int]:
    return [loop.repeat for loop in loops_of(batches)]


def test_the_table() -> None:
    scenario = generate("tucan")
    assert {each.name: each.phases for each in scenario.applications} == {
        "a1": (Repeat(repeat=250, phases=(Compute(compute=32), Write(write=10))),),
        "a2": (Repeat(repeat=500, phases=(Compute(compute=16), Write(write=5))),),
        "a3": (Repeat(repeat=1000, phases=(Compute(compute=8), Write(write=2.5))),),
        "a4": (Repeat(repeat=1000, phases=(Compute(compute=8), Write(write=2.5))),),
        "a5": (Repeat(repeat=500, phases=(Compute(compute=16), Write(write=5))),),
    }
    assert scenario.window is None
    assert scenario.platform.bandwidth == scenario.platform.io_nodes.bandwidth == scenario.platform.io_nodes.count == 1
    assert scenario.platform.io_nodes.nodes == sum(each.nodes for each in scenario.applications)


@pytest.mark.parametrize("batches", [1, 2, 0.5, 64])
def test_all_take_the_same_time_alone(batches: float) -> None:
    alone = [loop.repeat * sum(phase.amount for phase in loop.phases) for loop in loops_of(batches)]
    assert alone == [10_500 * batches] * 5


@pytest.mark.parametrize(
    ("batches", "expected"),
    [
        (2, [500, 1000, 2000, 2000, 1000]),
        (64, [16_000, 32_000, 64_000, 64_000, 32_000]),
        ("0.1", [25, 50, 100, 100, 50]),
        (0.0051, [1, 3, 5, 5, 3]),
        (1e-6, [1, 1, 1, 1, 1]),
    ],
)
def test_batches_multiply_the_iterations(batches: float, expected: list[int]) -> None:
    assert iterations(batches) == expected


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_what_is_saved_loads_the_same(name: str, tmp_path: Path) -> None:
    scenario = generate("tucan", batches=3)
    save(scenario, tmp_path / name)
    assert load(tmp_path / name) == scenario


def test_nothing_is_drawn() -> None:
    assert generate("tucan", seed=1) == generate("tucan", seed=2)


@pytest.mark.parametrize("batches", [0, -1, "many", 1e5])
def test_what_is_refused_is_said_in_one_sentence(batches: object) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate("tucan", batches=batches)
    assert str(refused.value) == f"tucan: batches is {batches!r}; accepted is a number from 1e-6 to 10,000."
