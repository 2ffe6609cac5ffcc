"""`penstock campaign` as its users meet it: run, continue, look, merge, and what it refuses."""

import csv
import io
import json
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.test_contract import NUMBER, check, parsed
from penstock.campaign import Campaign, load_campaign, read_results, run_campaign, summarise
from penstock.campaign.tasks import TASKS
from penstock.report.campaign.table import metric_tables

CAMPAIGN = """\
version: 1
name: small
workloads:
  - {generate: chains, set: {m: [2, 3], n_max: 20}, seeds: 1-4}
plans: [fair-share, list-fifo]
metrics: [makespan, max_stretch]
"""
POLICY = "def picky(view, rates):\n    raise ValueError('no')\n"

SLOW = """\
import time

def slow(view, rates):
    time.sleep(0.01)
    rates[0] = view.limit[0]
"""


@pytest.fixture
def small(folder):
    (folder / "c.yaml").write_text(CAMPAIGN)
    return folder


@pytest.fixture
def done(penstock, small):
    outcome = penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome


def test_run_and_continue(penstock, done):
    assert re.fullmatch(
        r"small: 16 runs in [\d.]+ \w+ \([\d,.]+ runs/s, in this process\); 16 of 16 are there now.\n", done.out
    )
    again = penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    assert (again.code, again.out) == (0, "small: all 16 runs were there already.\n")


WITHOUT_KERNELS = """
import sys
from penstock.cli import main
for line in sys.stdin.read().splitlines():
    sys.argv[1:] = line.split()
    try:
        main()
    except SystemExit as left:
        print(left.code, *({"numba", "matplotlib", "scipy"} & set(sys.modules)), line)
"""


def test_what_a_campaign_does_not_have_is_refused_without_kernels(done):
    wrong = ["table out --against nope", "table out --metric nope", "table out --by nope", "table out --plans nope"]
    wrong += ["rank out --metric nope", "plot out --highlight nope -o x.png", "html out --metric nope -o x.html"]
    lines = [f"campaign {each}" for each in wrong]
    asked = "\n".join(lines)
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_KERNELS], input=asked, capture_output=True, text=True, check=False
    )
    assert told.stdout.splitlines() == [f"2 {line}" for line in lines]


def test_json_of_a_run(penstock, small):
    found = parsed(penstock("campaign", "-o", "out", "c.yaml", "--workers", "2", "--json"))
    shape = {"campaign": str, "directory": str, "on": str, "runs": int, "before": int, "ran": int, "failed": int}
    check(found, shape | {"seconds": NUMBER, "rate": NUMBER})
    assert (found["campaign"], found["runs"], found["ran"], found["failed"]) == ("small", 16, 16, 0)


def test_status(penstock, done):
    outcome = penstock("campaign", "status", "out")
    assert outcome.out.startswith("small: 16 runs: 16 done.\nMade with penstock ")
    found = parsed(penstock("campaign", "status", "out", "--json"))
    assert (found["done"], found["failed"], found["missing"], found["failures"]) == (16, 0, 0, [])


def test_table(penstock, done):
    outcome = penstock("campaign", "table", "out")
    assert outcome.code == 0
    assert outcome.out.count("4 runs each") == 2
    assert "makespan against fair-share: list-fifo" in outcome.out
    only = penstock("campaign", "table", "out", "--metric", "makespan", "--by", "workload", "--against", "list-fifo")
    assert "makespan, 8 runs each" in only.out
    assert "max_stretch" not in only.out


def test_a_narrow_terminal_loses_columns_and_no_plan(penstock, done):
    table = metric_tables(summarise(read_results("out"), ["makespan"]))[0]
    names = [str(column.header) for column in table.within(60).columns]
    assert names[:2] == ["m", "plan"]
    assert "median" not in names
    assert "median" in [str(column.header) for column in table.within(160).columns]


def test_table_for_a_paper(penstock, done):
    text = penstock("campaign", "table", "out", "--latex", "--metric", "makespan").out
    assert text.startswith("% makespan\n\\begin{tabular}{llrrrr}\n\\toprule\nm & plan & mean & 95 \\% interval")
    assert text.count("\\textbf{") == 2  # the best of each group
    assert text.endswith("\\bottomrule\n\\end{tabular}\n")


def test_a_group_of_policies_stands_for_its_members(penstock, small):
    (small / "g.yaml").write_text(
        CAMPAIGN.replace("[fair-share, list-fifo]", "[{sharing: [practice, greedy-com, fcfs]}]")
    )
    assert penstock("campaign", "g.yaml", "-o", "grouped", "--workers", "1").code == 0
    assert read_results("grouped").plans == ("fair-share", "fcfs", "best-effort", "greedy-com")


def test_table_against_several(penstock, done):
    outcome = penstock("campaign", "table", "out", "--metric", "makespan", "--against", "fair-share,list-fifo")
    assert outcome.out.count("against") == 5  # two columns, a sentence for each, and in short
    assert outcome.out.count("reference") == 4
    assert "won/tied" not in outcome.out
    found = parsed(penstock("campaign", "table", "out", "--json", "--against", "list-fifo, fair-share"))["rows"]
    pairs = {(row["plan"], row["against"]) for row in found}
    assert pairs == {
        ("fair-share", "list-fifo"),
        ("list-fifo", "fair-share"),
        ("fair-share", None),
        ("list-fifo", None),
    }
    assert len(found) == 16
    there, back = (next(row for row in found if row["against"] == name) for name in ("list-fifo", "fair-share"))
    assert there["difference"] == -back["difference"] != 0


def test_plans_choose_what_is_shown(penstock, done):
    found = parsed(penstock("campaign", "table", "out", "--json", "--plans", "list-fifo"))["rows"]
    assert {(row["plan"], row["against"]) for row in found} == {("list-fifo", "fair-share")}
    assert "list-fifo" not in penstock("campaign", "table", "out", "--plans", "fair-share").out
    for more, count in ((("--plans", "list-fifo"), 0), ((), 2)):
        penstock("campaign", "html", "out", "-o", "p.html", *more, "--against", "fair-share,list-fifo")
        page = Path("p.html").read_text()
        assert (page.count("against fair-share<"), page.count("against list-fifo<")) == (2, count)


def test_table_as_csv_and_json(penstock, done):
    text = penstock("campaign", "table", "out", "--csv", "--metric", "makespan")
    rows = list(csv.DictReader(io.StringIO(text.out)))
    assert [(row["m"], row["plan"]) for row in rows] == [
        (m, plan) for m in "23" for plan in ("fair-share", "list-fifo")
    ]
    found = parsed(penstock("campaign", "table", "out", "--json", "--metric", "makespan"))
    assert [row["mean"] for row in found["rows"]] == [float(row["mean"]) for row in rows]
    assert found["rows"][0]["verdict"] is None
    assert sum(found["rows"][1][name] for name in ("wins", "ties", "losses")) == 4


def test_every_run_as_csv_is_the_same_for_any_number_of_workers(penstock, done):
    penstock("campaign", "c.yaml", "-o", "two", "--workers", "2")
    tables = [penstock("campaign", "table", name, "--runs", "--csv").out for name in ("out", "two")]
    assert tables[0] == tables[1]
    rows = list(csv.DictReader(io.StringIO(tables[0])))
    assert len(rows) == 16
    assert not {"seconds", "elapsed"} & rows[0].keys()


@pytest.mark.parametrize(
    "extra",
    [
        (),
        ("--x", "m"),
        ("--by", "workload"),
        ("--metric", "max_stretch"),
        ("--versus", "max_stretch"),
        ("--metric", "max_stretch", "--versus", "events", "--by", "workload", "--plans", "list-fifo"),
    ],
)
def test_plot(penstock, done, extra):
    outcome = penstock("campaign", "plot", "out", "-o", "p.svg", *extra)
    assert (outcome.code, outcome.out) == (0, "written: p.svg\n")
    assert b"<svg" in Path("p.svg").read_bytes()


def test_html(penstock, done):
    assert penstock("campaign", "html", "out", "-o", "p.html").code == 0
    page = Path("p.html").read_text()
    assert page.count("<svg") == 2
    assert "list-fifo" in page
    assert "http" not in re.sub(r'http-equiv="', "", page)


def test_html_escapes_what_users_name(penstock, small):
    (small / "c.yaml").write_text(CAMPAIGN.replace("name: small", 'name: "<b>x</b>"'))
    penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    penstock("campaign", "html", "out", "-o", "p.html")
    page = Path("p.html").read_text()
    assert "<b>x" not in page
    assert "&lt;b&gt;x" in page


def test_merge(penstock, done):
    Path("c.yaml").write_text(CAMPAIGN.replace("1-4", "5-6"))
    penstock("campaign", "c.yaml", "-o", "more", "--workers", "1")
    outcome = penstock("campaign", "merge", "out", "more", "-o", "both")
    assert outcome.code == 0
    assert outcome.out.startswith("small: 24 runs: 24 done.\n")


def test_failures_are_told_with_exit_code_1(penstock, small):
    (small / "own.py").write_text(POLICY)
    (small / "c.yaml").write_text(CAMPAIGN.replace("list-fifo", "own.py:picky"))
    outcome = penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    assert outcome.code == 1
    assert outcome.err == "penstock: 8 of 16 runs failed; `penstock campaign status out` says why\n"
    again = penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    assert (again.code, again.err) == (1, outcome.err)
    status = penstock("campaign", "status", "out")
    assert status.code == 0
    assert "8 done, 8 failed" in status.out
    assert "failed: chains, seed 1, own.py:picky: " in status.out
    assert "penstock generate chains --seed 1 --set m=2" in status.out
    assert "… and 3 more (--json lists them all)." in status.out
    assert len(parsed(penstock("campaign", "status", "out", "--json"))["failures"]) == 8
    assert "8 of 16 runs failed and are left out" in penstock("campaign", "table", "out").out


def test_progress_on_a_terminal(terminal, small):
    (small / "own.py").write_text(SLOW)
    (small / "c.yaml").write_text(CAMPAIGN.replace("list-fifo", "own.py:slow"))
    outcome = terminal("campaign", "c.yaml", "-o", "out", "--workers", "2", on="stderr")
    assert outcome.code == 0
    assert re.search(r"\d+ of 16 runs, [\d,.]+ runs/s, [\d.]+ \w+ left", outcome.err)


def test_help(penstock, small):
    outcome = penstock("campaign", "--help")
    assert outcome.code == 0
    assert "campaign FILE -o DIR" in outcome.out
    assert "--workers" in penstock("campaign", "c.yaml", "--help").out


REFUSED = [
    (["c.yaml"], "-o is missing; a campaign keeps its results in a directory, as in -o results"),
    (["gone.yaml", "-o", "new"], "gone.yaml: no such file"),
    (["tabel", "out"], "tabel: no such file; did you mean 'table'? a campaign is a .yaml file, and commands are statu"),
    (["jobs.yaml", "-o", "new"], "jobs.yaml:2: the document has an unknown key 'platform'; accepted: version, name,"),
    (["c.yaml", "-o", "new", "--workers", "0"], "--workers is 0; accepted is a whole number ≥ 1"),
    (["c.yaml", "-o", "new", "--on", "moon"], "--on is 'moon'; accepted: local"),
    (["c.yaml", "-o", "new", "--on", "local=3"], "--on local takes no argument, but has '3'; give a number of cores"),
    (["other.yaml", "-o", "out"], "out holds the results of another campaign, 'small'; give 'other' a directory of it"),
    (["c.yaml", "-o", "full"], "full is not empty and holds no campaign; give an empty or a new directory"),
    (["c.yaml", "-o", "jobs.yaml"], "jobs.yaml: is not a directory; results of a campaign are kept in one"),
    (["status", "full"], "full holds no campaign; `penstock campaign FILE -o DIR` starts one"),
    (["status", "nowhere"], "nowhere holds no campaign; `penstock campaign FILE -o DIR` starts one"),
    (["table", "out", "--metric", "makspan"], "the campaign has no metric 'makspan'; did you mean 'makespan'? known: "),
    (["table", "out", "--against", "x"], "the campaign has no plan 'x'; known: fair-share, list-fifo"),
    (["table", "out", "--by", "x"], "the campaign has no setting 'x'; known: workload, "),
    (["table", "out", "--csv", "--json"], "--csv, --latex and --json all go to standard output; give one of them"),
    (["table", "out", "--runs"], "--runs lists every run, for other programs; give --csv or --json, too"),
    (["table", "out", "--against", "list-fifo,x"], "the campaign has no plan 'x'; known: fair-share, list-fifo"),
    (["table", "out", "--plans", "x"], "the campaign has no plan 'x'; known: fair-share, list-fifo"),
    (["table", "out", "--runs", "--csv", "--plans", "list-fifo"], "--plans chooses what is shown of the means; --runs"),
    (["plot", "out", "-o", "p.svg", "--metric", "events", "--versus", "events"], "--versus is events, the metric that"),
    (["plot", "out", "-o", "p.svg", "--versus", "x"], "the campaign has no metric 'x'; known: "),
    (["plot", "out", "-o", "p.svg", "--versus", "makespan", "--x", "m"], "--x draws a metric over a setting, --versus"),
    (["plot", "out", "-o", "p.gif"], "p.gif ends in .gif; a plot is saved as .png, .svg or .pdf"),
    (["plot", "out", "-o", "p.svg", "--x", "y"], "the campaign has no setting 'y'; known: workload, "),
    (["html", "out", "-o", "no/p.html"], "no/p.html: the folder no does not exist"),
    (["merge", "out", "-o", "new"], "merge takes at least two directories of campaigns"),
    (["merge", "out", "full", "-o", "new"], "full holds no campaign; `penstock campaign FILE -o DIR` starts one"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_what_is_refused(penstock, done, arguments, words):
    Path("other.yaml").write_text(CAMPAIGN.replace("name: small", "name: other"))
    Path("full").mkdir()
    Path("full/x").touch()
    before = sorted(Path().rglob("*"))
    outcome = penstock("campaign", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"penstock: {words}")
    assert outcome.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_was_found(small, monkeypatch, penstock, number, code):
    """Ctrl-C, or the end of a batch job: one sentence, and the same command continues."""
    import penstock.campaign.executor as executors  # noqa: PLC0415

    performed: list[Any] = []

    def interrupted(perform):
        def once(unit):
            if len(performed) == 3:
                signal.raise_signal(number)
            performed.append(unit)
            return perform(unit)

        return once

    whole = executors.Here.map
    monkeypatch.setattr(executors.Here, "map", lambda self, perform, units: whole(self, interrupted(perform), units))
    outcome = penstock("campaign", "c.yaml", "-o", "out", "--workers", "1")
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err == "penstock: interrupted; what was found is in out, and the same command continues from there\n"
    monkeypatch.setattr(executors.Here, "map", whole)
    found = parsed(penstock("campaign", "c.yaml", "-o", "out", "--workers", "1", "--json"))
    assert (found["before"], found["ran"]) == (6, 10)


def test_the_example_runs(penstock, monkeypatch, small):
    example = Path(__file__).parents[2] / "examples" / "campaigns" / "pressure.yaml"
    text = example.read_text().replace("1-20", "1-2").replace("100000", "10000")
    (small / "pressure.yaml").write_text(text)
    found = json.loads(penstock("campaign", "pressure.yaml", "-o", "out", "--json").out)
    assert (found["runs"], found["failed"]) == (30, 0)


@pytest.mark.parametrize("name", ["policies", "policies-targets"])
def test_the_campaigns_of_policy_research_run(name, folder):
    example = Path(__file__).parents[2] / "examples" / "campaigns" / f"{name}.yaml"
    asked = load_campaign(example)
    assert {seed for each in asked.workloads for seed in each.seeds} <= set(range(1000, 1200))
    short = [replace(each, seeds=each.seeds[:1]) for each in asked.workloads if each.sources[0].kind != "synthetic"]
    report = run_campaign(replace(asked, workloads=tuple(short) or asked.workloads), "out", workers=1)
    assert (report.failed, report.ran) == (0, report.runs)


PLANS: dict[str, tuple[str, dict[str, Any]]] = {
    "simulate": ("chains", {"sharing": "fcfs", "bounds": False}),
    "pack": ("packs", {"sensitivity": "alpha", "io_nodes": 2, "backfill": True}),
    "allocate": ("targets", {"allocation": "random", "knowledge": "class", "error": 0.1}),
    "size-buffer": ("checkpoints", {"partition": "dynamic"}),
    "buffer": ("checkpoints", {"part": 0.07, "strategy": "blocked-first", "common": 0.5}),
    "optimum": ("chains", {"time_limit": 1}),
}


@pytest.mark.parametrize("task", TASKS)
def test_what_a_plan_gives_as_a_command_is_one(penstock, task):
    """The numbers of the command, typed as a failed run tells it, are those of the campaign."""
    kind, options = PLANS[task]
    settings = {"m": 2, "n_min": 1, "n_max": 2} if kind == "chains" else {}
    asked = Campaign.from_document(
        {
            "version": 1,
            "name": "one",
            "workloads": [{"generate": kind, "set": settings, "seeds": 3}],
            "plans": [{"task": task, **options}],
        }
    )
    run_campaign(asked, "out", workers=1)
    [row] = read_results("out").rows()
    assert row["error"] is None
    [workload], [plan] = asked.workloads, asked.plans
    for command in workload.sources[0].commands(3, plan.command).split(" && "):
        done = penstock(*shlex.split(command)[1:], *([] if " generate " in command else ["--json"]))
        assert done.code == 0, done.err
    found = json.loads(done.out)
    shared = [name for name in row if isinstance(row[name], float) and isinstance(found.get(name), float | int)]
    assert shared
    for name in shared:
        assert found[name] == pytest.approx(row[name], rel=1e-12)


def test_rank(penstock, done):
    outcome = penstock("campaign", "rank", "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert "best first by mean rank" in outcome.out
    found = parsed(penstock("campaign", "rank", "out", "--json"))
    rows = found["rows"]
    assert [row["place"] for row in rows] == list(range(1, len(rows) + 1))
    assert len(found["pairs"]) == len(rows) * (len(rows) - 1) // 2
    assert penstock("campaign", "rank", "out", "--csv").out.count("\n") == len(rows) + 1
    assert penstock("campaign", "rank", "out", "--latex").out.startswith("% ")
    both = penstock("campaign", "rank", "out", "--csv", "--latex")
    assert (both.code, both.out) == (2, "")
    assert "In short: " in penstock("campaign", "table", "out").out


@pytest.mark.parametrize("size", ["7", "7x", "x", "0.5x3", "nanx3", "7x4x2", "99x3"])
def test_a_plot_of_no_size_is_refused(penstock, done, size):
    outcome = penstock("campaign", "plot", "out", "-o", "p.svg", "--size", size)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"penstock: --size is '{size}'; accepted are width and height in inches, from 1 to 50, as in 7x4\n"
    )


def test_export_and_import(penstock, done):
    outcome = penstock("campaign", "export", "out", "-o", "out.zip")
    assert outcome.code == 0 and outcome.out.endswith("written: out.zip\n")
    again = parsed(penstock("campaign", "import", "out.zip", "-o", "again", "--json"))
    assert (again["runs"], again["missing"]) == (16, 0)
    assert penstock("campaign", "table", "again", "--csv").out == penstock("campaign", "table", "out", "--csv").out
    assert penstock("campaign", "import", "c.yaml", "-o", "other").code == 2
