"""One metric of a campaign: labels in words with units, and nothing written over anything else."""

from __future__ import annotations

from itertools import combinations

from penstock.campaign import Entry
from penstock.campaign.statistics import Interval
from penstock.report.campaign.plot import campaign_figure, metric_label

PLANS = ["fair-share", "fcfs", "lookahead-greedy-yield"]


def entries(metric: str, workloads: int) -> list[Entry]:
    mean, spread = Interval(0.9, 0.85, 0.95), {0.05: 0.8, 0.5: 0.9, 0.95: 1.0}
    return [
        Entry(metric, {"workload": f"w{number}"}, plan, PLANS[0], 9, 0, 0, mean, spread, None, None)
        for number in range(workloads)
        for plan in PLANS
    ]


def test_rows_of_several_workloads_keep_clear_of_one_another():
    figure = campaign_figure(entries("mean_pack_max_stretch", 3))
    figure.draw_without_rendering()
    labels = [axes.xaxis.label for axes in figure.axes]
    assert {label.get_text() for label in labels} == {"mean pack max stretch"}
    extents = [label.get_window_extent() for label in labels]
    assert not any(one.overlaps(other) for one, other in combinations(extents, 2))
    frame = figure.bbox
    assert all(frame.x0 <= each.x0 and each.x1 <= frame.x1 for each in extents)
    assert "95 % interval" in figure.get_supxlabel()


def test_units_are_told():
    assert campaign_figure(entries("makespan", 1)).axes[0].get_xlabel() == "makespan (s)"
    assert (metric_label("size"), metric_label("distance_to_bound")) == ("size (bytes)", "distance to bound")
