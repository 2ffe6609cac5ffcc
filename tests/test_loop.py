"""The loop of developers: the tests of what changed are found, and what rooms take is added up and judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import budget
import quick
from budget import BUDGETS, Cost

TESTS = Path(__file__).parent


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("src/penstock/model/units.py", ["tests/model/test_units.py", "src/penstock/model/units.py", "tests/model"]),
        ("src/penstock/engine/link/loop.py", ["src/penstock/engine/link/loop.py", "tests/engine/link"]),
        (
            "src/penstock/cli/commands/optimum.py",
            ["tests/cli/test_optimum.py", "src/penstock/cli/commands/optimum.py", "tests/cli"],
        ),
        ("tests/live/core/test_modes.py", ["tests/live/core/test_modes.py"]),
        ("tests/live/harness/judge.py", ["tests/live/harness"]),
        ("docs/index.md", ["tests/docs"]),
        ("benchmarks/rows.py", ["tests/benchmarks"]),
        ("scripts/mutate.py", ["tests/scripts"]),
        ("src/penstock/wire/messages.py", ["tests/live/server", "tests/client"]),
        ("src/penstock/client/shim/pay.c", ["tests/client/shim"]),
        ("src/penstock/py.typed", list(quick.FASTEST)),
        ("tests/conftest.py", list(quick.FASTEST)),
        ("Makefile", list(quick.FASTEST)),
    ],
)
def test_what_tests_a_file(file: str, expected: list[str]) -> None:
    assert quick.chosen([Path(file)]) == expected


def test_what_tries_everything_comes_last() -> None:
    files = ["docs/index.md", "src/penstock/metrics/losses.py", "scripts/pictures.py", "tests/live/core/test_modes.py"]
    assert quick.chosen(map(Path, files)) == [
        "tests/metrics/test_losses.py",
        "src/penstock/metrics/losses.py",
        "tests/live/core/test_modes.py",
        "tests/metrics",
        "tests/docs",
        "tests/scripts",
    ]


def test_a_command_without_a_file_of_tests_is_tested_where_it_is_called() -> None:
    found = quick.chosen([Path("src/penstock/cli/commands/compare.py")])
    assert {"tests/cli/test_commands.py", "tests/cli/test_goal.py"} <= set(found[:4])
    assert found[-2:] == ["src/penstock/cli/commands/compare.py", "tests/cli"]


def test_every_path_is_given_once_and_exists() -> None:
    files = [Path("src/penstock/model/units.py"), Path("src/penstock/model/units.py"), Path("docs/index.md")]
    found = quick.chosen(files)
    assert len(found) == len(set(found))
    assert all((quick.ROOT / path).exists() for path in (*found, *quick.FASTEST))


@pytest.mark.parametrize(
    ("nodeid", "room"),
    [
        ("tests/live/core/test_modes.py::test_x[a/b]", "live"),
        ("tests/test_loop.py::test_x", "rest"),
        ("src/penstock/model/units.py::penstock.model.units", "src"),
    ],
)
def test_the_room_of_a_test(nodeid: str, room: str) -> None:
    assert budget.room_of(nodeid) == room


def test_every_room_has_a_budget() -> None:
    rooms = {budget.room_of(path.relative_to(TESTS.parent).as_posix()) for path in TESTS.rglob("test_*.py")}
    assert rooms | {"src", "start"} == set(BUDGETS)


def test_runs_add_up_and_the_long_are_named() -> None:
    allowed = BUDGETS["model"]
    lines = [f'["model", {allowed}, 1.0, 2]', f'["model", {allowed}, 1.0, 3]', '["metrics", 0.5, 0.5, 1]']
    rooms = budget.read(lines)
    assert rooms["model"] == Cost(2 * allowed, 2.0, 5)
    *_, total, loud = budget.table(rooms)
    assert total.split()[:2] == ["all", "6"]
    assert loud.startswith("OVER BUDGET: model. ")


def test_a_busy_machine_makes_no_room_too_long() -> None:
    allowed = BUDGETS["model"]
    assert not budget.too_long("model", Cost(allowed, 3.5 * allowed, 1))
    assert budget.too_long("model", Cost(allowed, 5 * allowed, 1))


BUSY = """
import subprocess, sys

WORK = "import time\\nwhile time.process_time() < 0.5: pass"


def test_it_works_itself():
    exec(WORK)


def test_its_child_works():
    subprocess.run([sys.executable, "-c", WORK], check=True)
"""


def test_workers_report_what_their_tests_take(tmp_path: Path) -> None:
    """Also what child processes take, and what is done before the first test."""
    room = tmp_path / "tests" / "live"
    room.mkdir(parents=True)
    (room / "test_busy.py").write_text(BUSY)
    (tmp_path / "tests" / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    asked = [
        sys.executable,
        "-m",
        "pytest",
        "--workers",
        "2",
        "-p",
        "no:cacheprovider",
        "--costs",
        "build/costs",
        "tests",
    ]
    subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True)
    rooms = budget.read((tmp_path / "build" / "costs").read_text().splitlines())
    assert rooms["live"].tests == 2
    assert 0.5 <= rooms["live"].work < 10.0
    assert rooms["start"].work > 0.0


def test_files_that_are_named_first_are_tested_first(tmp_path: Path) -> None:
    (tmp_path / "tests" / "model").mkdir(parents=True)
    (tmp_path / "tests" / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    for name in ("a", "b", "c"):
        (tmp_path / "tests" / "model" / f"test_{name}.py").write_text(f"def test_{name}(): pass\n")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    asked = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", "-q", "--within", "9"]
    paths = ["tests/model/test_c.py", "tests/model"]
    done = subprocess.run([*asked, *paths], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert [line.partition("::")[2] for line in done.stdout.splitlines()[:3]] == ["test_c", "test_a", "test_b"]


def test_compiling_leaves_time_for_tests(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_few.py").write_text("import time\ntime.sleep(0.2)\n\ndef test_a(): pass\n")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    asked = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--within", "0.1"]
    done = subprocess.run(asked, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "1 passed" in done.stdout


def test_what_is_not_begun_in_time_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    (tmp_path / "test_few.py").write_text("def test_a(): pass\n")
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {TESTS}\n")
    asked = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs", "--within"]
    for seconds, words in (("0", "1 skipped"), ("600", "1 passed")):
        done = subprocess.run([*asked, seconds], cwd=tmp_path, check=True, capture_output=True, text=True)
        assert words in done.stdout
        assert ("not begun within 0 s" in done.stdout) == (seconds == "0")
        assert done.stdout.splitlines()[-1].startswith("NOT TESTED for lack of time") == (seconds == "0")
