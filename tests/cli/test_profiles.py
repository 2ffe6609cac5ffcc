"""`penstock profiles`: tables, JSON, the plain CSV and the plot; and `penstock generate targets` from such a file."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import load
from penstock.report.profiles.plot import profiles_figure
from penstock.report.profiles.table import shown_counts
from penstock.studies.profiles import class_profiles, fit_profiles, read_profiles

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "profiles.csv"
KEYS = {"take", "fit", "units", "notes", "applications", "classes"}
APPLICATION = {"name", "class", "n_perf", "bandwidth", "repetitions", "fitted", "moved"}


@pytest.fixture
def measured(folder):
    (folder / "runs.csv").write_text(EXAMPLE.read_text())
    return read_profiles("runs.csv")


def row(out, name):
    """The cells of the first line that starts with a name."""
    return next(line.split() for line in out.splitlines() if line.split()[:1] == [name])


def test_the_table_has_every_application_and_class(penstock, measured):
    outcome = penstock("profiles", "runs.csv")
    assert outcome.code == 0
    assert "6 applications, median of 3 runs, bandwidth in MB/s on n targets" in outcome.out
    assert row(outcome.out, "climate") == ["climate", "Ascent", "8", "402", "–", "1,490", "2,655"]
    assert row(outcome.out, "viewer") == ["viewer", "Neutral", "2", "301", "307", "299", "–"]
    assert row(outcome.out, "Peak")[:5] == ["Peak", "2", "(33.3", "%)", "2"]
    assert "not measured" not in outcome.out


def test_a_fit_marks_what_it_made(penstock, measured):
    out = penstock("profiles", "runs.csv", "--fit", "monotone").out
    assert "median of 3 runs, monotone fit" in out
    assert row(out, "climate")[4] == "773.9~"
    assert row(out, "logging")[3:] == ["62.9*"] * 4
    assert "~ not measured: from the monotone fit, log b being linear in log n." in out
    assert "* measured, and moved by the monotone fit." in out
    assert "Note: viewer: no value outside the counts measured, 1 to 4." in out


def test_json(penstock, measured):
    record = json.loads(penstock("profiles", "runs.csv", "--json", "--fit", "unimodal", "--counts", "1-3,8").out)
    assert record.keys() == KEYS
    assert (record["take"], record["fit"], record["units"]) == ("median", "unimodal", ["MB/s"])
    fit = fit_profiles(measured, "unimodal", [1, 2, 3, 8])
    assert [each["name"] for each in record["applications"]] == list(fit)
    for each in record["applications"]:
        assert each.keys() == APPLICATION
        assert {int(n): rate for n, rate in each["bandwidth"].items()} == fit[each["name"]]
    assert record["applications"][0]["fitted"] == [2, 3]
    classes = {each["class"]: each for each in record["classes"]}
    assert list(classes) == ["Ascent", "Descent", "Peak", "Neutral"]
    assert classes["Peak"]["applications"] == ["genomics", "tracing"]
    assert classes["Ascent"]["n_perf"] == 8
    assert list(classes["Neutral"]["bandwidth"]) == ["1", "2", "3"]


def test_what_is_written_is_read_back(penstock, measured, folder):
    outcome = penstock("profiles", "runs.csv", "--take", "max", "--fit", "unimodal", "-o", "whole.csv")
    assert "written: whole.csv" in outcome.out
    whole = read_profiles(folder / "whole.csv")
    assert dict(whole) == dict(fit_profiles(read_profiles("runs.csv", take="max"), "unimodal"))
    assert whole["climate"][1] == 410e6


def test_long_lists_are_shortened(penstock, folder):
    lines = [f"job-{i},{n},{i + n}" for i in range(30) for n in range(1, 25)]
    (folder / "many.csv").write_text("\n".join(["app,n,bw_MB/s", *lines]))
    out = penstock("profiles", "many.csv").out
    assert "job-19" in out and "job-20" not in out
    assert "… and 10 more applications (-o FILE or --json)\n" in out
    assert "… and 16 more numbers of targets (-o FILE or --json)\n" in out
    assert len(json.loads(penstock("profiles", "many.csv", "--json").out)["applications"]) == 30


def test_the_counts_shown_are_spread_out():
    assert shown_counts(range(1, 9)) == tuple(range(1, 9))
    assert shown_counts(range(1, 16)) == (1, 3, 5, 7, 9, 11, 13, 15)


def test_ior_by_count(penstock, folder):
    (folder / "ior.csv").write_text("access,bw(MiB/s),block(KiB),xfer(KiB),numTasks,iter\nwrite,100,64,32,4,0\n")
    out = penstock("profiles", "ior.csv", "--count", "6").out
    assert row(out, "write-4t-64k-32k") == ["write-4t-64k-32k", "Neutral", "6", "104.9"]
    assert "1 application, one run each" in out


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_the_plot_is_drawn(penstock, measured, folder, suffix):
    outcome = penstock("profiles", "runs.csv", "--fit", "unimodal", "--plot", f"p{suffix}")
    assert outcome.code == 0 and f"written: p{suffix}" in outcome.out
    assert (folder / f"p{suffix}").stat().st_size > 1000


def test_the_plot_has_a_panel_per_class_with_its_members_and_its_function(measured):
    fit = fit_profiles(measured, "unimodal", range(1, 9))
    classes = class_profiles(fit)
    figure = profiles_figure(fit)
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(classes)
    drawn: list[Any] = figure.axes
    for axes, each in zip(drawn, classes.values(), strict=True):
        curves = axes.collections[0].get_segments()
        assert [len(curve) for curve in curves] == [len(fit[name]) for name in each.members]
        bold = max(axes.lines, key=lambda line: (line.get_linewidth() < 4, line.get_linewidth()))
        assert dict(zip(*bold.get_data(), strict=True)) == pytest.approx(
            {n: b / 1e6 for n, b in each.bandwidth.items()}
        )
    assert "not measured" in [text.get_text() for text in figure.legends[0].get_texts()]


REFUSED = [
    (["none.csv"], "none.csv: no such file"),
    (["jobs.yaml"], "jobs.yaml:1: has no column for the application"),
    (["runs.csv", "--take", "mean"], "take is 'mean'; accepted is one of median, max"),
    (["runs.csv", "--fit", "cubic"], "fit is 'cubic'; accepted is one of monotone, unimodal"),
    (["runs.csv", "--counts", "0-3"], "--counts is '0-3'; accepted are numbers of targets up to 100,000: 1,2,4 or 1-8"),
    (["runs.csv", "--counts", "4-2"], "--counts is '4-2'; accepted are"),
    (["runs.csv", "--counts", "1,,2"], "--counts is '1,,2'; accepted are"),
    (["runs.csv", "--counts", "1-999999999"], "--counts is '1-999999999'; accepted are"),
    (["runs.csv", "--counts", "16"], "no application was measured around 16 targets"),
    (["runs.csv", "--count", "0"], "--count is 0; accepted is a whole number from 1 to 100,000"),
    (["runs.csv", "--plot", "p.txt"], "p.txt ends in .txt; a plot is saved as .png, .svg or .pdf"),
    (["runs.csv", "-o", "no/where.csv"], "no/where.csv: the folder no does not exist"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_refusals(penstock, measured, arguments, words):
    outcome = penstock("profiles", *arguments)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err


@pytest.mark.parametrize("way", [["--profiles", "runs.csv"], ["--set", "profiles=runs.csv"]])
def test_generate_takes_profiles(penstock, measured, folder, way):
    outcome = penstock("generate", "targets", "--seed", "1", *way, "-o", "w.yaml")
    assert outcome.code == 0
    used = [each.profile for each in load(folder / "w.yaml").applications]
    assert all(profile in measured.values() for profile in used)
    assert len({tuple(profile.items()) for profile in used}) > 3


def test_only_targets_takes_profiles(penstock, measured):
    outcome = penstock("generate", "chains", "--profiles", "runs.csv")
    assert outcome.code == 2
    assert "chains has no setting named 'profiles'" in outcome.err
