"""Jobs that come and go: what `arrivals` promises of pressure, utilisation, nodes and how its window opens."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from penstock import simulate
from penstock.errors import InvalidOption
from penstock.model import COMPUTE, Application, Scenario, Trace
from penstock.workloads import generate
from penstock.workloads.apex_table import read_table
from penstock.workloads.arrivals import CLASSES, DAY
from penstock.workloads.checkpoints import MODELS


def alone(scenario: Scenario, application: Application) -> tuple[float, float, float]:
    """From when to when a job is there in the window if nobody is in its way, and how many bytes it moves there."""
    assert isinstance(application.phases, Trace) and scenario.window is not None
    platform = scenario.platform
    assert platform.node_bandwidth is not None and platform.bandwidth is not None
    cap = min(application.nodes * platform.node_bandwidth, platform.bandwidth)
    now = begin = max(application.release, scenario.window.begin)
    moved = 0.0
    for kind, amount in zip(application.phases.kind, application.phases.amount, strict=True):
        seconds = amount if kind == COMPUTE else amount / cap
        inside = max(0.0, min(now + seconds, scenario.window.end) - now)
        moved += 0.0 if kind == COMPUTE else inside * cap
        now += seconds
    return begin, min(now, scenario.window.end), moved


@pytest.mark.parametrize("pressure", [0.05, 0.6, 1.2])
@pytest.mark.parametrize("classes", [{}, {"classes": "trilab", "length": 0.1}, {"classes": "nersc", "nodes": 2000}])
def test_the_pressure_is_the_one_asked_for(pressure: float, classes: dict[str, Any]) -> None:
    scenario = generate("arrivals", seed=3, days=3, pressure=pressure, bandwidth=100e9, **classes)
    moved = sum(alone(scenario, application)[2] for application in scenario.applications)
    assert scenario.platform.bandwidth is not None
    assert moved / (scenario.platform.bandwidth * 3 * DAY) == approx(pressure, rel=1e-5)
    assert simulate(scenario, "fair-share").pressure == approx(pressure, rel=1e-5)


def test_jobs_never_have_more_nodes_than_there_are() -> None:
    scenario = generate("arrivals", seed=1, utilisation=1.5)
    spans = [alone(scenario, application)[:2] for application in scenario.applications]
    nodes = np.array([application.nodes for application in scenario.applications])
    for instant in sorted({begin for begin, _ in spans}):
        there = np.array([begin <= instant < end * (1 - 1e-12) for begin, end in spans])
        assert nodes[there].sum() <= (scenario.platform.nodes or 0)


def test_the_nodes_are_as_busy_as_asked_for_in_the_long_run() -> None:
    """Half of them over 30 weeks: within three standard errors of the mean, which are less than 6 %."""
    busy = []
    for seed in range(30):
        scenario = generate("arrivals", seed=seed, utilisation=0.5, pressure=0.1)
        spans = [(*alone(scenario, each)[:2], each.nodes) for each in scenario.applications]
        worked = sum(nodes * (end - begin) for begin, end, nodes in spans)
        busy.append(worked / (7 * DAY * (scenario.platform.nodes or 1)))
    error = np.std(busy) / np.sqrt(len(busy))
    assert np.mean(busy) == approx(0.5, abs=3 * error)
    assert error < 0.02


@pytest.mark.parametrize("classes", CLASSES)
def test_kinds_come_as_often_as_their_table_says(classes: str) -> None:
    """By node-hours for APEX: each workflow has its share of what is submitted, within the error of so many draws."""
    often = {"nodes": 2000, "days": 2} if classes == "nersc" else {"nodes": 4000, "days": 30, "length": 0.1}
    scenario = generate("arrivals", seed=4, classes=classes, utilisation=0.3, **often)
    names = Counter(each.name.rsplit("-", 1)[0] for each in scenario.applications)
    if classes == "p5":
        expected = {model.name: model.frequency / 100 for model in MODELS}
    else:
        runs = {each.name: each.share / each.node_seconds for each in read_table(classes.upper()).workflows}
        expected = {name: run / sum(runs.values()) for name, run in runs.items()}
    for name, share in expected.items():
        error = 4 * np.sqrt(share * (1 - share) / names.total())
        assert names[name] / names.total() == approx(share, abs=error), name


def test_lengths_are_of_the_wall_times() -> None:
    days = [generate("arrivals", seed=0, length=length).window for length in (1.0, 0.5)]
    assert [window.begin for window in days if window] == [3 * 32 * 3600.0, 3 * 16 * 3600.0]


def test_the_window_opens_in_the_middle_of_life() -> None:
    scenario = generate("arrivals", seed=0)
    assert scenario.window is not None
    before = [each for each in scenario.applications if each.release < scenario.window.begin]
    assert before and len(before) < len(scenario.applications)
    result = simulate(scenario, "fair-share")
    assert max(job.yield_ for job in result.applications) <= 1 + 1e-9
    assert result.unfinished < len(scenario.applications)


@pytest.mark.parametrize("suffix", [".swf", ".swf.gz"])
def test_submissions_may_come_from_a_log(tmp_path: Path, suffix: str) -> None:
    """Ever later ones there are ever later ones here; nobody waits on so large a machine."""
    lines = ["; a comment", *(f"{n} {n * n * 10.0} -1 60 4" for n in range(1, 200)), "200 -1 -1 60 4"]
    text = "\n".join(lines).encode()
    log = tmp_path / f"log{suffix}"
    log.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    scenario = generate("arrivals", seed=0, swf=str(log), nodes=200_000, pressure=0.2)
    assert scenario.window is not None
    apart = np.diff([each.release for each in scenario.applications if each.release > scenario.window.begin])
    assert apart.size > 50
    assert np.all(np.diff(apart) > 0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"utilisation": 0.01, "nodes": 2000, "days": 0.1}, "nobody runs"),
        ({"pressure": 10, "utilisation": 0.05}, "pressure cannot be reached"),
        ({"nodes": 10_000_000, "days": 400}, "accepted are 200,000"),
        ({"swf": "nowhere.swf"}, "no such file"),
    ],
)
def test_what_cannot_be_made_is_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidOption, match=sentence):
        generate("arrivals", seed=2, **settings)


def test_a_file_that_is_no_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.swf").write_text("one\ntwo\n")
    with pytest.raises(InvalidOption, match="is no SWF log"):
        generate("arrivals", swf=str(tmp_path / "x.swf"))
