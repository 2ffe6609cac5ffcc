"""Running an experiment: only what is missing, whatever fails, in whatever order."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.figure import Figure

from penstock.campaign import Campaign
from penstock.errors import InvalidOption
from penstock.reproduce import Experiment, ExperimentSettings, reproduce
from penstock.reproduce.means import by_setting


def chains(settings: ExperimentSettings, **changes: object) -> list[Campaign]:
    document = {
        "version": 1,
        "name": "chains",
        "workloads": [{"generate": "chains", "set": {"m": [2, 3]}, "seeds": settings.seeds(20)}],
        "plans": [{"sharing": ["fair-share", "list-fifo"], "bounds": False}],
        "metrics": ["makespan"],
    }
    return [Campaign.from_document(document | changes)]


TRIAL = Experiment(
    id="P0.fig1",
    title="a trial",
    campaigns=chains,
    summarise=lambda results: by_setting(results[0], ["makespan"], "m"),
    draw=lambda summary: Figure(),
    levels=("policy", "m"),
)


def test_a_larger_scale_runs_only_what_is_new(tmp_path):
    seen: list[Any] = []
    small = reproduce(TRIAL, scale=0.1, output=tmp_path, workers=1)
    large = reproduce(TRIAL, scale=0.2, output=tmp_path, workers=1, progress=seen.append)
    assert (small.summary["instances"], large.summary["instances"]) == (2, 4)
    report = seen[-1]
    assert (report.runs, report.before, report.ran) == (16, 8, 8)
    again = reproduce(TRIAL, scale=0.1, output=tmp_path, workers=1)
    assert again.summary == small.summary


def test_means_and_intervals_are_those_of_the_instances(tmp_path):
    summary = reproduce(TRIAL, scale=0.2, output=tmp_path, workers=1).summary
    for plan in ("fair-share", "list-fifo"):
        for m in ("2", "3"):
            low, *_, high = summary["quantiles"]["makespan"][plan][m]
            assert low <= summary["makespan"][plan][m] <= high
            assert 0.0 < summary["interval"]["makespan"][plan][m] < high - low


def test_runs_that_fail_are_counted_and_the_rest_is_there(tmp_path):
    (tmp_path / "own.py").write_text("def broken(view, rates):\n    raise ValueError('no')\n")
    broken = Experiment(
        id="P0.fig2",
        title="a trial that fails",
        campaigns=lambda settings: chains(settings, plans=["fair-share", f"{tmp_path / 'own.py'}:broken"]),
        summarise=TRIAL.summarise,
        draw=TRIAL.draw,
    )
    made = reproduce(broken, scale=0.1, output=tmp_path / "out", workers=1)
    assert made.failed == 4
    assert made.summary["makespan"]["fair-share"]["2"] > 0.0
    assert '"2": null' in (tmp_path / "out" / "P0.fig2.json").read_text()


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), 1e6])
def test_a_scale_that_makes_no_sense_is_refused(tmp_path, scale):
    with pytest.raises(InvalidOption, match="--scale"):
        reproduce(TRIAL, scale=scale, output=tmp_path)


def test_instances_are_the_papers_times_the_scale_and_at_least_two():
    assert [ExperimentSettings(scale=scale).instances(30) for scale in (1.0, 0.5, 0.01)] == [30, 15, 2]
    assert ExperimentSettings(scale=0.1).seeds(30) == "1-3"
