"""One metric of a campaign: labels in words with units, and nothing written over anything else."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from penstock.campaign import Entry
from penstock.campaign.statistics import Interval, PairCounts
from penstock.campaign.summary import Against
from penstock.report.campaign.plot import Looks, campaign_figure, metric_label
from penstock.report.campaign.table import campaign_lines
from penstock.report.parts.theme import OTHERS, look

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


def better_last() -> list[Entry]:
    """Three plans of which the last is best."""
    spread = {0.05: 0.1, 0.5: 0.5, 0.95: 1.0}
    means = [Interval(0.5 + 0.1 * place, 0.4, 0.9) for place in range(3)]
    return [
        Entry("min_yield", {}, plan, PLANS[0], 9, 0, 0, mean, spread, None, None)
        for plan, mean in zip(PLANS, means, strict=True)
    ]


def test_a_paper_may_want_it_otherwise():
    looks = Looks((3.5, 2.6), "Min yield", frozenset({"fcfs"}), 1)
    figure = campaign_figure(better_last(), None, looks)
    assert tuple(figure.get_size_inches()) == (3.5, 2.6)
    assert figure.get_suptitle() == "Min yield"
    rows = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert rows == PLANS[::-1]
    # A plan keeps its marker when it is sorted, and its colour when it is marked.
    assert looks.plans(better_last())["fcfs"] == look(1)
    assert looks.plans(better_last())["fair-share"] == (OTHERS, look(0)[1])
    assert list(Looks(best=-1).plans(better_last())) == PLANS


def test_a_hundred_plans_can_be_told_apart():
    assert len({look(number) for number in range(96)}) == 96


def test_a_legend_lists_what_is_highlighted_and_all_others_in_one_line():
    made = [replace(each, group={"pressure": point}) for point in (1, 2) for each in better_last()]
    (legend,) = campaign_figure(made, "pressure", Looks(highlight=frozenset({"fcfs"}))).legends
    assert [text.get_text() for text in legend.get_texts()] == ["fcfs", "others"]
    (legend,) = campaign_figure(made, "pressure").legends
    assert [text.get_text() for text in legend.get_texts()] == PLANS


def test_plans_of_the_same_verdict_are_named_together():
    mean, spread = Interval(0.9, 0.85, 0.95), {0.5: 0.9}
    worse = Against("fair-share", 9, Interval(-0.1, -0.2, -0.05), mean, PairCounts(0, 0, 9), "worse")
    names = [f"plan-{number}" for number in range(7)]
    made = [Entry("min_yield", {}, "fair-share", "fair-share", 9, 0, 0, mean, spread, None, None)]
    made += [Entry("min_yield", {}, name, "fair-share", 9, 0, 0, mean, spread, None, worse) for name in names]
    assert campaign_lines(made) == ["min_yield against fair-share: plan-0, plan-1, plan-2, plan-3 and 3 more worse."]
