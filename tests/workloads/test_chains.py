"""P2 Table 1: what `chains` and `uniform` draw, what their settings change, what they refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from penstock import load, save
from penstock.errors import InvalidOption, InvalidScenario
from penstock.model import Compute, Scenario, Write
from penstock.workloads import generate

KINDS = ["chains", "uniform"]
ITERATIONS = {"chains": (5, 150), "uniform": (100, 200)}


def columns(scenario: Scenario) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b and n of every job; fails on anything that is not n times compute, then write."""
    return tuple(np.array(column) for column in zip(*rows(scenario), strict=True))  # type: ignore[return-value]


def rows(scenario: Scenario) -> Iterator[tuple[float, float, int]]:
    for application in scenario.applications:
        phases: Any = application.phases
        [loop] = phases
        compute, write = loop.phases
        assert (type(compute), type(write)) == (Compute, Write)
        yield compute.compute, write.write, loop.repeat


@pytest.mark.parametrize("kind", KINDS)
def test_structure(kind: str) -> None:
    scenario = generate(kind, seed=3)
    assert scenario.platform.bandwidth == 1
    assert scenario.window is None
    assert (scenario.seed, scenario.noise) == (3, 0)
    assert [each.name for each in scenario.applications] == [f"j{i + 1}" for i in range(len(scenario.applications))]
    assert all((each.nodes, each.release, each.bandwidth) == (1, 0, None) for each in scenario.applications)


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_jobs_is_drawn_and_no_other(kind: str) -> None:
    found = {len(generate(kind, seed=seed).applications) for seed in range(300)}
    assert found == set(range(2, 16))


def test_chains_follow_the_table() -> None:
    a, b, n = columns(generate("chains", seed=1, m=10_000))
    for drawn, low, high in ((a, 1, 20), (b / a, 0.1, 1)):
        assert low <= drawn.min() < low + 0.01 * (high - low)
        assert high >= drawn.max() > high - 0.01 * (high - low)
        assert drawn.mean() == approx((low + high) / 2, rel=0.02)
        assert drawn.std() == approx((high - low) / math.sqrt(12), rel=0.02)
    assert set(n) == set(range(5, 151))
    assert n.mean() == approx(77.5, rel=0.02)
    assert all(abs(np.corrcoef(one, other)[0, 1]) < 0.03 for one, other in ((a, b / a), (a, n), (b, n)))


def test_uniform_jobs_differ_in_their_iterations_only() -> None:
    drawn = [columns(generate("uniform", seed=seed, m=2)) for seed in range(1000)]
    assert all(np.ptp(a) == np.ptp(b) == 0 for a, b, _ in drawn)
    a = np.array([a[0] for a, _, _ in drawn])
    share = np.array([b[0] / a[0] for a, b, _ in drawn])
    for one, low, high in ((a, 1, 20), (share, 0.1, 1)):
        assert low <= one.min() < low + 0.01 * (high - low)
        assert high >= one.max() > high - 0.01 * (high - low)
        assert one.mean() == approx((low + high) / 2, abs=4 * (high - low) / math.sqrt(12 * 1000))
    assert {int(each) for _, _, n in drawn for each in n} == set(range(100, 201))


@pytest.mark.parametrize("kind", KINDS)
def test_settings_narrow_the_ranges(kind: str) -> None:
    settings = {"a_min": 5, "a_max": 6, "load_min": 2, "load_max": 3, "n_min": 7, "n_max": 9}
    a, b, n = columns(generate(kind, seed=2, m=50, **settings))
    assert len(a) == 50
    assert 5 <= a.min() <= a.max() <= 6
    assert 2 <= (b / a).min() <= (b / a).max() <= 3
    assert set(n) == {7, 8, 9}
    a, b, n = columns(generate(kind, a_min=4, a_max=4, load_min=0.5, load_max=0.5, n_min=10, n_max=10))
    assert set(a) == {4}
    assert set(b) == {2}
    assert set(n) == {10}


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_the_scenarios_and_leaves_the_jobs_alone(kind: str) -> None:
    noisy = generate(kind, seed=6, noise="0.2")
    assert (noisy.seed, noisy.noise) == (6, 0.2)
    assert noisy.applications == generate(kind, seed=6).applications


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_decides_everything(kind: str) -> None:
    assert generate(kind, seed=4) == generate(kind, seed=4)
    assert generate(kind, seed=4).applications != generate(kind, seed=5).applications


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_what_is_saved_loads_the_same(kind: str, name: str, tmp_path: Path) -> None:
    scenario = generate(kind, seed=7, noise=0.5)
    save(scenario, tmp_path / name)
    assert load(tmp_path / name) == scenario


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"m": 0}, "m is 0; accepted is a whole number from 1 to 10,000, or none."),
        ({"m": 2.5}, "m is 2.5; accepted is a whole number from 1 to 10,000, or none."),
        ({"a_min": 0}, "a_min is 0; accepted is a number from 1e-6 to 1e12."),
        ({"a_min": 30}, "a_min is 30 and a_max is 20; accepted is a_min ≤ a_max."),
        ({"load_max": 0.05}, "load_min is 0.1 and load_max is 0.05; accepted is load_min ≤ load_max."),
        ({"n_min": 300}, "n_min is 300 and n_max is {n_max}; accepted is n_min ≤ n_max."),
        ({"n_max": 0}, "n_max is 0; accepted is a whole number from 1 to 1,000,000."),
        ({"noise": 1.5}, "noise is 1.5; accepted is a number from 0 to 1."),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(kind: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate(kind, **settings)
    assert str(refused.value) == f"{kind}: {sentence.format(n_max=ITERATIONS[kind][1])}"


def test_more_phases_than_memory_holds_are_refused() -> None:
    with pytest.raises(InvalidScenario, match=r"unrolls to 2,000,000,000 phases; at most 50,000,000"):
        generate("chains", m=1000, n_min=1_000_000, n_max=1_000_000)
