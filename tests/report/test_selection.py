"""What a comparison shows first: few runs, best first, nothing twice, and nothing that the words below it need."""

from __future__ import annotations

import pytest

from penstock.policies.sharing import NAMES
from penstock.policies.sharing.groups import PRACTICE, for_jobs_that_end
from penstock.report.comparison.selection import MOST, everything, selection
from report.samples import run


def many(names=NAMES):
    """Runs whose min yield falls from the first to the last, all different."""
    return [run(name, (0.9 - 0.01 * i, 0.95)) for i, name in enumerate(names)]


def shown(found):
    return [each.sharing for each in found.runs]


def test_ten_are_shown_best_first_and_the_others_counted():
    found = selection(many())
    assert len(found.runs) == MOST
    assert found.hidden == len(NAMES) - MOST
    yields = [each.min_yield for each in found.runs]
    assert yields == sorted(yields, reverse=True)


def test_what_is_in_use_today_is_there_however_bad():
    worst_last = [name for name in NAMES if name not in PRACTICE] + list(PRACTICE)
    assert shown(selection(many(worst_last)))[-2:] == list(PRACTICE)


def test_what_is_recommended_comes_first():
    found = selection(many(), recommended=NAMES[-1])
    assert shown(found)[0] == NAMES[-1]
    assert shown(found)[1] == NAMES[0]
    assert len(found.runs) == MOST


def test_the_same_result_is_shown_once():
    runs = [run("fair-share", (0.5, 0.9)), run("best-effort", (0.5 + 1e-13, 0.9)), run("fcfs", (0.4, 0.9))]
    found = selection(runs)
    assert shown(found) == ["fair-share", "fcfs"]
    assert found.same == {"fair-share": ["best-effort"]}
    assert found.hidden == 0
    assert len(everything(runs).runs) == 3


def test_orders_for_jobs_that_end_are_left_out_where_they_go_on_forever():
    runs = [run("fcfs", (0.4, 0.9)), run("list-fifo", (0.8, 0.9)), run("periodic-fifo", (0.7, 0.9))]
    assert shown(selection(runs)) == ["list-fifo", "periodic-fifo", "fcfs"]
    found = selection(runs, endless=True)
    assert shown(found) == ["fcfs"]
    assert found.hidden == 2
    assert next(name for name in NAMES if for_jobs_that_end(name)) == "list-fifo"
    assert not for_jobs_that_end("periodic-greedy-yield")


def test_the_fewest_node_hours_are_there_though_the_goal_is_another():
    runs = many()
    runs[-1] = run(NAMES[-1], (0.3, 1.0), node_hours_lost=0.0)
    assert shown(selection(runs))[-1] == NAMES[-1]


@pytest.mark.parametrize(("closed", "first"), [(True, "fair"), (False, "thrifty")])
def test_without_a_goal_it_is_the_one_that_suits_the_jobs(closed, first):
    runs = [run("fair", (0.8, 0.8), closed=closed), run("thrifty", (0.5, 1.0), node_hours_lost=0.001, closed=closed)]
    assert shown(everything(runs))[0] == first


def test_a_metric_of_the_goal_sorts_and_missing_values_come_last():
    runs = [run("none"), run("slow", finished=True, mean_stretch=3.0), run("quick", finished=True, mean_stretch=2.0)]
    assert shown(everything(runs, "mean_stretch")) == ["quick", "slow", "none"]


def test_policies_that_were_not_even_run_are_counted():
    assert selection(many(("fcfs", "set-10")), known=27).hidden == 25
