"""The synthetic workload of P1 §6.2.1: counts, window, pressure, and what the settings change."""

from __future__ import annotations

import math
import time
from collections import Counter

import numpy as np
import pytest
from pytest import approx

from penstock.model import Application, Scenario
from penstock.workloads import generate


def amounts(application: Application) -> np.ndarray:
    return application.phases.amount


def dedicated(application: Application) -> float:
    return float(amounts(application).sum())


def pressure(scenario: Scenario) -> float:
    """What all would write before the window's end if each were alone, as a share of what the bandwidth carries."""
    end = scenario.window.end
    volume = 0.0
    for application in scenario.applications:
        finish = np.cumsum(amounts(application))
        written = np.minimum(amounts(application), np.maximum(0, end - (finish - amounts(application))))
        volume += written[application.phases.kind == 2].sum()
    return volume / end


def sizes(scenario: Scenario) -> Counter[str]:
    return Counter(application.name.partition("-")[0] for application in scenario.applications)


def test_structure() -> None:
    scenario = generate("synthetic", seed=1)
    assert sizes(scenario) == {"small": 20, "medium": 20, "big": 20}
    assert scenario.window.begin == 0
    assert scenario.window.end == min(dedicated(application) for application in scenario.applications)
    for application in scenario.applications:
        kind = application.phases.kind
        assert application.nodes == 1
        assert application.release == 0
        assert application.bandwidth is None
        assert kind[0] == 0
        assert (kind[1::2] == 0).all()
        assert (kind[2::2] == 2).all()
        assert len(kind) % 2 == 1
        assert (amounts(application) >= 0).all()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"small": 0}, {"medium": 20, "big": 40}),
        ({"small": 40}, {"small": 40, "medium": 20}),
        ({"applications": 90}, {"small": 20, "medium": 30, "big": 40}),
        ({"applications": 8, "small": 3, "medium": 0}, {"small": 3, "big": 5}),
    ],
)
def test_counts_of_each_size(settings: dict[str, int], expected: dict[str, int]) -> None:
    assert sizes(generate("synthetic", horizon=2e5, pressure=0.5, **settings)) == expected


def test_without_spread_or_noise_every_iteration_is_the_same() -> None:
    scenario = generate("synthetic", seed=3, sigma=0, noise=0, horizon=1e6)
    means = {"small": 1e3, "medium": 1e4, "big": 1e5}
    shares = []
    for application in scenario.applications:
        mean = means[application.name.partition("-")[0]]
        first, compute, volume = amounts(application)[0], amounts(application)[1::2], amounts(application)[2::2]
        assert 0 <= first <= mean
        assert len(compute) == 1e6 / mean
        assert np.ptp(compute) == np.ptp(volume) == 0
        assert compute[0] + volume[0] == approx(mean)
        shares.append(volume[0] / mean)
    assert math.fsum(shares) == approx(1.0)
    assert max(shares) > 2 * min(shares)


def test_iterations_cover_the_horizon_once() -> None:
    scenario = generate("synthetic", seed=5, noise=0)
    for application in scenario.applications:
        iteration = amounts(application)[1] + amounts(application)[2]
        count = len(application.phases) // 2
        assert (count - 1) * iteration < 2e6 <= count * iteration * (1 + 1e-12)


def test_noise_keeps_the_mean_and_the_range() -> None:
    scenario = generate("synthetic", seed=2, sigma=0, noise=0.5, pressure=0.6, applications=30)
    for application in scenario.applications[:20]:
        for phase in (amounts(application)[1::2], amounts(application)[2::2]):
            assert phase.max() / phase.min() == approx(3, rel=0.02)
            assert phase.max() / phase.mean() == approx(1.5, rel=0.05)
    gamma = [amounts(each)[1::2] / amounts(each)[1::2].mean() for each in scenario.applications[:2]]
    assert abs(np.corrcoef(gamma[0], gamma[1])[0, 1]) < 0.1


def test_iteration_lengths_follow_the_truncated_normal() -> None:
    scenario = generate("synthetic", seed=7, applications=3000, small=0, medium=3000, horizon=2e4, noise=0)
    length = np.array([amounts(each)[1] + amounts(each)[2] for each in scenario.applications])
    # N(1, 1/2) given that it is positive: mean 1 + φ(2)/(2·Φ(2)), variance 1/4·(1 - 2z - z²) with z = φ(2)/Φ(2)
    z = math.exp(-2) / math.sqrt(2 * math.pi) / (0.5 * (1 + math.erf(math.sqrt(2))))
    assert length.min() >= 10
    assert length.mean() == approx(1e4 * (1 + z / 2), rel=0.02)
    assert length.std() == approx(1e4 * math.sqrt((1 - 2 * z - z * z) / 4), rel=0.04)


def test_first_compute_is_uniform_within_an_iteration() -> None:
    scenario = generate("synthetic", seed=8, applications=3000, small=0, medium=3000, horizon=2e4, noise=0)
    share = np.array([amounts(each)[0] / (amounts(each)[1] + amounts(each)[2]) for each in scenario.applications])
    assert share.max() <= 1
    assert share.mean() == approx(0.5, abs=0.02)
    assert share.std() == approx(math.sqrt(1 / 12), abs=0.01)


@pytest.mark.parametrize("goal", [0.2, 0.8, 1.1])
def test_pressure_is_near_its_goal(goal: float) -> None:
    reached = [pressure(generate("synthetic", seed=seed, pressure=goal)) for seed in range(10)]
    assert np.mean(reached) == approx(goal, rel=0.03)
    assert max(reached) - min(reached) > 1e-6


def test_window_ends_near_the_horizon() -> None:
    ends = [generate("synthetic", seed=seed).window.end for seed in range(10)]
    assert np.mean(ends) == approx(2e6, rel=0.15)


def test_a_seed_decides_everything() -> None:
    assert generate("synthetic", seed=4) == generate("synthetic", seed=4)
    assert generate("synthetic", seed=4) != generate("synthetic", seed=5)


def test_caps_keep_iterations_and_pressure() -> None:
    plain, capped = (generate("synthetic", seed=6, horizon=2e5, noise=0, **more) for more in ({}, {"cap": 0.1}))
    caps = np.array([each.bandwidth for each in capped.applications])
    assert 0.1 <= caps.min() < 0.2
    assert 0.9 < caps.max() <= 1
    ends = []
    for before, after in zip(plain.applications, capped.applications, strict=True):
        assert (amounts(after)[2::2] == amounts(before)[2::2]).all()
        assert amounts(after)[0] == amounts(before)[0]
        alone = amounts(after)[1::2].sum() + amounts(after)[2::2].sum() / after.bandwidth
        assert alone == approx(amounts(before)[1:].sum())
        ends.append(amounts(after)[0] + alone)
    assert capped.window.end == approx(min(ends), rel=1e-12)


def test_late_releases_come_after_the_begin_and_change_nothing_else() -> None:
    plain, late = (generate("synthetic", seed=6, horizon=2e5, **more) for more in ({}, {"late": 0.5}))
    releases = np.array([each.release for each in late.applications])
    assert late.window.begin == 0
    assert 0 <= releases.min() < 1e4
    assert 9e4 < releases.max() <= 1e5
    assert [each.phases for each in late.applications] == [each.phases for each in plain.applications]
    ends = [each.release + dedicated(each) for each in late.applications]
    assert late.window.end == approx(min(ends), rel=1e-15)


def test_ages_come_before_the_begin_without_loss() -> None:
    plain, aged = (generate("synthetic", seed=6, horizon=2e5, **more) for more in ({}, {"age": 2}))
    assert aged.window.begin == 4e5
    ages = np.array([aged.window.begin - each.release for each in aged.applications])
    assert 0 <= ages.min() < 4e4
    assert 3.6e5 < ages.max() <= 4e5
    assert [each.progress for each in aged.applications] == approx(ages.tolist())
    assert [each.phases for each in aged.applications] == [each.phases for each in plain.applications]
    assert aged.window.end - aged.window.begin == approx(plain.window.end, rel=1e-12)


@pytest.mark.timing
def test_generation_is_fast() -> None:
    generate("synthetic")
    began = time.perf_counter()
    generate("synthetic", seed=1, pressure=1.1)
    small = time.perf_counter() - began
    began = time.perf_counter()
    generate("synthetic", seed=1, applications=6000, small=2000)
    large = time.perf_counter() - began
    # Promised: 0.05 s and 3 s; twice that leaves room for a busy machine.
    assert small < 0.1
    assert large < 6
