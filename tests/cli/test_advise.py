"""`penstock advise` as users call it."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from advise import world
from penstock.traces import Options

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = ("--sharing", "greedy-com,fcfs", "--workers", "1")


@pytest.fixture
def site(folder: Path) -> Path:
    """Four days of a small site: a table of transfers, and what sacct printed."""
    world.segments(world.watched(world.site(3, 0.3, days=4.0, per_day=15.0)), folder, Options())
    return folder


def test_a_week_from_table_and_sacct_to_a_page(penstock, site: Path) -> None:
    answer = penstock(
        "advise", "segments.csv", "--slurm", "sacct.txt", "--bandwidth", "20GB/s", "--node-bandwidth", "1GB/s",
        *FEW, "--html", "week.html", "--json",
    )  # fmt: skip
    assert (answer.code, [line for line in answer.err.splitlines() if " left" not in line]) == (0, [])  # a busy machine
    found = json.loads(answer.out)
    assert found["data"]["days"] == 4
    assert found["data"]["node_hour_coverage"] == pytest.approx(1.0)
    assert found["data"]["grade"] == "A"
    assert {each["name"]: each["origin"] for each in found["assumptions"]}["bandwidth"] == "given"
    page = Path("week.html").read_text()
    for words in ("Can these data answer?", "Which sharing policy?", "What we could not see", "What to measure next"):
        assert words in page
    assert "http" not in page.replace("http-equiv", "")


def test_answers_in_words(penstock, site: Path) -> None:
    answer = penstock("advise", "segments.csv", "--slurm", "sacct.txt", "--bandwidth", "20GB/s", *FEW)
    assert answer.code == 0
    for words in ("Is there contention?", "No policy is named", "--node-bandwidth", "What to measure next:"):
        assert words in answer.out


def test_a_scenario(penstock) -> None:
    found = json.loads(penstock("advise", "all.yaml", *FEW, "--goal", "min-yield", "--json").out)
    assert found["data"]["grade"] is None
    assert found["swept"]["goal"] == "min-yield"
    assert found["policy"]["against"] == "fair-share"


def test_two_ways_to_the_same(penstock, site: Path) -> None:
    """A scenario that an import wrote gives the figures of the table it came from."""
    given = ("--bandwidth", "20GB/s", "--node-bandwidth", "1GB/s", "--slurm", "sacct.txt")
    penstock("import", "table", "segments.csv", *given, "--slack", "contention", "-o", "site.yaml")
    one = json.loads(penstock("advise", "segments.csv", *given, *FEW, "--json").out)
    other = json.loads(penstock("advise", "site.yaml", *FEW, "--json").out)
    assert other["lost"]["share"] == pytest.approx(one["lost"]["share"], rel=1e-6)
    assert other["data"]["grade"] == one["data"]["grade"]


def test_accounting_needs_a_model(penstock) -> None:
    sacct = str(EXAMPLES / "traces" / "sacct.txt")
    answer = penstock("advise", sacct, "--io", "period=1h", "--bandwidth", "4GB/s", *FEW, "--json")
    assert answer.code == 0
    assert "a model, not a log" in json.loads(answer.out)["why_not"]["policy"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("none.yaml",), "none.yaml"),
        (("nowhere",), "nowhere: no such file"),
        (("all.yaml", "jobs.yaml"), "advise takes one scenario or table, or several logs"),
        (("all.yaml", "--bandwidth", "1GB/s"), "a scenario says all that"),
        (("all.yaml", "--goal", "speed"), "goal is 'speed'; accepted: node-hours, min-yield"),
        (("all.yaml", "--against", "fair-shar"), "fair-share"),
        (("all.yaml", "--workers", "0"), "accepted is a whole number ≥ 1"),
        (("all.yaml", "--html", "no/such/folder/x.html"), "no/such/folder"),
        (("table.csv",), "table.csv: needs the columns"),
    ],
)
def test_bad_input_is_one_sentence(penstock, folder: Path, arguments, sentence) -> None:
    (folder / "table.csv").write_text("a,b\n1,2\n")
    answer = penstock("advise", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert sentence in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_real_logs_and_accounting_in_one_command(penstock, shared_data: Path) -> None:
    if find_spec("darshan") is None:
        pytest.skip("the darshan wheel is not installed (penstock[traces])")
    answer = penstock("advise", str(shared_data / "darshan"), "--html", "week.html", *FEW, "--json")
    assert (answer.code, [line for line in answer.err.splitlines() if " left" not in line]) == (0, [])  # a busy machine
    found = json.loads(answer.out)
    assert found["data"]["jobs"] == 14
    assert found["policy"] is None
    assert "no two of the jobs" in found["why_not"]["policy"]
    assert Path("week.html").stat().st_size > 50_000
