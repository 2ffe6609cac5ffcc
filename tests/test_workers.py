"""Tests in several processes: each is run once, what belongs together by one of them, and none is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers import LOST, MOST

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from workers import Workers

def pytest_configure(config):
    config.addinivalue_line("markers", "crowd(name): together")
    config.pluginmanager.register(Workers(config, 2))

@pytest.fixture
def where(tmp_path_factory):
    '''Who runs a test goes into a file of the process that was started.'''
    def note(name):
        with open(NOTES, "a") as notes:
            print(name, os.getpid(), tmp_path_factory.mktemp("own"), file=notes)
    return note
"""
TOGETHER = """
import pytest

@pytest.fixture(scope="module")
def shared():
    return []

@pytest.mark.parametrize("number", range(20))
def test_shared(shared, where, number):
    where("shared")
    shared.append(number)
    assert shared == list(range(number + 1))
"""
CROWD = """
import pytest, time

@pytest.mark.crowd("link")
def test_one(where):
    where("crowd")
    time.sleep(0.2)

def test_between(where):
    where("between")

@pytest.mark.crowd("link")
def test_other(where):
    where("crowd")
"""
MANY = """
import pytest

@pytest.mark.parametrize("number", range({count}))
def test_it(where, number):
    where("many")
"""
TROUBLE = """
import os, time, warnings
import pytest

def test_wrong():
    print("said before it failed")
    assert 1 == 2

def test_warned():
    warnings.warn("look here")

def test_skipped():
    pytest.skip("not today")

def test_ends_its_process():
    os._exit(3)

def test_after_it():
    pass
"""


def run(pytester: pytest.Pytester, *asked: str, **files: str) -> tuple[pytest.RunResult, list[list[str]]]:
    notes = pytester.path / "notes"
    pytester.makeconftest(f"import os\n\nNOTES = {str(notes)!r}\n{CONFTEST}")
    pytester.makeini(f"[pytest]\npythonpath = {Path(__file__).parent}\n")
    pytester.makepyfile(**files)
    found = pytester.runpytest_subprocess("-p", "no:cacheprovider", *asked)
    return found, [line.split() for line in notes.read_text().splitlines()] if notes.exists() else []


def test_what_belongs_together_has_one_process(pytester: pytest.Pytester) -> None:
    found, notes = run(pytester, test_crowd=CROWD, test_together=TOGETHER, test_many=MANY.format(count=10 * MOST))
    found.assert_outcomes(passed=3 + 20 + 10 * MOST)
    processes = {name: {process for each, process, _ in notes if each == name} for name, _, _ in notes}
    assert len(processes["shared"]) == len(processes["crowd"]) == 1
    assert len(set.union(*processes.values())) == 2
    assert len({folder for *_, folder in notes}) == len(notes)  # nobody's temporary folder is another's


def many(count: int) -> str:
    return (
        f"import pytest\n\n@pytest.mark.parametrize('n', range({count}))\ndef test_it(where, n):\n    where('many')\n"
    )


def test_nothing_is_lost(pytester: pytest.Pytester) -> None:
    """What fails is shown with what it printed; a process that ends takes what was left of its piece with it."""
    found, _ = run(pytester, "-rs", test_trouble=TROUBLE, test_well="def test_well():\n    pass\n")
    found.assert_outcomes(passed=2, failed=3, skipped=1, warnings=1)
    said = found.stdout.str()
    for words in ("said before it failed", "assert 1 == 2", "UserWarning: look here", "not today"):
        assert words in said
    assert said.count(LOST) >= 2


def test_the_first_failure_can_be_the_last(pytester: pytest.Pytester) -> None:
    found, notes = run(pytester, "-x", test_a="def test_wrong():\n    assert 0\n", test_many=MANY.format(count=400))
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert len(notes) < 400
    found.stdout.fnmatch_lines("*stopping after 1 failures*")
