from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.errors import InvalidOption
from penstock.report.comparison.summary import (
    EFFICIENCY,
    MAX_STRETCH,
    MIN_YIELD,
    best,
    bound_words,
    summary_lines,
    winners,
)
from report.samples import run


def test_the_best_run_is_named_with_its_distance_to_the_bound():
    lines = summary_lines([run("fcfs", (0.5, 0.9)), run("greedy-yield", (0.76, 0.9))])
    assert lines[0] == (
        "Best min yield here: greedy-yield with 0.7600, 20.0 % below the bound of 0.9500 that no policy can beat; "
        "the lowest was fcfs with 0.5000, of a."
    )
    assert lines[1] == "Fewest node-hours lost, too: greedy-yield with 0.009444 node-hours (17.0 %)."
    assert "One scenario is one sample" in lines[-1]


def test_the_price_of_fairness_is_said_when_another_policy_loses_less():
    lines = summary_lines([run("fcfs", (0.5, 1.0)), run("greedy-yield", (0.7, 0.7))])
    assert lines[1] == (
        "Fewest node-hours lost: fcfs with 0.01389 node-hours (25.0 %); choosing greedy-yield for its min yield costs "
        "0.002778 more."
    )


def test_reaching_the_bound_is_said_in_words():
    assert "as high as any policy could (0.9500)" in summary_lines([run("a", (0.95, 0.99)), run("b", (0.5, 0.6))])[0]


def test_ties_are_all_named_and_a_tie_of_all_is_called_one():
    tied = [run("a", (0.8, 0.9)), run("b", (0.8, 0.9)), run("c", (0.4, 0.9))]
    assert summary_lines(tied)[0].startswith("Best min yield here: a and b with 0.8000")
    assert summary_lines(tied[:2])[0].startswith("All policies gave the same min yield: 0.8000")
    assert winners(tied[:2], MIN_YIELD) == set()


def test_a_single_run_and_a_run_to_completion_have_their_own_words():
    assert summary_lines([run("fcfs")])[0].startswith("fcfs gave a min yield of 0.8000, 15.8 % below")
    lines = summary_lines(
        [
            run("fcfs", finished=True, windowed=False, makespan=90.0),
            run("set-10", finished=True, windowed=False, makespan=80.0),
        ]
    )
    assert "First to finish everything: set-10." in lines
    assert "First to finish" not in " ".join(summary_lines([run("fcfs"), run("set-10")]))


def test_best_looks_at_the_good_end_of_each_measure():
    runs = [run("a", (0.5, 0.9), finished=True), run("b", (0.8, 0.8), finished=True), run("c", (0.8, 0.7))]
    assert best(runs, MIN_YIELD) == [1]
    assert best(runs, EFFICIENCY) == [1]
    assert best(runs, MAX_STRETCH) == [1]
    assert best([run("c")], MAX_STRETCH) == []


def test_bounds_and_pressure_in_words():
    words = bound_words([run()])
    assert "0.9700 (the bytes that the window can carry)" in words
    assert "0.9500 (each operation between its earliest start and its deadline)" in words
    assert "I/O pressure 1.1: more I/O than the storage can carry" in words
    assert "could carry it all" in bound_words([run(pressure=0.7)])
    assert bound_words([run(windowed=False)]) == (
        "No policy can beat a min yield of 0.9500 (each operation between its earliest start and its deadline)."
    )


def test_nothing_to_report_is_refused():
    with pytest.raises(InvalidOption, match="at least one"):
        summary_lines([])


def test_on_a_whole_machine_the_bound_is_to_be_alone():
    words = bound_words([replace(run("fcfs", (0.5, 0.9)), resources=())])
    assert "(every application as if it had the machine to itself)" in words
