"""`penstock reproduce`: figures, data and a summary, by id."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.reproduce import IDS, Experiment, Reproduction, find, p1_synthetic
from penstock.reproduce import reproduction as running
from penstock.reproduce.catalogue import chosen
from penstock.reproduce.tables import reproduction_tables

SMALL = ("P1.fig14", "--scale", "0.01", "--workers", "1")


@pytest.fixture(autouse=True)
def few_strategies(monkeypatch):
    monkeypatch.setattr(p1_synthetic, "STRATEGIES", ("fair-share", "fcfs"))


def test_an_experiment_gives_a_figure_its_data_and_a_summary(penstock):
    done = penstock("reproduce", *SMALL, "-o", "out", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["experiment"] == "P1.fig14"
    assert found["seconds"] > 0.0
    assert set(found["summary"]["min_yield"]["fcfs"]) == {"10", "20", "30"}
    assert json.loads(Path("out/P1.fig14.json").read_text())["summary"] == found["summary"]
    assert Path("out/P1.fig14.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in Path("out/P1.fig14.svg").read_text()
    rows = list(csv.DictReader(Path("out/P1.fig14.csv").read_text().splitlines()))
    row = next(row for row in rows if (row["quantity"], row["policy"], row["small"]) == ("min_yield", "fcfs", "20"))
    assert float(row["value"]) == found["summary"]["min_yield"]["fcfs"]["20"]
    assert float(row["interval"]) == found["summary"]["interval"]["min_yield"]["fcfs"]["20"]


def test_a_second_call_runs_nothing_and_gives_the_same(penstock, monkeypatch):
    first = json.loads(penstock("reproduce", *SMALL, "--json").out)
    monkeypatch.setattr("penstock.campaign.runner.perform", None)
    second = json.loads(penstock("reproduce", *SMALL, "--json").out)
    assert second["summary"] == first["summary"]
    assert Path("reproduction/P1.fig14.svg").exists()


def test_for_readers_there_are_tables_and_what_the_paper_states(penstock):
    out = penstock("reproduce", *SMALL).out
    assert "P1.fig14: min_yield" in out
    assert "The paper:" in out
    assert "reproduction/P1.fig14.svg" in out


def made(summary):
    unused: Any = None
    return Reproduction(Experiment("P0.fig1", "", unused, unused, unused), 1.0, summary, Path("out"), "P0.fig1")


def shown(summary):
    return [
        (str(table.title), [str(column.header) for column in table.columns[1:]], table.row_count)
        for table in reproduction_tables(made(summary))
    ]


def test_every_shape_of_summary_has_tables():
    assert shown({"ratio": {"a": {"1": 1.0}, "b": {"2": None}}, "interval": {"ratio": {}}, "instances": 2}) == [
        ("P0.fig1: ratio", ["1", "2"], 2)
    ]
    means = {"mean": 1.0, "max": 2.0}
    assert shown({"a": means, "b": means, "in_bin": {"0.5": 3}, "with_noise": {"a": means, "n": 1}}) == [
        ("P0.fig1", ["mean", "max"], 2),
        ("P0.fig1", ["0.5"], 1),
        ("P0.fig1: with_noise", ["mean", "max"], 1),
    ]
    [(title, columns, _)] = shown({"yield": {"0.5": {"fcfs": [float(rank) for rank in range(60)]}}})
    assert title == "P0.fig1: yield, 0.5 (12 of 60 columns)"
    assert (columns[0], columns[-1], len(columns)) == ("1", "60", 12)


def test_the_list_has_every_experiment(penstock):
    out = penstock("reproduce", "--list").out
    assert [line.split()[0] for line in out.splitlines() if line.startswith("P")] == list(IDS)
    listed = json.loads(penstock("reproduce", "--list", "--json").out)
    assert [each["experiment"] for each in listed] == list(IDS)
    assert all(each["title"] for each in listed)


@pytest.mark.parametrize("name", IDS)
def test_an_id_finds_its_experiment(name):
    assert find(name).id == name


def test_all_is_every_experiment_once():
    assert [each.id for each in chosen(["P1.fig6", "all"])][1:] == [name for name in IDS if name != "P1.fig6"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("P1.fig55",), "no experiment named 'P1.fig55'; did you mean P1.fig5"),
        (("tucan",), "--list"),
        ((), "which experiment?"),
        (("P1.fig5", "--scale", "0"), "--scale is 0; accepted is a number above 0"),
        (("P1.fig5", "--scale", "nan"), "--scale is nan"),
        (("P1.fig8", "--table", "none.csv"), "none.csv: no such file"),
        (("P1.fig8", "--table", "jobs.yaml"), "jobs.yaml:1: has the unknown column"),
        (("P4.fig3", "--profiles", "jobs.yaml"), "jobs.yaml:1: has no column for the application"),
        (
            ("P1.fig5", "--profiles", "jobs.yaml"),
            "is for P4.fig3, P4.fig4, P4.fig5, P4.fig6, P4.osts; none of these was",
        ),
        (("P1.fig5", "--on", "moon"), "--on is 'moon'"),
        (("P1.fig5", "-o", "jobs.yaml"), "jobs.yaml"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(penstock, arguments, words):
    done = penstock("reproduce", *arguments)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_lists_and_gaps_become_lines_of_data():
    summary = {"yield": {"fcfs": [1.0, None]}, "interval": {"yield": {"fcfs": [0.1, 0.2]}}, "instances": 3}
    assert running.csv_of(summary, ("policy", "rank")).splitlines() == [
        "quantity,policy,rank,value,interval",
        "yield,fcfs,1,1.0,0.1",
        "yield,fcfs,2,,0.2",
        "instances,,,3,",
    ]
