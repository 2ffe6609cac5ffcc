"""P3 figures 5 to 8: the Tucan workload, exactly and with two draws of noise."""

from __future__ import annotations

import pytest
from pytest import approx

from penstock import generate, simulate
from penstock.reproduce.p3_tucan import BATCHES, FIFO, NOISE, NOISY, POLICIES

KEYS = [f"{each:g}" for each in BATCHES]
NAMES = ["a1", "a2", "a3", "a4", "a5"]


def test_figure_5_is_the_largest_of_figure_7(run):
    whole, each = run("P3.fig5").summary, run("P3.fig7").summary
    assert list(whole["max_stretch"]) == list(each["stretch"]) == list(POLICIES)
    for policy in POLICIES:
        assert list(whole["max_stretch"][policy]) == list(whole["interval"][NOISY]["max_stretch"][policy]) == KEYS
        assert list(each["stretch"][policy]) == NAMES
        for key in KEYS:
            largest = max(each["stretch"][policy][name][key] for name in NAMES)
            assert whole["max_stretch"][policy][key] == approx(largest)


def test_numbers_are_those_of_single_runs(run):
    stretch = run("P3.fig5").summary
    scenario = generate("tucan", batches=0.5)
    for policy in (FIFO, "list-stretch"):
        assert stretch["max_stretch"][policy]["0.5"] == simulate(scenario, sharing=policy).max_stretch
        noisy = [scenario.model_copy(update={"seed": seed, "noise": NOISE}) for seed in (1, 2)]
        mean = sum(simulate(each, sharing=policy).max_stretch for each in noisy) / 2
        assert stretch[NOISY]["max_stretch"][policy]["0.5"] == approx(mean)


def test_what_p3_says_of_the_policies(run):
    stretch, ratio = run("P3.fig5").summary, run("P3.fig6").summary
    for place, times in ((stretch, ratio), (stretch[NOISY], ratio[NOISY])):
        worst = sorted(POLICIES, key=lambda policy: place["max_stretch"][policy]["64"])[-2:]
        assert set(worst) == {"list-longest-io", "list-shortest-remaining"}
        for better in ("list-stretch", "list-bandwidth", "list-most-remaining"):
            assert place["max_stretch"][better]["64"] < place["max_stretch"][FIFO]["64"]
            assert times["makespan_ratio"][better]["64"] < 1.0
    assert stretch["max_stretch"]["list-longest-io"]["64"] == approx(1.83, abs=0.01)
    for policy in POLICIES:  # steady after some iterations
        assert stretch["max_stretch"][policy]["32"] == approx(stretch["max_stretch"][policy]["64"], rel=1e-3)


@pytest.mark.parametrize(("name", "quantity"), [("P3.fig6", "makespan_ratio"), ("P3.fig8", "completion_ratio")])
def test_fifo_is_the_measure_of_figures_6_and_8(run, name, quantity):
    summary = run(name).summary
    for place in (summary, summary[NOISY]):
        reference = place[quantity][FIFO]
        curves = [reference] if name == "P3.fig6" else [reference[each] for each in NAMES]
        assert curves == [dict.fromkeys(KEYS, 1.0)] * len(curves)


def test_who_ends_last_in_figure_8_makes_the_makespan_of_figure_6(run):
    """Under FIFO application 4 ends last; so it does under longest I/O, and the two ratios are one."""
    each, whole = run("P3.fig8").summary, run("P3.fig6").summary
    assert each["makespan_ratio"] == whole["makespan_ratio"]
    assert each["completion_ratio"]["list-longest-io"]["a4"]["64"] == approx(
        whole["makespan_ratio"]["list-longest-io"]["64"], rel=1e-4
    )
