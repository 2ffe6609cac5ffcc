"""P1 figures 5, 6, 7 and 14 to 19, with two instances for each point."""

from __future__ import annotations

import numpy as np
import pytest
from pytest import approx

from penstock import generate
from penstock.reproduce import ExperimentSettings, find
from penstock.reproduce.p1_synthetic import METRICS, STRATEGIES
from penstock.workloads.synthetic import shapes
from slices import sliced

PRESSURES = ["0.2", "0.5", "0.8", "0.9", "1.0", "1.1"]


def test_figure_5_in_full_has_as_many_runs_as_in_the_paper():
    (campaign,) = find("P1.fig5").campaigns(ExperimentSettings())
    assert campaign.size == 9_600


def test_figure_5(run):
    summary = run("P1.fig5").summary
    for metric in METRICS:
        assert list(summary[metric]) == list(STRATEGIES)
        for strategy in STRATEGIES:
            curve = summary[metric][strategy]
            assert list(curve) == PRESSURES
            assert list(summary["interval"][metric][strategy]) == PRESSURES
            assert sorted(curve.values(), reverse=True) == list(curve.values())  # more pressure is never better
            assert 0.0 < curve["1.1"] < curve["0.2"] < 1.0
    for strategy in STRATEGIES:
        for pressure in PRESSURES:
            least, mean, used = (summary[metric][strategy][pressure] for metric in METRICS)
            assert least <= mean
            assert used < mean
    high = {strategy: summary["min_yield"][strategy]["1.1"] for strategy in STRATEGIES}
    by_yield = ("greedy-yield", "lookahead-greedy-yield", "periodic-greedy-yield", "best-next-event")
    assert min(high[strategy] for strategy in by_yield) > high["fair-share"] > max(high["fcfs"], high["greedy-com"])
    assert max(STRATEGIES, key=lambda strategy: summary["efficiency"][strategy]["1.1"]) == "greedy-com"
    assert min(STRATEGIES, key=lambda strategy: summary["efficiency"][strategy]["1.1"]) == "fcfs"


@pytest.mark.parametrize("name", ["P1.fig6", "P1.fig7"])
def test_figures_6_and_7(run, name):
    summary, whole = run(name).summary, run("P1.fig5").summary
    assert list(summary["yield"]) == ["0.5", "0.8", "1.1"]
    for pressure, strategies in summary["yield"].items():
        assert list(strategies) == list(STRATEGIES)
        for strategy, yields in strategies.items():
            assert len(yields) == len(summary["interval"]["yield"][pressure][strategy]) == 60
            # All weigh the same, and are released when the window begins: their mean yield is the efficiency.
            assert np.mean(yields) == approx(whole["efficiency"][strategy][pressure], rel=1e-9)


def test_figure_6_orders_by_iteration_and_figure_7_by_io(run):
    by_length, by_io = run("P1.fig6").summary["yield"]["1.1"], run("P1.fig7").summary["yield"]["1.1"]
    assert np.mean(by_length["fcfs"][:20]) < np.mean(by_length["fcfs"][20:40]) < np.mean(by_length["fcfs"][40:])
    assert np.mean(by_length["greedy-com"][:20]) > np.mean(by_length["greedy-com"][40:])
    fair = [np.mean(by_io["fair-share"][start : start + 20]) for start in (0, 20, 40)]
    assert fair == sorted(fair, reverse=True)


def test_shapes_are_those_of_the_scenario():
    drawn = shapes(3, 0.8, 10, 0.25, 60, None)
    scenario = generate("synthetic", seed=3, pressure=0.8, small=10, sigma=0.25, noise=0.0)
    for place, application in enumerate(scenario.applications):
        first, work, moved = application.phases.amount[:3]
        assert first == drawn.first_compute[place]
        assert work + moved == approx(drawn.iteration[place])
        assert moved == approx(drawn.iteration[place] * drawn.io_share[place])


AXES = {
    "P1.fig14": ("small", ["10", "20", "30"]),
    "P1.fig15": ("small", ["10", "20", "30"]),
    "P1.fig16": ("sigma", ["0.0", "0.25", "0.5", "0.75", "1.0"]),
    "P1.fig17": ("sigma", ["0.0", "0.25", "0.5", "0.75", "1.0"]),
    "P1.fig18": ("noise", ["0.0", "0.25", "0.5", "0.75", "1.0"]),
    "P1.fig19": ("noise", ["0.0", "0.25", "0.5", "0.75", "1.0"]),
}


# Figures 15, 17 and 19 show the same at high pressure.
@pytest.mark.parametrize("name", sliced(AXES, lambda place, _: place % 2 == 0))
def test_figures_14_to_19(run, name):
    made = run(name)
    setting, values = AXES[name]
    assert made.experiment.levels == ("policy", setting)
    for metric in METRICS:
        for strategy in STRATEGIES:
            assert list(made.summary[metric][strategy]) == values
    # The middle of every axis is a point of figure 5, from the same runs.
    pressure, middle = "1.1" if int(name[-2:]) % 2 else "0.8", values[len(values) // 2]
    whole = run("P1.fig5").summary
    for strategy in STRATEGIES:
        assert made.summary["min_yield"][strategy][middle] == whole["min_yield"][strategy][pressure]
