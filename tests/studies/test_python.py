"""What a notebook's user meets: paths for scenarios, and results that print as tables and become those of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.advise import advise
from penstock.campaign import read_results
from penstock.campaign.recommendation import recommend
from penstock.errors import InvalidOption, InvalidScenario, PenstockError
from penstock.metrics.workloads import Workloads
from penstock.model.tabular import MOST_ROWS, html_table, shown, text_table
from penstock.report.plots import comparison_figure, run_figure
from penstock.studies.buffers.sweep import compare_buffers
from penstock.studies.sizing import size_curve
from penstock.studies.targets.local_search import improve

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOUR = EXAMPLES / "four-jobs.yaml"
WRONG: Any = 3
MUCH: Any = "much"
EMPTY: Any = {}
SOME = ["fair-share", "fcfs", "greedy-com"]


@pytest.fixture(scope="module")
def comparison():
    return penstock.compare(FOUR, SOME)


def test_a_path_stands_for_its_scenario():
    ours = penstock.simulate(penstock.load(FOUR), "fcfs")
    assert penstock.simulate(FOUR, "fcfs").applications == ours.applications
    assert penstock.simulate(str(FOUR), "fcfs").applications == ours.applications
    assert penstock.size_buffer(EXAMPLES / "two-jobs.yaml").size == pytest.approx(1e11)
    assert penstock.allocate(EXAMPLES / "scratch-targets.yaml").applications
    assert penstock.pack(EXAMPLES / "pack-night.yaml").jobs
    assert penstock.reference(EXAMPLES / "two-jobs.yaml", trials=1).min_yield > 0.0


def test_advice_and_searches_take_a_path_too():
    assert recommend(EXAMPLES / "two-jobs.yaml", sharing=SOME, variants=20, workers=1).chosen in SOME
    site = EXAMPLES / "scratch-targets.yaml"
    assert improve(site, penstock.allocate(site), most_runs=1, seconds=9).runs == 1
    two = EXAMPLES / "two-jobs.yaml"
    assert compare_buffers(two, 1e9, ["fair"]).runs
    assert size_curve(two).now.size == pytest.approx(1e11)
    with pytest.raises(InvalidScenario, match=r"nowhere"):
        advise("nowhere.yaml")


def test_a_comparison_prints_as_a_table(comparison):
    head, columns, *rows = str(comparison).splitlines()
    assert head == "3 policies"
    assert columns.split()[:3] == ["sharing", "min", "yield"]
    assert [row.split()[0] for row in rows] == SOME
    assert repr(comparison) == str(comparison)
    assert max(map(len, rows)) <= 100


def test_a_comparison_is_still_a_tuple_of_results(comparison):
    first, *_ = comparison
    assert first.sharing == "fair-share"
    assert comparison == tuple(comparison)
    assert comparison.best() is comparison[0]
    assert comparison.best("node_hours_lost", lowest=True).sharing == "fcfs"


def test_results_become_tables_of_pandas_and_arrow(comparison):
    pytest.importorskip("pandas")
    frame = comparison.to_pandas()
    assert list(frame["sharing"]) == SOME
    assert list(frame["min_yield"]) == [result.min_yield for result in comparison]
    jobs = comparison[0].to_pandas()
    assert list(jobs["name"]) == [job.name for job in comparison[0].applications]
    assert comparison.to_arrow().column("sharing").to_pylist() == SOME
    assert penstock.load(FOUR).to_arrow().num_rows == 4


def many_jobs() -> penstock.Scenario:
    """More than the hundred rows from which polars guesses; only the last has a cap, and only it goes on forever."""
    phases = [{"compute": 1}, {"write": 1}]
    jobs: list[dict[str, Any]] = [{"name": f"job-{number}", "phases": phases} for number in range(150)]
    jobs[-1] |= {"bandwidth": 0.5, "phases": [{"repeat": "forever", "phases": phases}]}
    document = {"version": 1, "platform": {"bandwidth": 100}, "window": {"end": 9}, "applications": jobs}
    return penstock.Scenario.from_document(document)


def test_a_column_that_only_late_rows_have_is_a_column_of_polars(comparison):
    pytest.importorskip("polars")
    jobs = many_jobs()
    frame = jobs.to_polars()
    assert (frame["bandwidth"][-1], frame["phases"][0], frame["phases"][-1]) == (0.5, 2, None)
    assert frame["forever"].sum() == 1
    assert list(penstock.simulate(jobs).to_polars()["name"]) == [each.name for each in jobs.applications]
    assert list(comparison.to_polars()["sharing"]) == SOME


def test_jobs_with_and_without_an_end_become_one_table_of_arrow():
    pytest.importorskip("pyarrow")
    table = many_jobs().to_arrow()
    assert table.column("phases").to_pylist()[-2:] == [2, None]
    assert table.column("forever").to_pylist()[-2:] == [False, True]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: penstock.compare(FOUR, WRONG), "compare takes a list of policies, as in ['fcfs'], not a int"),
        (lambda: penstock.compare(FOUR, []), "there is no policy to run"),
        (lambda: penstock.compare([]), "there is no scenario to run"),
        (lambda: penstock.save(WRONG, "x.yaml"), "a scenario, or the path of its file, is needed, not a int"),
        (lambda: penstock.save(FOUR, WRONG), "a scenario is saved to a path, not to a int"),
        (lambda: penstock.pack(EXAMPLES / "pack-night.yaml", EMPTY), "sensitivity is {}; accepted is a number above 0"),
        (lambda: penstock.size_buffer(EXAMPLES / "two-jobs.yaml", lead=MUCH), "the lead is 'much'; accepted is"),
        (lambda: penstock.optimum(EXAMPLES / "no-window.yaml", MUCH), "the time limit is 'much'; accepted is"),
        (lambda: penstock.follow(WRONG), "a plan is a file, a schedule or names of applications, not a int"),
        (lambda: read_results(WRONG), "results are read from the directory of a campaign, not from a int"),
        (lambda: run_figure(WRONG), "a run is drawn of what simulate gives, not of a int"),
        (lambda: comparison_figure(WRONG), "runs are reported on as a list, such as compare gives, not as a int"),
    ],
)
def test_what_is_of_the_wrong_kind_gets_a_sentence(call, words):
    with pytest.raises(PenstockError) as refusal:
        call()
    assert words in str(refusal.value)


def test_the_best_of_nothing_gets_a_sentence(comparison):
    with pytest.raises(InvalidOption, match="none of these runs has a makespan"):
        comparison.best("makespan")
    with pytest.raises(InvalidOption, match="a run has no metric 'speed'"):
        comparison.best("speed")


def test_figures_without_matplotlib_name_the_extra(comparison, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    for draw in (lambda: comparison_figure(comparison), lambda: run_figure(comparison[0])):
        with pytest.raises(InvalidOption, match=r"install penstock\[plot\]"):
            draw()


def test_a_library_that_is_not_there_is_named(comparison, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(InvalidOption, match="a table of polars needs polars; pip install polars"):
        comparison.to_polars()


@pytest.mark.parametrize(
    "thing",
    [
        lambda: penstock.load(FOUR),
        lambda: penstock.simulate(FOUR),
        lambda: penstock.compare(FOUR, SOME),
        lambda: penstock.allocate(EXAMPLES / "scratch-targets.yaml"),
        lambda: penstock.size_buffer(EXAMPLES / "two-jobs.yaml"),
        lambda: penstock.pack(EXAMPLES / "pack-night.yaml"),
        lambda: penstock.buffer(EXAMPLES / "two-jobs.yaml", 1e9),
        lambda: penstock.compare([FOUR, EXAMPLES / "two-jobs.yaml"], SOME),
    ],
)
def test_a_notebook_shows_a_table(thing):
    shown_there = thing()._repr_html_()
    assert shown_there.count("<table>") == 1
    assert shown_there.count("<tr>") >= 3
    assert "None" not in shown_there


def test_names_of_users_are_text_in_a_notebook():
    assert "<script>" not in html_table("<script>", [{"<script>": "<script>"}])


def test_long_tables_are_cut_in_a_notebook():
    assert html_table("many", [{"a": i} for i in range(MOST_ROWS + 7)]).endswith("<p>… and 7 more</p>")


def test_values_as_readers_want_them():
    assert [shown(value) for value in (None, float("nan"), 0.123456, 12345.6, 7, True, "a")] == [
        *("–", "–", "0.1235", "12,346", "7", "yes", "a")
    ]


def test_columns_of_bytes_and_seconds_have_units():
    rows = [
        {"name": "a", "transferred": 2.5e12, "completion": 5400.0, "cut": False, "release": 0.0},
        {"name": "b", "transferred": 0.0, "completion": None, "cut": False, "release": 60.0},
    ]
    table = text_table("two", rows).splitlines()
    assert [line.split("  ") for line in table[1:2]] == [["name", "transferred", "completion", "release"]]
    assert table[2].split() == ["a", "2.5", "TB", "90", "min", "0", "s"]
    assert table[3].split() == ["b", "0", "TB", "–", "60", "s"]
    pure = text_table("pure", [{"name": "a", "transferred": 2500.0}])
    assert "2,500" in pure and "B" not in pure


def test_several_workloads_are_ranked():
    found = penstock.compare([FOUR, EXAMPLES / "two-jobs.yaml"], SOME)
    assert isinstance(found, Workloads)
    assert list(found) == [str(FOUR), str(EXAMPLES / "two-jobs.yaml")]
    ranks = [row["mean_rank"] for row in found.rows()]
    assert ranks == sorted(ranks)
    assert sum(ranks) == pytest.approx(6)
    assert str(found).startswith("node-hours lost on 2 workloads, best first by mean rank")
    named = penstock.compare({"a": FOUR, "b": penstock.load(FOUR)}, SOME)
    assert [row["a"] for row in named.rows()] == [row["b"] for row in named.rows()]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: penstock.simulate(WRONG), "a scenario, or the path of its file, is needed, not a int"),
        (lambda: penstock.simulate(EMPTY), "not a dict; Scenario.from_document makes one of a document"),
        (lambda: penstock.generate(WRONG), "a workload is given by its name, as in 'synthetic', not by 3"),
        (lambda: penstock.buffer(FOUR, MUCH), "the capacity is 'much'; accepted is a number of bytes ≥ 0"),
        (lambda: penstock.load(WRONG), "a scenario is read from a path, not from a int"),
        (lambda: penstock.load(""), "the name of the file is empty"),
        (lambda: penstock.compare(FOUR, "fcfs"), "compare takes a list of policies, as in ['fcfs'], not a str"),
        (lambda: penstock.compare([FOUR, FOUR], SOME), "is given twice"),
        (lambda: penstock.simulate(FOUR, WRONG), "a sharing policy is a name or a function (view, rates), not a int"),
    ],
)
def test_wrong_types_get_one_sentence(call, words):
    with pytest.raises(PenstockError) as error:
        call()
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert issubclass(InvalidScenario, PenstockError)
