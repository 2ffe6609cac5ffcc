"""P1 figures 8 to 13 and 20 to 22, with two schedules, two machines and two windows."""

from __future__ import annotations

import pytest
from pytest import approx

from penstock.reproduce import ExperimentSettings, find, p1_apex, p1_windows
from penstock.reproduce.p1_synthetic import STRATEGIES
from penstock.workloads.apex import apex_schedule
from slices import sliced

WORKLOADS = {"P1.fig9": ["NERSC"], "P1.fig10": ["TRILAB"]}
QUANTITIES = ["min_yield", "min_yield_ratio", "efficiency", "utilization", "seconds"]
TABLE = """\
workload,workflow,share_pct,wall_time_h,cores,input,output,checkpoint_size_gb,checkpoint_period
NERSC,A,60,8,8000,1 TB,2 TB,8000,1 h
NERSC,B,40,12,16000,1 TB,2 TB,16000,1 h
"""


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(p1_apex, "MACHINES", [0.0, 8.0])
    monkeypatch.setattr(p1_apex, "WINDOWS", 2)


# Both show both machines; the others show one of them, or other metrics of the same runs.
@pytest.mark.parametrize(
    "name", sliced([f"P1.fig{figure}" for figure in range(8, 14)], lambda place, _: place in (0, 3))
)
def test_figures_8_to_13(run, few, name):
    summary = run(name).summary
    workloads = WORKLOADS.get(name, ["NERSC", "TRILAB"])
    assert [key for key in summary if key.isupper()] == list(summary["midlife"]) == workloads
    for workload, part, intervals in (
        (workload, part, intervals)
        for workload in workloads
        for part, intervals in (
            (summary, summary["interval"]),
            (summary["midlife"], summary["interval"]["midlife"]),
        )
    ):
        found = part[workload]
        assert sum(found["windows"].values()) == 8
        for quantity in QUANTITIES:
            assert list(found[quantity]) == list(STRATEGIES)
            for strategy in STRATEGIES:
                assert found[quantity][strategy].keys() == found["windows"].keys()
                assert intervals[workload][quantity][strategy].keys() == found["windows"].keys()
        assert set(found["min_yield_ratio"]["fair-share"].values()) == {1.0}
        assert set(found["below_fair_share"]["fair-share"].values()) == {0.0}
        assert all(0.0 < value <= 1.0 for curve in found["efficiency"].values() for value in curve.values())
        ranges = found["by_range"]
        assert sum(ranges["windows"].values()) == 8
        assert all(0.0 <= part <= 1.0 for part in ranges["set_10_as_fcfs"].values())
        assert all(min(row.values()) > 0.0 for row in ranges["efficiency"].values())
        assert found["by_machine"]["pressure"]["M8"] > 2 * found["by_machine"]["pressure"]["Cielo"]
    assert len(summary["notes"]) == len(workloads)
    assert all("incomplete" in note for note in summary["notes"])


def test_in_full_there_are_as_many_windows_as_in_the_paper():
    fresh, midlife = find("P1.fig9").campaigns(ExperimentSettings())
    assert fresh.size == midlife.size == 100 * 20 * 10 * len(STRATEGIES)
    assert (fresh.name, midlife.name) == ("P1-apex-nersc-fresh", "P1-apex-nersc-midlife")


def test_a_full_table_needs_no_note(run, few, tmp_path):
    (tmp_path / "full.csv").write_text(TABLE)
    summary = run("P1.fig9", table=tmp_path / "full.csv", output=tmp_path / "out").summary
    assert summary["notes"] == []


def test_a_window_is_in_the_interval_around_its_middle():
    assert float(p1_apex.middle(0)) == approx(0.035)
    assert float(p1_apex.middle(24)) == approx(1.715)  # the last of P1's 25


@pytest.mark.parametrize("name", ["P1.fig20", "P1.fig21", "P1.fig22"])
def test_figures_20_to_22(run, monkeypatch, name):
    monkeypatch.setattr(p1_windows, "MACHINES", [0.0, 8.0])
    drawn = [apex_schedule("TRILAB", seed, 8.0) for seed in (1, 2)]
    scenarios = [each.scenario(rank + 1) for each in drawn for rank in range(len(each.windows))]
    expected: dict[str, list[float]] = {
        "hours": [each.window.end / 3600 for each in scenarios],
        "applications": [len(each.applications) for each in scenarios],
        "usage": [sum(job.nodes for job in each.applications) / each.platform.nodes for each in scenarios],
    }
    summary = run(name).summary
    (quantity,) = expected.keys() & summary.keys()
    assert summary[quantity]["TRILAB"]["M8"] == approx(sum(expected[quantity]) / len(scenarios))
    assert list(summary[quantity]["NERSC"]) == ["Cielo", "M8"]
    assert all(number > 0.0 for row in summary[quantity].values() for number in row.values())
