"""P3 figures 10 to 15, with two workloads for each I/O load."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pytest import approx

from penstock import generate, pack
from penstock.campaign import read_results
from penstock.reproduce import ExperimentSettings, find, p3_packs
from penstock.reproduce.p3_packs import ALPHAS, BY_ALPHA, FIRST_FIT, ONE, ONE_LONGEST, PARTS, PLANS

QUANTITIES = {
    "P3.fig10": "makespan_ratio",
    "P3.fig11": "stretch_ratio",
    "P3.fig12": "packs_ratio",
    "P3.fig13": "measured_over_ideal",
}


FEW = [2.5]  # of the values between, of which there are 27


@pytest.fixture(autouse=True)
def few(request, monkeypatch):
    if "run" in request.fixturenames:
        monkeypatch.setattr(p3_packs, "BETWEEN", FEW)


def test_in_full_there_are_as_many_workloads_as_in_the_paper():
    campaign, between = find("P3.fig10").campaigns(ExperimentSettings())
    assert campaign.size == len(ALPHAS) * 10 * len(PLANS)
    seeds = [seed for each in (campaign, between) for workload in each.workloads for seed in workload.seeds]
    assert len(set(seeds)) == len(seeds) == 39 * 10
    assert sorted([*ALPHAS, *p3_packs.BETWEEN]) == [each / 4 for each in range(2, 41)]


def test_quarters_count_all_workloads(run):
    summary = run("P3.fig10").summary
    place, (alpha,) = len(ALPHAS), FEW
    ratios = []
    for seed in (1000 * place + 1, 1000 * place + 2):
        scenario = generate("packs", seed=seed, alpha=alpha)
        ratios.append(pack(scenario, 1.0).makespan / pack(scenario, "inf").makespan)
    first = 2 * len(ALPHAS) * summary["overall"]["makespan_ratio"][ONE]
    expected = (first + sum(ratios)) / (2 * len(ALPHAS) + 2)
    assert summary["overall_in_quarters"]["makespan_ratio"][ONE] == approx(expected)


@pytest.mark.parametrize(("name", "quantity"), QUANTITIES.items())
def test_every_strategy_by_load(run, name, quantity):
    summary = run(name).summary
    loads = list(summary["in_bin"])
    assert sum(summary["in_bin"].values()) == 2 * len(ALPHAS)
    assert loads == sorted(loads, key=float)
    weights = list(summary["in_bin"].values())
    for strategy in PLANS:
        assert list(summary[quantity][strategy]) == list(summary["interval"][quantity][strategy]) == loads
        mean = np.average(list(summary[quantity][strategy].values()), weights=weights)
        assert summary["overall"][quantity][strategy] == approx(mean)
    if name != "P3.fig13":
        assert set(summary[quantity][FIRST_FIT].values()) == {1.0}


def test_numbers_are_those_of_single_packings(run):
    summary = run("P3.fig10").summary
    ratios, policies = [], []
    for place, alpha in enumerate(ALPHAS):
        for seed in (1000 * place + 1, 1000 * place + 2):
            scenario = generate("packs", seed=seed, alpha=alpha)
            fifo = pack(scenario, 1.0).makespan
            ratios.append(fifo / pack(scenario, "inf").makespan)
            policies.append(pack(scenario, 1.0, sharing="list-most-remaining").makespan / fifo)
    assert summary["overall"]["makespan_ratio"][ONE] == approx(np.mean(ratios))
    assert summary["longest_remaining_over_fifo"] == {"makespan_ratio": approx(np.mean(policies))}


def test_what_p3_says_of_sensitivity_1(run):
    stretch, packs, ideal = (run(name).summary for name in ("P3.fig11", "P3.fig12", "P3.fig13"))
    most = list(stretch["in_bin"])[-1]
    assert stretch["stretch_ratio"][ONE][most] < 0.5
    assert stretch["max_job_stretch_ratio"][ONE][most] < 0.5
    assert packs["packs_ratio"][ONE][most] > packs["packs_ratio"][BY_ALPHA][most]
    assert min(packs["packs_ratio"][ONE].values()) >= 1.0
    # Nobody ends before what is predicted without waiting.
    assert min(min(curve.values()) for curve in ideal["measured_over_ideal"].values()) >= 1.0 - 1e-9
    assert ideal["worst"][ONE] < ideal["worst"][FIRST_FIT]


def test_figure_14_adds_up_to_the_makespans_of_figure_10(run):
    time, makespan = run("P3.fig14").summary["time"], run("P3.fig10").summary["overall"]["makespan_ratio"]
    for strategy in PLANS:
        assert list(time[strategy]) == list(PARTS)
        assert sum(time[strategy].values()) == approx(makespan[strategy])
        assert time[strategy]["exec"] == approx(time[FIRST_FIT]["exec"])  # the same work whoever packs it
    assert time[ONE]["delay"] < time[FIRST_FIT]["delay"]
    assert time[ONE_LONGEST]["idle"] > time[FIRST_FIT]["idle"]


def test_figure_15(run):
    one, several = run("P3.fig10").summary, run("P3.fig15").summary
    assert list(several["geomean_makespan"]) == list(several["interval"]["geomean_makespan"]) == ["1", "3", "5"]
    # With one node it is S = 1 of figure 10, from the same runs.
    assert several["makespan_ratio"]["1"] == one["makespan_ratio"][ONE]
    logs = [math.log(ratio) for ratio in several["makespan_ratio"]["5"].values()]
    assert min(logs) <= math.log(several["geomean_makespan"]["5"]) <= max(logs)
    assert several["geomean_makespan"]["5"] < several["geomean_makespan"]["3"] < several["geomean_makespan"]["1"]


def test_stretch_does_not_depend_on_the_number_of_io_nodes(run, shared):
    run("P3.fig15")
    stretch = read_results(shared / "runs" / "P3-packs").matrix("mean_pack_max_stretch")
    assert stretch.shape == (2 * len(ALPHAS), 6)
    assert stretch[:, :3] == approx(np.repeat(stretch[:, :1], 3, axis=1))
    assert stretch[:, 3:] == approx(np.repeat(stretch[:, 3:4], 3, axis=1))


@pytest.mark.parametrize("count", [1, 2])
def test_the_makespan_alone_is_that_of_packs_whose_jobs_do_not_wait(count):
    scenario = generate("packs", seed=5, alpha=2.0, io_nodes=count)
    apart = pack(scenario, 1e-9)  # no two jobs with I/O in one pack
    assert apart.makespan_alone == approx(apart.makespan)
    together = pack(scenario, "inf")
    assert together.makespan_alone < together.makespan
    assert pack(scenario, backfill=True).makespan_alone is None
