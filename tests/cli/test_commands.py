"""Every command does what its help says, in a terminal, in a pipe and in a script."""

import json
import os
import re
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from cli.controlled import PATIENCE
from cli.user import command, environment
from forked import Forked
from penstock import generate, load
from penstock.policies.sharing import NAMES
from penstock.workloads import generators

KINDS = [kind.name for kind in generators()]
ESCAPE = "\x1b"
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def test_demo_prints_a_table_and_writes_a_report(penstock, folder):
    outcome = penstock("demo", "--html", "here.html")
    assert outcome.code == 0
    rows = [line.split()[0] for line in outcome.out.splitlines() if re.match(r"[a-z-]{4,} +0\.\d{4} ", line)]
    assert len(rows) == 10
    assert {"fair-share", "fcfs", "greedy-com"} < set(rows)
    assert not [name for name in rows if name.startswith(("list-", "best-effort"))]
    assert "(same: best-effort)" in outcome.out
    assert f"… and {len(NAMES) - 11} more with --all\n" in outcome.out
    assert "run time" not in outcome.out
    *_, written, last = outcome.out.splitlines()
    assert written == "written: here.html"
    assert last == "Next: open here.html in a browser; then your own jobs: penstock compare jobs.yaml"
    page = (folder / "here.html").read_text()
    assert page.lower().startswith("<!doctype html>")
    assert all(name in page for name in rows)
    assert "penstock-demo.html" in penstock("demo", "--help").out


def test_all_of_the_demo(penstock, folder):
    outcome = penstock("demo", "--html", "here.html", "--all", "--details")
    assert all(name in outcome.out for name in NAMES)
    assert "more with --all" not in outcome.out
    assert "events" in outcome.out
    page = (folder / "here.html").read_text()
    assert all(name in page for name in NAMES)
    assert len(page) < 36_000 * len(NAMES)  # a megabyte for the 28 there are


def test_a_comparison_ends_with_what_to_do_next(penstock):
    last = penstock("compare", "jobs.yaml").out.splitlines()[-1]
    assert last == "Next: penstock compare jobs.yaml --goal node-hours says which policy is better by more than chance"
    alone = penstock("compare", "all.yaml", "--sharing", "fcfs").out.splitlines()[-1]
    assert alone == "Next: penstock simulate all.yaml --sharing fcfs --plot run.svg draws who had what when"


def test_a_policy_that_is_asked_for_is_shown_even_if_it_is_a_twin(penstock):
    rows = penstock("compare", "all.yaml", "--sharing", "best-effort,fair-share,list-fifo").out
    assert all(f"\n{name} " in rows for name in ("best-effort", "fair-share", "list-fifo"))


def test_workloads_are_compared_side_by_side(penstock):
    table = penstock("compare", "jobs.yaml", "all.yaml").out
    hidden = int(re.search(r"… and (\d+) more with --all", table)[1])
    rows = [line.split() for line in table.splitlines() if re.match(r"[a-z0-9-]{4,} +\d+\.\d ", line)]
    assert {"fair-share", "fcfs", "greedy-com"} <= {row[0] for row in rows}
    assert not [row for row in rows if row[0].startswith(("list-", "best-effort"))]
    assert [float(row[1]) for row in rows] == sorted(float(row[1]) for row in rows)
    assert f"Best mean rank: {rows[0][0]}, {rows[0][1]} of {len(rows) + hidden}" in table
    assert len(rows) == 10


def test_workloads_as_json_have_every_policy(penstock):
    found = json.loads(penstock("compare", "jobs.yaml", "all.yaml", "--json").out)["workloads"]
    assert [each["scenario"] for each in found] == ["jobs.yaml", "all.yaml"]
    assert [[run["sharing"] for run in each["runs"]] for each in found] == [list(NAMES)] * 2


def test_long_lists_are_cut_unless_all_is_asked_for(penstock, folder):
    jobs = "".join(f"  - {{name: job{i}, phases: [{{write: {i + 1}}}]}}\n" for i in range(60))
    (folder / "many.yaml").write_text(f"version: 1\nplatform: {{bandwidth: 1}}\napplications:\n{jobs}")
    cut = penstock("simulate", "many.yaml", "--sharing", "fcfs").out
    assert "… and 20 more with higher yields (--all)\n" in cut
    assert cut.count("job") == 40
    assert penstock("simulate", "many.yaml", "--sharing", "fcfs", "--all").out.count("job") == 60


def test_a_scenario_from_standard_input(penstock, folder):
    text = (folder / "jobs.yaml").read_text()
    piped = json.loads(penstock("simulate", "-", "--json", stdin=text).out)
    assert piped | {"seconds": 0} == json.loads(penstock("simulate", "jobs.yaml", "--json").out) | {"seconds": 0}
    assert penstock("compare", "-", "--sharing", "fcfs", stdin=text).out.startswith("standard input")
    assert json.loads(penstock("inspect", "-", "--json", stdin=text).out)["jobs"] == 2


@pytest.mark.parametrize("suffix", STARTS)
@pytest.mark.parametrize("arguments", [["simulate", "jobs.yaml"], ["compare", "jobs.yaml", "--sharing", "fcfs,set-10"]])
def test_plots(penstock, folder, arguments, suffix):
    outcome = penstock(*arguments, "--plot", f"run{suffix}")
    assert outcome.code == 0
    assert f"written: run{suffix}" in outcome.out
    assert (folder / f"run{suffix}").read_bytes().startswith(STARTS[suffix])
    assert not list(folder.glob(".*"))


def test_compare_writes_plot_and_report_beside_json(penstock, folder):
    outcome = penstock(
        "compare", "all.yaml", "--sharing", "fcfs,greedy-com", "--json", "--plot", "c.svg", "--html", "c.html"
    )
    assert [run["sharing"] for run in json.loads(outcome.out)["runs"]] == ["fcfs", "greedy-com"]
    page = (folder / "c.html").read_text()
    assert "fcfs" in page
    assert "greedy-com" in page
    assert (folder / "c.svg").exists()


def test_an_old_file_is_replaced(penstock, folder):
    (folder / "c.html").write_text("old")
    assert penstock("compare", "all.yaml", "--sharing", "fcfs", "--html", "c.html").code == 0
    assert (folder / "c.html").read_text().lower().startswith("<!doctype html>")


def test_tables_name_everybody(penstock):
    table = penstock("simulate", "jobs.yaml", "--sharing", "set-10").out
    assert "set-10" in table
    assert {"a", "b"} <= {line.split()[0] for line in table.splitlines() if line.strip()}
    table = penstock("compare", "jobs.yaml", "--all").out
    assert all(name in table for name in NAMES)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["x.yaml", "x.yml", "x.json", "stdout", "stdout json"])
def test_generate_and_load_back(penstock, folder, kind, form):
    settings = {"horizon": "2e4", "applications": "6", "small": "2"} if kind == "synthetic" else {}
    words = [f"{name}={value}" for name, value in settings.items()]
    arguments = ["generate", kind, "--seed", "3", *(["--set", *words] if words else [])]
    if form.startswith("stdout"):
        outcome = penstock(*arguments, *(["--json"] if "json" in form else []))
        file = folder / ("out.json" if "json" in form else "out.yaml")
        file.write_text(outcome.out)
    else:
        outcome = penstock(*arguments, "-o", form)
        file = folder / form
        assert outcome.out == ""
        assert outcome.err.startswith(f"written: {form} (")
    assert outcome.code == 0
    assert load(file) == generate(kind, seed=3, **settings)


def test_long_traces_go_beside_the_document(penstock, folder):
    assert penstock("generate", "synthetic", "-o", "p1.yaml").code == 0
    assert (folder / "p1.parquet").exists()
    assert json.loads(penstock("simulate", "p1.yaml", "--json").out)["events"] > 10_000


@pytest.mark.parametrize(
    "words",
    [
        ["--set", "m=4", "T=100", "fresh=no"],
        ["--set", "m=4", "--set", "T=100", "--set", "fresh=no"],
        ["--set", "m=4", "T=100", "--set", "fresh=no"],
        ["m=4", "T=100", "fresh=no"],
        ["--set", "m = 4", "T=1e2", "--seed", "5", "fresh=false"],
    ],
)
def test_settings_however_they_are_given(penstock, folder, words):
    assert penstock("generate", "example-1", *words, "-o", "e.json").code == 0
    assert load(folder / "e.json") == generate("example-1", m=4, T=100, fresh=False)


def test_seeds_differ_and_repeat(penstock):
    small = ["--set", "horizon=1e4", "applications=4", "small=1"]
    first, again, other = (penstock("generate", "synthetic", *small, "--seed", seed).out for seed in ("1", "1", "2"))
    assert first == again != other


def test_lists_are_for_people_too(penstock):
    policies = penstock("policies").out
    assert all(name in policies for name in NAMES)
    assert "delta=auto" in policies
    kinds = penstock("generate").out
    assert all(kind in kinds for kind in KINDS)
    assert "pressure=1" in kinds


def test_version_and_help(penstock):
    assert penstock("--version").out == f"penstock {version('penstock')}\n"
    help_text = penstock("--help").out
    for name in ("demo", "simulate", "compare", "decide", "generate", "policies"):
        assert name in help_text
        own = penstock(name, "--help")
        assert own.code == 0
        assert "Usage: " in own.out


def test_own_policy_file(penstock, folder):
    (folder / "mine.py").write_text(
        '"""Mine."""\n\n\ndef last_first(view, rates):\n    rates[view.posted.argmax()] = view.limit[0]\n'
    )
    run = json.loads(penstock("simulate", "all.yaml", "--sharing", "mine.py:last_first", "--json").out)
    assert run["sharing"] == "last-first"
    assert penstock("compare", "all.yaml", "--sharing", "fcfs,mine.py:last_first").code == 0


def test_what_a_policy_prints_stays_out_of_the_result(penstock, folder):
    (folder / "chatty.py").write_text(
        "print('hello')\n\n\ndef f(view, rates):\n    print('deciding')\n    rates[0] = view.limit[0]\n"
    )
    for arguments in (["simulate", "all.yaml"], ["decide", "state.json"], ["compare", "all.yaml"]):
        outcome = penstock(*arguments, "--sharing", "chatty.py:f", "--json")
        json.loads(outcome.out)
        assert outcome.err.startswith("hello\ndeciding\n")


def test_a_policy_that_grants_nobody_anything_is_told_of(penstock, folder):
    (folder / "idle.py").write_text("def f(view, rates):\n    pass\n")
    outcome = penstock("simulate", "jobs.yaml", "--sharing", "idle.py:f", "--json")
    assert outcome.code == 0
    assert outcome.err.startswith("penstock: under f no application could move a byte in the window; a policy writes")
    assert penstock("simulate", "jobs.yaml", "--sharing", "fcfs").err == ""


def test_a_state_may_be_yaml(penstock, folder):
    (folder / "state.yaml").write_text("{capacity: 1 GB/s, now: 1 h, active: []}")
    assert json.loads(penstock("decide", "state.yaml").out)["rates"] == {}


@pytest.mark.slow
def test_a_pipe_gets_no_escape_codes(process):
    for arguments in (["simulate", "jobs.yaml"], ["compare", "jobs.yaml", "--sharing", "fcfs"], ["policies"]):
        outcome = process(*arguments, TERM="xterm-256color")
        assert outcome.code == 0
        assert ESCAPE not in outcome.out + outcome.err
        assert outcome.err == ""


def colours(text):
    """Colours, not bold and dim, which NO_COLOR leaves alone."""
    return re.findall(r"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])[;m]", text)


@pytest.mark.slow
def test_colours_on_a_terminal_unless_refused(terminal):
    asked = ["simulate", "jobs.yaml"]
    assert colours(terminal(*asked, on="stdout stderr").out)
    assert not colours(terminal(*asked, on="stdout stderr", NO_COLOR="1").out)
    assert ESCAPE not in terminal(*asked, on="stderr").out


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", ["policies --json", "policies", "generate synthetic", "simulate jobs.yaml", "--help"]
)
def test_a_reader_that_leaves_early(folder, arguments):
    child = Forked(
        command(*arguments.split()), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(PENSTOCK_QUIET="1")
    )
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait() in (0, 1)


SLOW = """\
import time


def f(view, rates):
    rates[0] = view.limit[0]
    time.sleep(0.6)
"""


@pytest.mark.slow
def test_progress_is_shown_on_the_error_stream_of_a_terminal_only(terminal, process, folder):
    (folder / "slow.py").write_text(SLOW)
    asked = ["compare", "all.yaml", "--sharing", "slow.py:f,fcfs", "--json"]
    seen = terminal(*asked, on="stderr")
    assert "fcfs" in seen.err
    assert [run["sharing"] for run in json.loads(seen.out)["runs"]] == ["f", "fcfs"]
    piped = process(*asked)
    assert piped.err == ""
    json.loads(piped.out)


ENDLESS = """\
import time


def f(view, rates):
    print("asked", flush=True)
    while True:
        time.sleep(0.01)
"""


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["simulate jobs.yaml --plot new.png", "compare jobs.yaml --html old.html"])
def test_an_interrupt_leaves_no_file_behind(folder, arguments):
    Path("endless.py").write_text(ENDLESS)
    Path("old.html").write_text("old")
    before = sorted(os.listdir())
    child = subprocess.Popen(
        command(*arguments.split(), "--sharing", "endless.py:f"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PENSTOCK_QUIET="1", PYTHONDONTWRITEBYTECODE="1"),
    )
    while b"asked" not in child.stderr.readline():
        assert child.poll() is None
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert (out, b"Traceback" in err) == (b"", False)
    assert sorted(os.listdir()) == before
    assert Path("old.html").read_text() == "old"


@pytest.mark.slow
def test_a_full_disk_behind_standard_output(folder):
    for arguments in ("simulate jobs.yaml", "simulate jobs.yaml --json", "generate example-1"):
        with open("/dev/full", "wb") as full:
            child = Forked(command(*arguments.split()), stdout=full, stderr=subprocess.PIPE, env=environment())
        _, said = child.communicate()
        assert child.returncode == 2
        assert said == b"penstock: standard output cannot be written: No space left on device\n"


@pytest.mark.slow
def test_a_terminal_without_our_letters(process):
    outcome = process("simulate", "jobs.yaml", PYTHONIOENCODING="ascii")
    assert (outcome.code, outcome.err) == (0, "")
    assert "min yield" in outcome.out


def test_a_terminal_breaks_sentences_between_words_and_a_pipe_not_at_all(penstock, monkeypatch):
    sentence = "Note: the scenario does not say where its numbers come from."
    assert sentence in penstock("inspect", "all.yaml").out.splitlines()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    shown = re.sub(r"\x1b\[[\d;]*m", "", penstock("inspect", "all.yaml").out)
    assert sentence in " ".join(shown.split())
    assert "Note: the scenario does not say where" in shown.splitlines()
