from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from penstock.errors import InvalidOption
from penstock.metrics.comparison import Comparison
from penstock.metrics.workloads import Workloads
from penstock.policies.sharing import NAMES
from penstock.report.comparison.table import comparison_table, meanings_table, run_table, same_words
from penstock.report.comparison.workloads import workloads_table
from penstock.report.parts.breakable import Breakable
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.json_text import as_json
from penstock.report.parts.policy_words import MEANINGS
from report.samples import POLICIES, eight_big, run


def text(table, width=100):
    file = io.StringIO()
    Console(width=width, file=file).print(table)
    return file.getvalue()


def test_a_windowed_comparison_shows_yields_distance_and_bound():
    shown = text(comparison_table([run("fcfs", (0.5, 0.9)), run("greedy-yield", (0.76, 0.9))], "mine.yaml"))
    assert "mine.yaml" in shown
    assert "0.5000" in shown and "0.7600" in shown
    assert "20.0 %  █" in shown
    assert "1.23 ms" not in shown and "events" not in shown
    words = " ".join(shown.split())
    assert "0.9700" in words and "0.9500" in words and "I/O pressure 1.1" in words
    assert "makespan" not in shown and "stretch" not in shown
    assert "node-h" in shown and "0.0167" in shown and "worst" in shown


def test_how_much_work_it_was_is_a_detail():
    runs = [run("fcfs", (0.5, 0.9)), run("greedy-yield", (0.76, 0.9))]
    shown = text(comparison_table(runs, "mine.yaml", details=True))
    assert "1.23 ms" in shown and "events" in shown


def test_shares_of_the_whole_run_are_shown_only_where_everybody_is_there_throughout():
    shown = text(comparison_table([run("fcfs"), run("greedy-yield", closed=False)], "mine.yaml"))
    assert "effi-" not in shown and "utili-" not in shown
    assert "effi-" in text(comparison_table([run("fcfs"), run("greedy-yield")], "mine.yaml"))


def test_jobs_that_were_cut_off_are_counted():
    cut = run()
    cut = replace(cut, applications=(replace(cut.applications[0], cut=True), cut.applications[1]))
    assert "1 cut off by walltime" in " ".join(text(run_table(cut)).split())


def test_a_run_to_completion_shows_makespan_stretch_and_its_bound():
    shown = text(comparison_table([run("fcfs", finished=True, windowed=False, makespan=9000.0)], "mine"))
    assert "makespan" in shown and "2.500 h" in shown
    assert "stretch" in shown and "1.2500" in shown
    assert "below" in shown and "0.9500" in shown and "0.9700" not in shown


def test_the_best_of_a_column_stands_out_and_equals_do_not():
    table = comparison_table([run("fcfs", (0.5, 0.9)), run("greedy-yield", (0.76, 0.9))], "mine")
    cells = {column.heading: [cell.style for cell in column.cells] for column in table.columns}
    assert cells["min\nyield"] == ["", "bold green"]
    assert cells["below\nbound"] == ["", "bold green"]
    same = comparison_table([run("a"), run("b")], "mine")
    assert all(cell.style != "bold green" for column in same.columns for cell in column.cells)


def test_the_bar_is_as_long_as_the_distance():
    table = comparison_table([run("a", (0.95, 1.0)), run("b", (0.475, 1.0)), run("c", (0.0001, 1.0))], "mine")
    (bars,) = [[cell.plain for cell in column.cells] for column in table.columns if column.heading == ""]
    assert bars == ["", "██▌", "█████"]


def test_eight_policies_fit_a_narrow_terminal_whole():
    shown = text(comparison_table(eight_big(timeline=False), "big.yaml"), width=80)
    assert all(name in shown for name in POLICIES)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_names_are_never_broken_and_columns_go_instead(width):
    longest = "hierarchical-round-robin"
    runs = [run(longest, finished=True, windowed=False, makespan=9000.0), run("fcfs", finished=True, windowed=False)]
    shown = text(comparison_table(runs, "mine.yaml", details=True), width=width)
    assert longest in shown and "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert ("stretch" in shown) == (width > 80)


def test_a_long_list_of_applications_is_cut_to_the_lowest_yields():
    many = run("fcfs", tuple(0.2 + 0.001 * i for i in range(500)), tuple(f"job{i}" for i in range(500)))
    shown = text(run_table(many, most=3))
    assert "job0 " in shown and "job2 " in shown and "job3 " not in shown


def test_what_policies_do_is_said_in_a_line_and_who_did_the_same():
    shown = text(meanings_table([run("fcfs"), run("mine")], {"fcfs": ["list-fifo"]}), width=80)
    assert shown.split() == ["fcfs", "first", "come,", "first", "served", "(same:", "list-fifo)"]
    assert same_words(["a", "b", "c", "d"]) == " (same: a, b, 2 more)"
    own = text(meanings_table([run("mine", rule="Whoever asks for least goes first.")], {}), width=80)
    assert own.split() == ["mine", "Whoever", "asks", "for", "least", "goes", "first."]


def test_little_that_was_moved_in_a_long_time_has_a_unit_all_the_same():
    moved = run("fcfs", rate=10.0)  # less than a kilobyte a second, on average
    slow = tuple(replace(each, transferred=2400.0) for each in moved.applications)
    assert "kB" not in text(run_table(replace(moved, end=1e5, applications=slow)))
    assert "2.4 kB" in text(run_table(replace(moved, end=1e5, applications=slow, capacity=1e10)))


def test_workloads_of_one_name_are_told_apart_by_their_folders():
    found = Workloads({f"{folder}/jobs.yaml": Comparison([run("fcfs"), run("set-10")]) for folder in "ab"})
    head = text(workloads_table(found, found.rows()), width=80)
    assert "a/jobs" in head and "b/jobs" in head


def test_every_meaning_fits_beside_its_name():
    assert set(MEANINGS) <= set(NAMES)
    assert max(map(len, MEANINGS.values())) <= 80 - 2 - max(map(len, NAMES))


def test_names_are_not_markup():
    assert "[red]x[/red]" in text(comparison_table([run("[red]x[/red]")], "[bold]s"))
    assert "[bold]a" in text(run_table(run(names=("[bold]a", "b"))))


def test_a_run_lists_its_applications():
    shown = text(run_table(run(finished=True)))
    assert "application" in shown and "1.1111" in shown and "95 s" in shown
    unfinished = text(run_table(run()))
    assert "completion" not in unfinished
    table = run_table(run())
    assert [cell.style for cell in table.columns[1].cells] == ["bold red", ""]


def test_a_table_of_nothing_is_refused():
    with pytest.raises(InvalidOption):
        comparison_table([], "mine")


def test_json_follows_the_contract():
    plain = json.loads(as_json({"scenario": "é", "runs": [run()]}))
    assert plain["scenario"] == "é"
    assert plain["runs"][0]["sharing"] == "fcfs"
    assert plain["runs"][0]["makespan"] is None
    assert plain["runs"][0]["applications"][0]["yield"] == 0.8
    assert "timeline" not in plain["runs"][0]


def test_json_takes_numpy_and_lone_results():
    assert json.loads(as_json({"a": np.array([1.0, np.nan]), "b": np.int64(3), "c": np.float64(0.5)})) == {
        "a": [1.0, None],
        "b": 3,
        "c": 0.5,
    }
    assert json.loads(as_json(run(max_stretch=float("inf"))))["max_stretch"] is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_never_has_a_number_that_json_lacks(value):
    def refuse(constant):
        raise AssertionError(constant)

    json.loads(as_json(value), parse_constant=refuse)


def test_a_column_in_which_nobody_has_a_value_is_not_shown():
    columns = [Column("job", cells(["a", "b"])), Column("cap", cells(["–", ""])), Column("read", cells(["–", "1 GB"]))]
    shown = text(FittingTable("jobs", columns))
    assert "cap" not in shown and "read" in shown


def test_a_long_name_is_broken_between_its_words():
    columns = [
        Column("job", cells(["a-rather-long-name_of.a/job"]), right=False, folds=True),
        Column("rate", cells(["20 MB/s"])),
    ]
    lines = [line[:20].strip() for line in text(FittingTable("", columns), 30).splitlines()[2:]]
    assert lines == ["a-rather-long-name_", "of.a/job"]


@given(st.text("ab-_. %,", max_size=30), st.integers(1, 40))
def test_nothing_of_a_name_is_lost_when_it_is_broken(name, width):
    broken = Breakable(Text(name)).within(width).plain
    assert broken.replace("\n", "").replace(" ", "") == name.replace(" ", "")
