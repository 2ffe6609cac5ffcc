"""`penstock optimum` and `compare --optimum`, as their users meet them."""

import os
import subprocess
import sys

import pytest

from cli.user import parsed, refusal
from penstock.model import needs

# Whoever shares or interrupts finishes these in 15 s; one operation at a time, they take 19 s.
LONG_AND_SHORT = """\
version: 1
platform: {bandwidth: 1}
applications:
  - name: long
    phases: [{write: 10}]
  - name: short
    phases: [{repeat: 5, phases: [{compute: 1}, {write: 1}]}]
"""
HARD = ["generate", "chains", "--set", "m=12", "n_min=20", "n_max=60", "load_max=0.3", "-o", "hard.yaml"]


@pytest.fixture
def mixed(folder):
    (folder / "mixed.yaml").write_text(LONG_AND_SHORT)
    return "mixed.yaml"


def test_json(penstock, mixed):
    found = parsed(penstock("optimum", mixed, "--json"))
    assert found.pop("seconds") > 0
    heuristic = found.pop("heuristic")
    assert found == {"makespan": 19.0, "bound": 19.0, "optimal": True, "gap": 0.0, "rounding": 0.0}
    assert heuristic["makespan"] >= 19
    again = parsed(penstock("simulate", mixed, "--sharing", heuristic["sharing"], "--json"))
    assert again["makespan"] == heuristic["makespan"]


def test_words(penstock, mixed):
    said = penstock("optimum", mixed).out
    assert "19 s" in said
    assert "0.0 %, proved optimal" in said
    assert "No schedule that serves one operation at a time" in said
    assert "may still be faster" in said


def test_time_runs_out(penstock):
    penstock(*HARD)
    found = parsed(penstock("optimum", "hard.yaml", "--json", "--time-limit", "500 ms"))
    assert not found["optimal"]
    assert found["bound"] < found["makespan"]
    assert found["gap"] == pytest.approx(1 - found["bound"] / found["makespan"])
    said = penstock("optimum", "hard.yaml", "--time-limit", "0").out
    assert "not proved" in said
    assert "between the bound and the makespan" in " ".join(said.split())


def test_files(penstock, folder, mixed):
    said = penstock("optimum", mixed, "--schedule", "best.csv", "--plot", "best.svg").out
    assert "written: best.csv" in said and "written: best.svg" in said
    assert (folder / "best.csv").read_text().count("\n") == 7
    assert b"<svg" in (folder / "best.svg").read_bytes()
    assert parsed(penstock("simulate", mixed, "--follow", "best.csv", "--json"))["makespan"] == 19


def test_noise_is_part_of_it(penstock, mixed):
    quiet, noisy = (
        parsed(penstock("optimum", mixed, "--noise", noise, "--seed", "1", "--json")) for noise in ("0", "0.5")
    )
    assert quiet["makespan"] == 19
    assert noisy["optimal"]
    assert noisy["makespan"] != pytest.approx(19, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["jobs.yaml"], "the scenario has a window that ends at 100 s"),
        (["all.yaml", "--time-limit", "soon"], "--time-limit is 'soon'; a time is a number"),
        (["all.yaml", "--time-limit", "3 GB"], "--time-limit is '3 GB', a volume; a time is a number"),
        (["all.yaml", "--time-limit", "-1"], "--time-limit is '-1'; a time is a number"),
        (["all.yaml", "--plot", "best.txt"], "a plot is saved as"),
    ],
)
@pytest.mark.parametrize("command", ["optimum", "compare"])
def test_refusals(penstock, command, arguments, said):
    more = ["--optimum"] if command == "compare" else []
    assert said in refusal(penstock(command, *arguments, *more))


def test_a_schedule_of_no_known_kind_is_refused(penstock):
    said = refusal(penstock("optimum", "all.yaml", "--schedule", "best.txt"))
    assert "best.txt: a schedule is written as .csv or .parquet" in said


def test_without_ortools(penstock, monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    assert "pip install penstock[optimum]" in refusal(penstock("optimum", "all.yaml"))
    assert "pip install penstock[optimum]" in refusal(penstock("compare", "all.yaml", "--optimum"))


@pytest.mark.parametrize("command", [["optimum", "all.yaml"], ["compare", "all.yaml", "--optimum"]])
def test_half_an_ortools(process, folder, command):
    (folder / "half" / "ortools").mkdir(parents=True)
    (folder / "half" / "ortools" / "__init__.py").write_text("raise ImportError('half of it is missing')")
    first = os.pathsep.join([str(folder / "half"), os.environ.get("PYTHONPATH", "")])
    said = refusal(process(*command, PYTHONPATH=first))
    assert "ortools is installed but cannot be loaded (half of it is missing)" in said


def test_a_time_limit_is_read_even_where_it_is_not_used(penstock):
    assert "--time-limit is 'soon'" in refusal(penstock("compare", "all.yaml", "--time-limit", "soon"))


def test_compare(penstock, mixed):
    asked = ["compare", mixed, "--sharing", "greedy-com,list-fifo"]
    compared = parsed(penstock(*asked, "--optimum", "--json"))
    assert compared.keys() == {"scenario", "optimum", "runs"}
    assert compared["optimum"]["makespan"] == 19
    for run, makespan in zip(compared["runs"], (15, 19), strict=True):
        assert run["ratio_to_optimum"] == run["ratio_to_bound"] == makespan / 19
    plain = parsed(penstock(*asked, "--json"))
    assert plain.keys() == {"scenario", "runs"}
    assert all("ratio" not in key for run in plain["runs"] for key in run)


def test_compare_in_words(penstock, folder, mixed):
    said = penstock("compare", mixed, "--sharing", "greedy-com,list-fifo", "--optimum", "--html", "all.html").out
    assert "optimum" in said and "0.7895" in said and "1.0000" in said
    sentence = "greedy-com, 0.789 times that of the exact optimum, which serves one operation at a time"
    assert sentence in " ".join(said.split())
    assert sentence in (folder / "all.html").read_text()
    assert "optimum" not in penstock("compare", mixed, "--sharing", "greedy-com,list-fifo").out


def test_compare_before_a_proof(penstock):
    penstock(*HARD)
    asked = ["compare", "hard.yaml", "--sharing", "list-fifo", "--optimum", "--time-limit", "0"]
    found = parsed(penstock(*asked, "--json"))
    (run,) = found["runs"]
    assert run["ratio_to_optimum"] == run["makespan"] / found["optimum"]["makespan"]
    assert run["ratio_to_bound"] == run["makespan"] / found["optimum"]["bound"] > run["ratio_to_optimum"]
    said = " ".join(penstock(*asked).out.split())
    assert f"{run['ratio_to_optimum']:.3f} to {run['ratio_to_bound']:.3f} times" in said


@pytest.mark.slow
def test_progress_is_shown(terminal, process):
    process(*HARD)
    shown = terminal("optimum", "hard.yaml", "--time-limit", "2.5", on="stderr").err
    assert "gap" in shown and "bound" in shown


def test_the_solver_is_loaded_only_where_it_is_used(folder):
    code = "import sys; sys.argv[1:] = ['simulate', 'all.yaml']\nfrom penstock.cli import main\n"
    code += "try:\n    main()\nexcept SystemExit:\n"
    code += "    assert not {'ortools', 'penstock.studies.optimum'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0
