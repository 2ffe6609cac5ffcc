"""Recommendations in words, as a table, and as a picture."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from penstock.campaign.recommendation import judged
from penstock.policies.sharing import find
from penstock.report.comparison.page import write_report
from penstock.report.plots import comparison_figure
from penstock.report.recommendation.plot import recommendation_figure
from penstock.report.recommendation.table import number, recommendation_lines, recommendation_table, standings
from report.samples import run

NAMES = ("fair-share", "fcfs", "greedy-yield", "greedy-com", "set-10", "list-fifo", "list-johnson")


def recommendation(means, *, spread=0.01, goal="min-yield", names=NAMES, assumed=False, second=None):
    """Forty variants with these means; on the second half with others, if these are given."""
    draw = np.random.default_rng(1)
    values = draw.normal(means, spread, size=(40, len(means)))
    if second is not None:
        values[20:] += np.subtract(second, means)
    policies = [find(name) for name in names[: len(means)]]
    return judged(values, policies, names[0], goal, 0.25, assumed, range(3, 43))


def text(table, width=120):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(table)
    return console.export_text()


def test_a_winner_is_recommended_with_its_lead_and_its_gain():
    first, method = recommendation_lines(recommendation((0.7, 0.8, 0.9)))
    assert first.startswith("Recommended for min-yield: greedy-yield, +0.09")
    assert " over fcfs, the next best, and +0.19" in first and first.endswith(" over fair-share, on 20 variants.")
    assert method == (
        "Chosen on 20 variants of the scenario and measured on 20 others, the same for every policy: each phase times "
        "1 ± 0.25 at random, seeds 3 to 22 and 23 to 42."
    )


def test_the_next_best_may_be_what_is_in_use_and_what_is_in_use_the_best():
    assert recommendation_lines(recommendation((0.8, 0.7, 0.9)))[0].endswith(
        ") over fair-share, the next best, on 20 variants."
    )
    best = recommendation_lines(recommendation((0.9, 0.7, 0.8)))[0]
    assert best.startswith("Recommended for min-yield: fair-share, +") and best.count("over") == 1


def test_less_is_better_for_stretch():
    first = recommendation_lines(recommendation((1.5, 1.2, 1.9), goal="stretch"))[0]
    assert first.startswith("Recommended for stretch: fcfs, -0.") and " against fair-share, the next best" in first


def test_ties_are_named_up_to_a_point_and_the_simplest_of_them_is_said():
    first, more, _ = recommendation_lines(recommendation((0.8,) * 2))
    assert first.startswith("No significant difference in min yield between ")
    assert first.endswith(" on 20 variants; fair-share is the simplest, as nothing need be changed.")
    assert more == "More variants may tell them apart: --variants 160."
    many = recommendation_lines(recommendation((0.7, *[0.9] * 6), spread=0.0001))[0]
    assert " and 2 more on 20 variants; fcfs is the simplest with +0.2" in many


def test_halves_that_disagree_are_no_tie():
    first = recommendation_lines(recommendation((0.8, 0.9), second=(0.9, 0.8)))[0]
    assert first == (
        "No clear winner in min yield: fcfs was best on the variants it was chosen on, fair-share on the others; "
        "fair-share is the simplest, as nothing need be changed."
    )


def test_an_assumed_noise_is_said():
    assert (
        "(assumed, since the scenario has none; --noise gives another)"
        in recommendation_lines(recommendation((0.8, 0.9), assumed=True))[1]
    )


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.0000"), (0.01234, "0.0123"), (3.21e-6, "3.2e-06"), (-2, "-2.0000")]
)
def test_small_differences_are_not_called_nothing(value, shown):
    assert number(value) == shown


def test_the_table_has_every_policy_best_first():
    shown = text(recommendation_table(recommendation((0.7, 0.8, 0.9, 0.9), spread=0.0)))
    lines = [line.split() for line in shown.splitlines() if line.split() and line.split()[0] in NAMES]
    assert [line[0] for line in lines] == ["greedy-yield", "greedy-com", "fcfs", "fair-share"]
    assert [line[-1] for line in lines] == ["chosen", "tie", "worse", "worse"]
    assert "min yield, 20 variants each" in shown and "-0.2000" in shown
    assert max(map(len, text(recommendation_table(recommendation((0.7, 0.8))), 80).splitlines())) <= 80


def test_of_many_policies_the_best_are_shown_and_those_that_are_named():
    choice = recommendation((0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.85))
    whole, cut = text(recommendation_table(choice)), text(recommendation_table(choice, most=2))
    assert len(whole.splitlines()) - len(cut.splitlines()) == len(choice.policies) - len(standings(choice, 2)) == 4
    for name in (choice.recommended, choice.chosen, choice.against):
        assert name in cut


def test_the_plot_has_a_row_for_each_policy_and_the_line_of_the_one_chosen():
    found = recommendation((0.7, 0.8, 0.9))
    axes: Any = recommendation_figure(found).axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["greedy-yield", "fcfs", "fair-share"]
    assert "greedy-yield (★)" in axes.get_title(loc="left")
    means = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
    assert means == [each.difference.mean for each in found.policies]
    runs = [run(name) for name in NAMES[:3]]
    assert [len(comparison_figure(runs, each).axes) for each in (None, found)] == [2, 3]


def test_the_page_says_it_first_and_explains_its_words(tmp_path):
    found = recommendation((0.7, 0.8, 0.9))
    runs = [run(name) for name in NAMES[:3]]
    write_report(tmp_path / "r.html", "mine", runs, found)
    page = (tmp_path / "r.html").read_text()
    assert page.index("Recommended for min-yield") < page.index("All policies gave the same min yield")
    assert page.count("<tr>") > 8 and ">variant</dt>" in page
    write_report(tmp_path / "r.html", "mine", runs)
    assert "variants" not in (tmp_path / "r.html").read_text()


def test_policies_with_the_same_outcome_are_shown_once():
    values = np.random.default_rng(1).normal((0.8, 0.7, 0.6), 0.01, size=(40, 3))[:, [0, 1, 1, 2]]
    choice = judged(values, [find(name) for name in NAMES[:4]], "greedy-yield", "min-yield", 0.25, False, range(40))
    assert [each.sharing for each in standings(choice, 10)] == ["fair-share", "greedy-yield", "greedy-com"]
    assert len(standings(choice, None)) == 4
