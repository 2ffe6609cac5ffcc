"""P3 §6.2.2: what `packs` draws, how near the occupation comes to its aim, what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from pytest import approx

from penstock import load, save
from penstock.errors import InvalidOption
from penstock.model import Compute, Scenario, Write
from penstock.workloads import generate
from penstock.workloads.packs import doubling_chance, doublings, mean_nodes

PAPER = [0.5, 0.75, *range(1, 11)]  # every α_gen of P3
CUT = math.exp(-0.5) / math.sqrt(2 * math.pi) / (0.5 * (1 + math.erf(math.sqrt(0.5))))  # φ(1)/Φ(1)


class Jobs(NamedTuple):
    """The columns of a scenario, one row per job."""

    low: np.ndarray
    nodes: np.ndarray
    iterations: np.ndarray
    compute: np.ndarray
    volume: np.ndarray


def columns(scenario: Scenario) -> Jobs:
    rows = []
    for application in scenario.applications:
        phases: Any = application.phases
        [loop] = phases
        compute, write = loop.phases
        assert (type(compute), type(write)) == (Compute, Write)
        low = application.name.startswith("low-")
        rows.append((low, application.nodes, loop.repeat, compute.compute, write.write))
    return Jobs(*(np.array(column) for column in zip(*rows, strict=True)))


def occupation(scenario: Scenario) -> float:
    """α of P3, equation 6."""
    jobs = columns(scenario)
    volume = (jobs.iterations * jobs.volume).sum() / scenario.platform.io_nodes.bandwidth
    area = (jobs.nodes * jobs.iterations * (jobs.compute + jobs.volume)).sum()
    return float(scenario.platform.io_nodes.nodes * volume / area)


def chances(mean: float, nodes: int) -> dict[int, float]:
    """How likely each number of nodes is."""
    count, chance = doublings(nodes), doubling_chance(mean, nodes)
    return {2**j: math.comb(count, j) * chance**j * (1 - chance) ** (count - j) for j in range(count + 1)}


def test_structure() -> None:
    scenario = generate("packs", seed=3, io_nodes=5)
    assert scenario.platform.bandwidth == 1
    assert (scenario.platform.io_nodes.count, scenario.platform.io_nodes.bandwidth) == (5, 1)
    assert scenario.platform.io_nodes.nodes == 2048
    assert scenario.window is None
    assert scenario.noise == 0
    assert all((each.release, each.bandwidth) == (0, None) for each in scenario.applications)
    assert [each.name.partition("-")[2] for each in scenario.applications] == [
        str(i + 1) for i in range(len(scenario.applications))
    ]


def test_every_number_of_jobs_is_drawn_and_no_other() -> None:
    found = {len(generate("packs", seed=seed).applications) for seed in range(600)}
    assert found == set(range(25, 101))


def test_iterations_and_compute_are_uniform() -> None:
    jobs = columns(generate("packs", seed=1, jobs=5000))
    for drawn, low, high in ((jobs.iterations, 250, 1000), (jobs.compute, 10, 100)):
        assert low <= drawn.min() < low + 0.01 * (high - low)
        assert high >= drawn.max() > high - 0.01 * (high - low)
        assert drawn.mean() == approx((low + high) / 2, rel=0.02)
        assert drawn.std() == approx((high - low) / math.sqrt(12), rel=0.02)


@pytest.mark.parametrize(("beta", "mean"), [(1, 0.1 + 0.1 * CUT), (0, 0.9 - 0.1 * CUT)])
def test_loads_follow_the_truncated_normal(beta: float, mean: float) -> None:
    jobs = columns(generate("packs", seed=2, jobs=5000, beta=beta))
    share = jobs.volume / jobs.compute
    # N(μ, 0.1) cut one deviation from its mean: variance 0.01·(1 - z - z²) with z = φ(1)/Φ(1)
    assert (jobs.low == bool(beta)).all()
    assert 0 < share.min() <= share.max() <= 1
    assert share.mean() == approx(mean, abs=0.004)
    assert share.std() == approx(0.1 * math.sqrt(1 - CUT - CUT**2), rel=0.05)


@pytest.mark.parametrize(
    ("jobs", "beta", "low"), [(40, 0.25, 10), (25, 0.5, 12), (30, 0.33, 10), (25, 0, 0), (25, 1, 25)]
)
def test_the_share_of_low_load_is_met(jobs: int, beta: float, low: int) -> None:
    places = [columns(generate("packs", seed=seed, jobs=jobs, beta=beta)).low for seed in range(20)]
    assert all(each.sum() == low for each in places)
    if 0 < low < jobs:
        assert len({each.tobytes() for each in places}) == 20
    drawn = columns(generate("packs", jobs=jobs, beta=beta))
    assert ((drawn.volume / drawn.compute)[drawn.low] < 0.6).all()
    assert ((drawn.volume / drawn.compute)[~drawn.low] > 0.4).all()


def test_the_share_is_uniform_when_it_is_drawn() -> None:
    shares = np.array([columns(generate("packs", seed=seed, jobs=20)).low.mean() for seed in range(1000)])
    assert (shares.min(), shares.max()) == (0, 1)
    assert shares.mean() == approx(0.5, abs=4 / math.sqrt(12 * 1000))
    assert shares.std() == approx(1 / math.sqrt(12), rel=0.05)


@pytest.mark.parametrize("beta", [0, 0.3, 1])
@pytest.mark.parametrize("alpha", PAPER)
def test_the_processors_have_exactly_the_mean_of_the_paper(alpha: float, beta: float) -> None:
    load = 0.1 * beta + 0.9 * (1 - beta)
    expected = 2048 * load / (alpha * (1 + load))
    likely = chances(mean_nodes(alpha, beta, 2048), 2048)
    assert list(likely) == [2**j for j in range(12)]
    assert math.fsum(likely.values()) == approx(1, rel=1e-12)
    assert math.fsum(nodes * chance for nodes, chance in likely.items()) == approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "nodes"), [(1, 2048), (10, 2048), (2, 100)])
def test_processors_are_drawn_with_these_chances(alpha: float, nodes: int) -> None:
    drawn = columns(generate("packs", seed=4, jobs=5000, alpha=alpha, beta=0.5, nodes=nodes)).nodes
    expected = chances(mean_nodes(alpha, 0.5, nodes), nodes)
    assert set(drawn) <= set(expected)
    assert max(expected) <= nodes
    for width, chance in expected.items():
        assert (drawn == width).mean() == approx(chance, abs=0.03)
    assert drawn.mean() == approx(mean_nodes(alpha, 0.5, nodes), rel=0.1)


@pytest.mark.parametrize("alpha", [0.5, 1, 3, 10])
def test_the_occupation_is_near_its_aim_on_average(alpha: float) -> None:
    """Within 12 % over 200 workloads as the paper draws them: its Q̄ replaces sums by averages."""
    reached = np.array([occupation(generate("packs", seed=seed, alpha=alpha)) for seed in range(200)])
    assert reached.mean() == approx(alpha, rel=0.12)
    assert np.median(reached) == approx(alpha, rel=0.12)
    assert reached.std() > 0.05 * alpha


@pytest.mark.parametrize(("beta", "mean"), [(0, 0.9 - 0.1 * CUT), (0.5, 0.5), (1, 0.1 + 0.1 * CUT)])
def test_with_many_jobs_the_occupation_misses_its_aim_by_the_cut_of_the_loads(beta: float, mean: float) -> None:
    aimed = 0.1 * beta + 0.9 * (1 - beta)
    expected = mean / (1 + mean) / (aimed / (1 + aimed))
    assert occupation(generate("packs", seed=5, beta=beta, jobs=10_000)) == approx(expected, rel=0.04)


def test_one_seed_at_several_alphas_differs_in_the_processors_only() -> None:
    one, other = (columns(generate("packs", seed=8, alpha=alpha)) for alpha in (0.5, 10))
    assert all((getattr(one, name) == getattr(other, name)).all() for name in Jobs._fields if name != "nodes")
    assert (one.nodes != other.nodes).any()


def test_a_seed_decides_everything() -> None:
    assert generate("packs", seed=4) == generate("packs", seed=4)
    assert generate("packs", seed=4) != generate("packs", seed=5)


@pytest.mark.parametrize("name", ["x.yaml", "x.json"])
def test_what_is_saved_loads_the_same(name: str, tmp_path: Path) -> None:
    scenario = generate("packs", seed=7, io_nodes=3)
    save(scenario, tmp_path / name)
    assert load(tmp_path / name) == scenario


@pytest.mark.parametrize("nodes", [2**j for j in range(3, 21)])
def test_the_chance_of_a_doubling_stays_a_chance(nodes: int) -> None:
    assert doubling_chance(1, nodes) == 0
    assert 1 - 1e-12 < doubling_chance(nodes, nodes) <= 1


def test_the_widest_and_the_narrowest_alpha_are_accepted() -> None:
    assert set(columns(generate("packs", alpha=0.9 / 1.9, beta=0)).nodes) == {2048}
    assert set(columns(generate("packs", alpha=2048 * 0.1 / 1.1, beta=1)).nodes) == {1}
    for seed in range(20):
        for alpha in (0.474, 186.181):  # what the refusal below prints
            assert generate("packs", seed=seed, alpha=alpha).applications


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"alpha": 0}, "alpha is 0; accepted is a number > 0."),
        ({"alpha": 0.3}, "alpha is 0.3; accepted is a number from 0.474 to 186.181 with beta drawn, so that jobs need"),
        ({"alpha": 200}, "alpha is 200; accepted is a number from 0.474 to 186.181 with beta drawn, so that jobs need"),
        ({"alpha": 0.3, "beta": 0.5}, "alpha is 0.3; accepted is a number from 0.334 to 682.666 with beta 0.5, so"),
        (
            {"alpha": 9.1, "nodes": 100},
            "alpha is 9.1; accepted is a number from 0.741 to 9.090 with beta drawn, so that",
        ),
        ({"beta": 1.1}, "beta is 1.1; accepted is a number from 0 to 1, or none."),
        ({"jobs": 0}, "jobs is 0; accepted is a whole number from 1 to 100,000, or none."),
        ({"io_nodes": 0}, "io_nodes is 0; accepted is a whole number from 1 to 10,000."),
        ({"nodes": 4}, "nodes is 4; accepted is a whole number from 8 to 1,048,576."),
        ({"n_min": 2000}, "n_min is 2000 and n_max is 1000; accepted is n_min ≤ n_max."),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate("packs", **settings)
    assert str(refused.value).startswith(f"packs: {sentence}")
    assert "\n" not in str(refused.value)
