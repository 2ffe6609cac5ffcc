"""P2 figures 3 to 5, with a few instances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pytest import approx

from penstock import generate, simulate
from penstock.metrics.weight import io_weight
from penstock.reproduce import ExperimentSettings, find
from penstock.reproduce.p2 import BEST_EFFORT, FIFO, HRR, ORDERS, middle


@pytest.mark.parametrize(("name", "runs"), [("P2.fig3", 7_000), ("P2.fig4", 14_000), ("P2.fig5", 6_000)])
def test_in_full_there_are_as_many_instances_as_in_the_paper(name, runs):
    (campaign,) = find(name).campaigns(ExperimentSettings())
    assert campaign.size == runs


def test_figure_3(run):
    summary = run("P2.fig3").summary
    instances = [generate("chains", seed=seed) for seed in (1, 2)]
    bins = {middle(io_weight(each)) for each in instances}
    assert set(summary["in_bin"]) == bins
    assert len(bins) == 2  # else the means below would not be single runs
    for policy in ORDERS:
        assert set(summary["ratio"][policy]) == set(summary["interval"]["ratio"][policy]) == bins
        for each in instances:
            key = middle(io_weight(each))
            makespan = simulate(each, sharing=policy).makespan
            assert summary["makespan"][policy][key] == approx(makespan)
            assert summary["ratio"][policy][key] == approx(makespan / simulate(each, sharing="fair-share").makespan)
    assert set(summary["ratio"][BEST_EFFORT].values()) == {1.0}
    for priority, ratios in summary["list_over_periodic"].items():
        for key, ratio in ratios.items():
            one, other = (summary["makespan"][f"{kind}-{priority}"][key] for kind in ("list", "periodic"))
            assert ratio == approx(one / other)


def test_figure_4_has_the_jobs_of_figure_3_with_noise(run):
    plain, noisy = run("P2.fig3").summary, run("P2.fig4").summary
    assert list(noisy["ratio"]) == ["0.2", "0.5"]
    assert noisy["in_bin"] == plain["in_bin"]
    for policies in noisy["ratio"].values():
        assert list(policies) == list(ORDERS)
        assert policies != plain["ratio"]
        assert set(policies[BEST_EFFORT].values()) == {1.0}
        for policy in ORDERS:
            assert policies[policy] == approx(plain["ratio"][policy], rel=0.2)


def test_figure_5(run):
    summary = run("P2.fig5").summary
    for place in (summary, summary["with_noise"]):
        for name, policy in (("best_effort_over_hrr", BEST_EFFORT), ("fifo_over_hrr", FIFO)):
            assert place[name]["mean"] <= place[name]["max"]
            # As many instances in each interval as there are, so that their means have the same mean.
            weighted = np.average(list(place["ratio"][policy].values()), weights=list(summary["in_bin"].values()))
            assert place[name]["mean"] == approx(weighted)
        assert set(place["ratio"][HRR].values()) == {1.0}
    # No exclusive order is shorter than hierarchical round-robin, and jobs in step hurt best effort more than FIFO.
    assert min(summary["ratio"][FIFO].values()) >= 1.0 - 1e-9
    assert summary["best_effort_over_hrr"]["mean"] > summary["fifo_over_hrr"]["mean"]
    assert summary["best_effort_over_hrr"]["mean"] > summary["with_noise"]["best_effort_over_hrr"]["mean"]


def test_hierarchical_round_robin_has_the_closed_form():
    for seed in (1, 2):
        scenario = generate("uniform", seed=seed)
        phases: list[Any] = [application.phases for application in scenario.applications]
        loops = [each[0] for each in phases]
        a, b = loops[0].phases[0].compute, loops[0].phases[1].write
        counts = [loop.repeat for loop in loops]
        n, l = max(counts), counts.count(max(counts))  # noqa: E741 - P2's letters
        q, r = divmod(sum(counts) - l, n - 1)
        expected = a + l * b + (n - 1 - r) * max(a + b, q * b) + r * max(a + b, (q + 1) * b)
        assert simulate(scenario, sharing=HRR).makespan == approx(expected)
