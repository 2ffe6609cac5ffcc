"""P1's Table 2 by simulation: every strategy does as badly as P1 says, and the alternative schedules do as well.

Where a strategy itself produces P1's alternative schedule it is run too, so that both sides of a ratio are measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pytest import approx

from penstock.model import Scenario
from penstock.studies.share import simulate
from penstock.workloads import examples, generate, ratios

SERIAL = ["fcfs", "set-10", "greedy-yield", "greedy-com", "lookahead-greedy-yield"]
ALL = [*SERIAL, "fair-share", "periodic-greedy-yield", "best-next-event"]
AT_MOST = 1 + 1e-6


def measure(scenario: Scenario, sharing: str, metric: str) -> float:
    return float(getattr(simulate(scenario, sharing=sharing), metric))


@pytest.mark.parametrize("m", [2, 5, 10, 40])
def test_example_1_fair_share(m: int) -> None:
    scenario, bound = generate("example-1", m=m), ratios.example_1(m)
    assert measure(scenario, "fair-share", "min_yield") == approx(bound.strategy)
    assert measure(scenario, "greedy-yield", "min_yield") == approx(bound.alternative)
    assert bound.ratio == approx(m, rel=1e-5)


@pytest.mark.parametrize("m", [10, 17, 37])
def test_example_1_fresh_fair_share(m: int) -> None:
    scenario, bound = generate("example-1", m=m, fresh=True), ratios.example_1_fresh(m)
    assert measure(scenario, "fair-share", "min_yield") == approx(bound.strategy)
    assert measure(scenario, "greedy-yield", "min_yield") > bound.strategy


@pytest.mark.parametrize("m", [4, 10, 24])
@pytest.mark.parametrize("sharing", ALL)
def test_example_2_every_strategy_is_led_astray(sharing: str, m: int) -> None:
    scenario = generate("example-2", m=m, sharing=sharing)
    efficiency, utilization = ratios.example_2_efficiency(m), ratios.example_2_utilization(m)
    assert measure(scenario, sharing, "efficiency") <= efficiency.strategy * AT_MOST
    assert measure(scenario, sharing, "utilization") <= utilization.strategy * AT_MOST


@pytest.mark.parametrize("m", [4, 10, 24])
def test_example_2_alternative(m: int) -> None:
    labelled = examples.two_categories(m, 0.01, range(m // 2, m))
    assert measure(labelled, "fcfs", "efficiency") == approx(ratios.example_2_efficiency(m).alternative)
    assert measure(labelled, "fcfs", "utilization") == approx(ratios.example_2_utilization(m).alternative)
    assert measure(labelled, "fair-share", "min_yield") == approx(ratios.example_2_min_yield(m).alternative)


@pytest.mark.parametrize("m", [4, 10, 24])
@pytest.mark.parametrize("sharing", SERIAL)
def test_example_2_serial_strategies_leave_someone_at_zero(sharing: str, m: int) -> None:
    assert measure(generate("example-2", m=m, sharing=sharing), sharing, "min_yield") == approx(0, abs=1e-9)


def test_example_2_adversary_takes_a_function() -> None:
    def backwards(view, rates):
        rates[np.argmax(view.application - 1000 * view.posted)] = view.capacity

    scenario = examples.adversary(6, 0.01, backwards)
    assert [len(each.phases) for each in scenario.applications] == [2, 2, 2, 3, 3, 3]


@pytest.mark.parametrize("m", [2, 5, 10, 40])
@pytest.mark.parametrize(
    "sharing",
    ["fcfs", "set-10", "greedy-yield", "lookahead-greedy-yield", "periodic-greedy-yield", "best-next-event"],
)
def test_example_3_serves_the_starved(sharing: str, m: int) -> None:
    assert measure(generate("example-3", m=m), sharing, "efficiency") == approx(ratios.example_3(m).strategy)


@pytest.mark.parametrize("m", [2, 5, 10, 40])
def test_example_3_alternative(m: int) -> None:
    scenario = generate("example-3", m=m)
    assert measure(scenario, "greedy-com", "efficiency") >= ratios.example_3(m).alternative - 1e-12
    assert ratios.example_3(m, 1e-9).ratio == approx(m)


@pytest.mark.parametrize("m", [4, 5, 10])
def test_example_4_periodic_greedy_yield(m: int) -> None:
    scenario, bound = generate("example-4", m=m, T=500), ratios.example_4(m, 500)
    interleaved = measure(scenario, f"periodic-greedy-yield(delta={1 / m**2!r})", "min_yield")
    assert bound.strategy * (1 - 5e-3) <= interleaved <= bound.strategy * AT_MOST
    assert measure(scenario, "fcfs", "min_yield") >= bound.alternative * (1 - 1e-9)
    assert bound.alternative / interleaved == approx(2 - 2 / m + 1 / m**2, rel=1e-2)


@pytest.mark.parametrize("m", [2, 4, 10, 40])
@pytest.mark.parametrize("sharing", ALL)
def test_example_5_any_strategy(sharing: str, m: int) -> None:
    bound = ratios.example_5(m)
    assert measure(generate("example-5", m=m), sharing, "min_yield") <= bound.strategy * AT_MOST


@pytest.mark.parametrize("m", [2, 4, 10, 40])
def test_example_5_alternative(m: int) -> None:
    best = generate("example-5", m=m, order="best")
    assert measure(best, "fcfs", "min_yield") == approx(ratios.example_5(m).alternative)


@pytest.mark.parametrize("m", [11, 12, 16])
def test_example_6_best_next_event(m: int) -> None:
    scenario, bound = generate("example-6", m=m), ratios.example_6(m)
    assert measure(scenario, "best-next-event", "min_yield") <= bound.strategy * AT_MOST
    assert measure(scenario, "fair-share", "min_yield") >= bound.alternative * (1 - 1e-9)  # P1 §5.7.3
    assert bound.ratio > m / 2 - 4


@pytest.mark.parametrize("sharing", ratios.TABLE_2)
def test_ratios_of_table_2(sharing: str) -> None:
    m = 12
    for metric, formula in ratios.TABLE_2[sharing].items():
        bound = formula(m)
        settings: dict[str, Any] = {"sharing": sharing} if bound.example == "example-2" else {}
        name = f"{sharing}(delta={1 / m**2!r})" if bound.example == "example-4" else sharing
        reached = measure(generate(bound.example, m=m, **settings), name, metric)
        ratio = math.inf if reached < 1e-9 else bound.alternative / reached
        assert ratio * AT_MOST >= bound.ratio
