"""A test of real processes that fails once is tried again and named; one that fails twice is red, as is any other."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

TESTS = """
import pytest

tries = {"once": 0, "twice": 0, "shared": 0}

@pytest.fixture(scope="module")
def shared():
    return []

@pytest.fixture
def opened(tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()

def test_once(opened):
    tries["once"] += 1
    assert tries["once"] == 2

def test_what_a_module_shares_is_made_anew(shared):
    tries["shared"] += 1
    shared.append(tries["shared"])
    assert shared == [2]

def test_twice():
    tries["twice"] += 1
    assert tries["twice"] == 3
"""


@pytest.mark.parametrize(("real", "outcomes"), [("test_", {"passed": 2, "failed": 1}), ("other", {"failed": 3})])
def test_the_second_time_counts(pytester: pytest.Pytester, real: str, outcomes: dict[str, int]) -> None:
    pytester.makeconftest(
        "import second_try\n\ndef pytest_configure(config):\n"
        f"    config.pluginmanager.register(second_try.SecondTry(({real!r},)))\n"
    )
    pytester.makepyfile(test_it=TESTS)
    found = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    said = found.stdout.str()
    assert found.ret == 1
    assert {name: count for name, count in found.parseoutcomes().items() if name in ("passed", "failed")} == outcomes
    assert ("TRIED AGAIN: 3 of real processes" in said) == ("test_it.py::test_once: " in said) == (real == "test_")
