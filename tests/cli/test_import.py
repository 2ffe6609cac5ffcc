"""`penstock import` and `penstock inspect` as users call them."""

from __future__ import annotations

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from pytest import approx

from penstock.model import load

EXAMPLES = Path(__file__).parents[2] / "examples" / "traces"
KEYS = {"name", "source", "read", "written", "error_seconds", "phases", "quality"}


@pytest.fixture
def logs(shared_data: Path) -> Path:
    if find_spec("darshan") is None:
        pytest.skip("the darshan wheel is not installed (penstock[traces])")
    return shared_data / "darshan"


def test_darshan_logs_become_a_scenario(penstock, logs: Path) -> None:
    answer = penstock("import", "darshan", str(logs), "-o", "week.yaml", "--json")
    assert (answer.code, answer.err) == (0, "")
    found = json.loads(answer.out)
    assert {"jobs", "skipped", "applications", "seconds"} <= set(found)
    assert found["jobs"] == len(found["applications"]) == 14
    assert all(set(each) >= KEYS for each in found["applications"])
    assert {each["source"] for each in found["applications"]} == {"dxt", "heatmap", "counters"}
    assert [each["why"] for each in found["skipped"]] == ["moved no bytes"]
    assert found["bandwidth_origin"] == "lower_bound"
    assert len(load("week.yaml").applications) == 14
    assert penstock("simulate", "week.yaml", "--json").code == 0


def test_the_table_says_what_was_found(penstock, logs: Path) -> None:
    answer = penstock("import", "darshan", str(logs / "example.darshan"), "-o", "week.yaml")
    assert answer.code == 0
    for words in ("vpicio_uni-4478544", "2.199 TB", "unknown", "≥ 25.73 GB/s", "a lower bound", "written: week.yaml"):
        assert words in answer.out


def test_inspect_looks_and_writes_nothing(penstock, logs: Path, folder: Path) -> None:
    before = sorted(folder.iterdir())
    answer = penstock("inspect", str(logs), "--json")
    assert answer.code == 0
    found = json.loads(answer.out)
    assert all(set(each) >= KEYS for each in found["applications"])
    assert "observed_seconds" not in found["applications"][0]
    assert sorted(folder.iterdir()) == before


def test_check_compares_observed_with_simulated(penstock, logs: Path) -> None:
    for paths in ([str(logs / "dlio_job")], ["week.yaml"]):
        penstock("import", "darshan", str(logs / "dlio_job"), "-o", "week.yaml")
        (job,) = json.loads(penstock("inspect", *paths, "--check", "--json").out)["applications"]
        assert job["simulated_seconds"] == approx(job["observed_seconds"], rel=1e-3)
        assert job["quality"] == "A"


def test_the_picture(penstock, logs: Path) -> None:
    assert penstock("inspect", str(logs), "--plot", "logs.png").code == 0
    assert Path("logs.png").read_bytes().startswith(b"\x89PNG")
    penstock("import", "darshan", str(logs / "dlio_job"), "-o", "week.yaml")
    assert penstock("inspect", "week.yaml", "--plot", "scenario.svg").code == 0
    assert "python3-3116902" in penstock("inspect", "week.yaml").out


def test_a_scenario_of_our_own_can_be_inspected(penstock) -> None:
    answer = penstock("inspect", "all.yaml", "--check", "--json")
    found = json.loads(answer.out)
    assert [(each["name"], each["written"], each["quality"]) for each in found["applications"]] == [
        ("a", 2.0, None),
        ("b", 1.0, None),
    ]
    assert found["notes"] == ["the scenario does not say where its numbers come from"]


def test_a_damaged_log_is_left_out_or_fails_the_import(penstock, logs: Path, folder: Path) -> None:
    (folder / "logs").mkdir()
    shutil.copy(logs / "example.darshan", folder / "logs")
    (folder / "logs" / "bad.darshan").write_bytes((logs / "dxt.darshan").read_bytes()[:9000])
    answer = penstock("import", "darshan", "logs", "-o", "week.yaml")
    assert answer.code == 0
    assert "Left out: logs/bad.darshan: is cut off: it has 9,000 bytes of 98,998." in answer.out
    Path("week.yaml").unlink()
    strict = penstock("import", "darshan", "logs", "-o", "week.yaml", "--strict")
    assert strict.code == 2
    assert strict.err == (
        "penstock: logs/bad.darshan: is cut off: it has 9,000 bytes of 98,998; "
        "without --strict they would be left out\n"
    )
    assert not Path("week.yaml").exists()
    assert not list(folder.glob(".week*"))


def test_nothing_that_tells_who_is_written(penstock, logs: Path, folder: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    answer = penstock("import", "darshan", str(logs), "-o", "week.json", "--anonymise", "--json")
    assert answer.code == 0
    text = answer.out + Path("week.json").read_text()
    for word in (
        "vpicio",
        "ior",
        "69615",
        "3116902",
        "4478544",
        "snyder",
        "darshan/",
        "nid00097",
        "empty_log",
        "2017-",
    ):
        assert word not in text, word
    again = penstock("import", "darshan", str(logs), "-o", "again.json", "--anonymise", "--json")
    assert json.loads(again.out)["applications"][0]["name"] == json.loads(answer.out)["applications"][0]["name"]


@pytest.mark.parametrize("name", ["transfers.csv", "series.csv", "job_stats.txt", "prometheus.json"])
def test_every_kind_of_table(penstock, name: str) -> None:
    answer = penstock("import", "table", str(EXAMPLES / name), "-o", "t.yaml", "--json")
    assert (answer.code, answer.err) == (0, "")
    assert json.loads(answer.out)["jobs"] == 2
    assert penstock("compare", "t.yaml", "--sharing", "fair-share", "--json").code == 0


def test_slurm_and_swf(penstock) -> None:
    sacct, swf = str(EXAMPLES / "sacct.txt"), str(EXAMPLES / "jobs.swf")
    found = json.loads(penstock("import", "slurm", sacct, "--io", "period=1h", "-o", "a.yaml", "--json").out)
    assert [each["source"] for each in found["applications"]] == ["accounting"] * 4 + ["model"]
    assert found["skipped"][0]["why"] == "job 1002_[3-9] never started"
    more = ("--io", str(EXAMPLES / "classes.csv"), "--bandwidth", "100 GB/s", "--node-bandwidth", "2GB/s")
    found = json.loads(penstock("import", "swf", swf, *more, "-o", "w.yaml", "--json").out)
    assert (found["bandwidth"], found["bandwidth_origin"]) == (100e9, "given")
    assert penstock("simulate", "w.yaml").code == 0


BAD = [
    (("darshan", "nowhere.darshan", "-o", "x.yaml"), "nowhere.darshan: no such file"),
    (("darshan", "jobs.yaml"), "-o is missing"),
    (("darshan", "jobs.yaml", "-o", "x.txt"), "cannot tell the format by its name"),
    (("darshan", "jobs.yaml", "-o", "none/x.yaml"), "the folder none does not exist"),
    (("darshan", "jobs.yaml", "-o", "x.yaml"), "no job was found in jobs.yaml: jobs.yaml is no Darshan log"),
    (("darshan", "jobs.yaml", "-o", "x.yaml", "--bandwidth", "3 GB"), "--bandwidth is '3 GB', a volume"),
    (("darshan", "jobs.yaml", "-o", "x.yaml", "--tolerance", "lots"), "--tolerance is 'lots'"),
    (("darshan", "jobs.yaml", "-o", "x.yaml", "--slack", "none"), "slack is 'none'; accepted is one of compute"),
    (("darshan", "jobs.yaml", "-o", "x.yaml", "--unseen", "maybe"), "unseen is 'maybe'; accepted is one of keep, drop"),
    (("darshan", "jobs.yaml", "-o", "x.yaml", "--cap", "fastest"), "cap is 'fastest'"),
    (("slurm", "jobs.yaml", "-o", "x.yaml"), "sacct does not say when jobs moved bytes"),
    (("slurm", "jobs.yaml", "-o", "x.yaml", "--io", "period=1h"), "has no header of sacct"),
    (("swf", "jobs.yaml", "-o", "x.yaml"), "SWF has no I/O; state a model of it"),
    (("swf", "jobs.yaml", "-o", "x.yaml", "--io", "apex"), "expected the Standard Workload Format"),
    (("swf", "jobs.yaml", "-o", "x.yaml", "--io", "apex", "--cores-per-node", "0"), "--cores-per-node is 0"),
    (("table", "jobs.yaml", "-o", "x.yaml"), "needs the columns job, start, end"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[" ".join(row[0]) for row in BAD])
def test_bad_input_is_one_sentence_and_code_2(penstock, arguments, words) -> None:
    if arguments[0] == "darshan" and find_spec("darshan") is None:
        pytest.skip("the darshan wheel is not installed (penstock[traces])")
    answer = penstock("import", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert answer.err.startswith("penstock: ") and answer.err.count("\n") == 1
    assert not Path("x.yaml").exists()


def test_inspect_takes_logs_or_one_scenario(penstock) -> None:
    answer = penstock("inspect", "jobs.yaml", "all.yaml")
    assert answer.code == 2
    assert "one scenario, or at logs" in answer.err
