"""P1's examples, phase by phase, and the closed forms of what they prove."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pytest import approx

from penstock.model import Application, Scenario
from penstock.workloads import examples, generate, ratios


def phases(application: Application) -> list[dict[str, Any]]:
    return [phase.model_dump() for phase in application.phases]


def names(scenario: Scenario) -> list[str]:
    return [application.name for application in scenario.applications]


def test_example_1() -> None:
    scenario = generate("example-1", m=4, T=100)
    assert (scenario.window.begin, scenario.window.end) == (100, 101)
    assert names(scenario) == ["a1", "a2", "a3", "a4"]
    assert [each.release for each in scenario.applications] == [0, 0, 0, 100]
    assert all(phases(each) == [{"write": 1}] for each in scenario.applications)


def test_example_1_fresh() -> None:
    scenario = generate("example-1", fresh=True)
    assert scenario.window.end == 3
    assert len(scenario.applications) == 10
    assert phases(scenario.applications[2]) == [{"write": 0.25}, {"compute": 3}]
    assert phases(scenario.applications[3]) == [{"compute": 1}, {"write": 0.25}, {"compute": 3}]
    assert phases(scenario.applications[8]) == [{"compute": 2}, {"write": 0.25}, {"compute": 3}]
    assert phases(scenario.applications[9]) == [{"write": 1}, {"compute": 3}]


def test_example_2_labels() -> None:
    scenario = examples.two_categories(6, 0.2, [1, 3, 4])
    useful = [{"write": 1 / 3}, {"compute": 1}]
    useless = [{"write": 1 / 3}, {"compute": 0.1}, {"write": 1}]
    expected = [useful, useless, useful, useless, useless, useful]
    assert [phases(each) for each in scenario.applications] == expected


@pytest.mark.parametrize(
    ("transferred", "places"),
    [
        ([0.1] * 4, [0, 1]),
        ([0.0, 0.1, 0.0, 0.1], [1, 3]),
        ([0.1, 0.1 + 1e-14, 0.1, 0.1], [0, 1]),
        ([0.5, 0.5, 0.9, 0.0], [0, 1]),
        ([0.5, 0.1, 0.9, 0.0], [0, 2]),
    ],
)
def test_example_2_keeps_the_half_that_was_served_first(transferred: list[float], places: list[int]) -> None:
    assert examples.served_first(transferred, 0.5) == places


def test_example_3_lists_the_starved_application_first() -> None:
    scenario = generate("example-3", m=3, epsilon=0.3)
    assert (scenario.window.begin, scenario.window.end) == (1, 2)
    assert names(scenario) == ["a3", "a1", "a2"]
    assert [each.progress for each in scenario.applications] == [0, None, None]
    assert phases(scenario.applications[0]) == [{"write": 1}]
    assert phases(scenario.applications[1]) == [{"write": approx(0.1)}, {"compute": 1}]


def test_example_4() -> None:
    scenario = generate("example-4", m=4, T=50)
    assert scenario.window.end == 50
    loop = {"repeat": "forever", "phases": ({"write": 0.25}, {"compute": 0.75})}
    assert [phases(each) for each in scenario.applications] == [[loop]] * 4


def test_example_5_orders() -> None:
    best, adversary = generate("example-5", m=3, order="best"), generate("example-5", m=3)
    assert best.window.end == 11
    assert names(best) == ["a1", "a2", "a3"]
    assert names(adversary) == ["a3", "a2", "a1"]
    assert phases(best.applications[1]) == [{"write": 1}, {"compute": 3}, {"write": 2}, {"compute": 9}]


def test_example_6() -> None:
    scenario = generate("example-6", m=12)
    assert (scenario.window.begin, scenario.window.end) == (12, 50)
    epsilon = 0.99 / 12
    loop = {"repeat": "forever", "phases": ({"write": 1 / 12}, {"compute": epsilon / 12**3})}
    assert phases(scenario.applications[0]) == [loop]
    assert len(scenario.applications) == 12
    assert all(phases(each) == [{"write": 1 + epsilon}, {"compute": 144}] for each in scenario.applications[1:])


def test_closed_forms_of_the_paper() -> None:
    assert ratios.example_1(10, T=1e9).ratio == approx(10)
    assert ratios.example_1_fresh(10).strategy == 0.25
    assert ratios.example_2_min_yield(10).ratio == math.inf
    assert ratios.example_2_efficiency(10, 0.2).ratio == approx(2.5)
    assert ratios.example_2_utilization(10, 0.2).ratio == approx(10)
    assert ratios.example_3(10, 1e-9).ratio == approx(10)
    assert ratios.example_4(10, 1e9).ratio == approx(2 - 0.2 + 0.01)
    assert ratios.example_5(4).ratio == approx(12 / 9)
    assert ratios.example_6(20, 0.04).alternative == approx((162 - 19 * 1.04) / 162)


@pytest.mark.parametrize("size", [3, 4, 10, 30])
def test_example_1_fresh_exceeds_what_is_proved(size: int) -> None:
    bound = ratios.example_1_fresh(size**2 + 1)
    assert bound.ratio > (size - 2) * (size + 1) / size > bound.entry


@pytest.mark.parametrize("m", [4, 10, 50])
def test_example_2_exceeds_a_quarter_of_m(m: int) -> None:
    bound = ratios.example_2_efficiency(m, 1 / m)
    assert bound.ratio > bound.entry


@pytest.mark.parametrize("m", [11, 16, 24])
def test_example_6_exceeds_what_is_proved(m: int) -> None:
    bound = ratios.example_6(m)
    assert bound.ratio >= (m * m - 6 * m) / (2 * (m + 2)) > bound.entry


@pytest.mark.parametrize(("formula", "limit"), [(ratios.example_4, 2.0), (ratios.example_5, 1.5)])
def test_ratios_rise_to_their_limit(formula: Any, limit: float) -> None:
    values = [formula(m, 1e9).ratio if formula is ratios.example_4 else formula(m).ratio for m in (2, 4, 8, 1000)]
    assert values == sorted(values)
    assert values[-1] == approx(limit, rel=3e-3)
    assert formula(7).entry == limit


def test_table_2_has_every_strategy_and_metric() -> None:
    assert len(ratios.TABLE_2) == 8
    for row in ratios.TABLE_2.values():
        assert {metric: formula(12).metric for metric, formula in row.items()} == {
            "min_yield": "min_yield", "efficiency": "efficiency", "utilization": "utilization",
        }  # fmt: skip
