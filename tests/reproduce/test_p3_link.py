"""P3 figures 1 and 9, from what was kept of a contended link and what the simulator says of it today."""

from __future__ import annotations

import pytest
from pytest import approx

from penstock.reproduce.p3_link import MEASURED, SERIAL, SIMULATED, SIMULATED_RUN, USE_CASES, kept, simulated


def test_figure_1(run):
    summary = run("P3.fig1").summary
    for name, case in USE_CASES.items():
        found = summary["degradation"][f"P3, {name}"]
        assert found == {MEASURED: case.lost, SIMULATED: approx(case.lost), SERIAL: approx(0.0, abs=1e-12)}
    measured = {each["writers"]: sum(each["rates"]) for each in kept()["unpaced"][:4]}
    for writers in (2, 4, 8):
        lost = summary["degradation"][f"link, {writers}"][MEASURED]
        assert abs(lost) < 0.02
        assert lost == approx(1 - measured[writers] / measured[1], abs=0.02)


def test_figure_9(run):
    summary = run("P3.fig9").summary
    for policy, stretches in summary["stretch"].items():
        runs = [each for each in kept()["runs"] if each["policy"] == policy]
        assert list(stretches) == [SIMULATED_RUN, *(f"run {place + 1}" for place in range(len(runs)))]
        for name, each in zip(list(stretches)[1:], runs, strict=True):
            assert stretches[name] == each["stretch"]
            for job, off in summary["difference"][policy][name].items():
                assert off == approx(each["stretch"][job] / stretches[SIMULATED_RUN][job] - 1)
    assert summary["stretch"]["list-longest-io"][SIMULATED_RUN]["a4"] > 1.7  # P3: up to 1.8


@pytest.mark.parametrize("policy", ["list-longest-io", "list-fifo"])
def test_what_the_simulator_says_is_what_it_said_when_the_link_was_measured(policy):
    found = kept()
    predicted = next(each["predicted"] for each in found["runs"] if each["policy"] == policy)
    assert simulated(policy, found["capacity"], found["payload"]) == approx(predicted, abs=1e-4)
