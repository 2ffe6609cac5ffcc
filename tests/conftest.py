"""What every test may rely on: hypothesis profiles, which tests run, the browser check, and the shared data.

HYPOTHESIS_PROFILE chooses how hard the property tests look: `default` (new random examples every time), `ci` (the same
ones every time, so that a red run can be repeated), `quick` (a few), `soak` (many), `deep` (for a long search).
"""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from budget import Costs
from forked import Forked
from machine import make_plain
from second_try import SecondTry
from workers import Workers

make_plain()

ROOT = Path(__file__).resolve().parent.parent

# A machine that is busy for a moment is no reason to fail, neither in a test nor while its examples are drawn; nor is a
# run of examples that a test has no use for, as long as others come.
_NO_REASON = [HealthCheck.too_slow, HealthCheck.filter_too_much]
settings.register_profile("default", deadline=None, suppress_health_check=_NO_REASON, max_examples=50)
settings.register_profile("ci", settings.get_profile("default"), max_examples=10, derandomize=True, print_blob=True)
settings.register_profile("quick", settings.get_profile("default"), max_examples=5)
settings.register_profile("soak", settings.get_profile("default"), max_examples=250, print_blob=True)
settings.register_profile("deep", settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
if settings.get_current_profile_name() == "ci":
    # Hypothesis also draws numbers that it finds in the code loaded so far, and which code that is depends on the tests
    # that a worker happened to run before: "the same examples every time" was not true.
    providers._get_local_constants = lambda: providers._local_constants

# Whoever runs us in the background may have us ignore interrupts, and then all that we start ignores them, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")
    parser.addoption("--soak", action="store_true", help="run the tests marked soak too")
    parser.addoption("--within", type=float, metavar="SECONDS", help="skip the tests that are not begun by then")
    parser.addoption("--workers", type=int, metavar="N", default=1, help="run the tests in N processes")
    parser.addoption("--costs", type=Path, metavar="FILE", help="add what each room of tests takes to FILE")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SecondTry())
    if (workers := config.getoption("--workers")) > 1:
        config.pluginmanager.register(Workers(config, workers))
    if file := config.getoption("--costs"):
        config.pluginmanager.register(Costs(file))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests of time are in few files; to load all others would take longer than some of these tests."""
    if config.getoption("markexpr") != "timing" or collection_path.suffix != ".py":
        return None
    return True if "mark.timing" not in collection_path.read_text(encoding="utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """To look for examples in what every object says of itself takes long, and most files have none."""
    found = yield
    if any(isinstance(each, DoctestModule) for each in found) and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Hardly anything that is made while tests are looked for is ever garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {"slow": None if config.getoption("--slow") else "slow: give --slow to run it", "browser": no_browser()}
    if not config.getoption("--soak"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak")])
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    if config.getoption("--within") is not None:
        nearest_first(items, config.args)
    else:  # long ones first, so that no worker is left alone with one at the end
        items.sort(key=lambda item: item.get_closest_marker("long") is None)
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def nearest_first(items: list[pytest.Item], paths: Sequence[str]) -> None:
    """As `tests/quick.py` gives the paths; pytest forgets that a file was named before its folder."""
    places = {(ROOT / path).resolve(): place for place, path in reversed([*enumerate(paths)])}

    def place(item: pytest.Item) -> int:
        return min((places[path] for path in (item.path, *item.path.parents) if path in places), default=len(places))

    items.sort(key=place)


BEGUN = time.monotonic()
FIRST = pytest.StashKey[float]()  # when the first test began
NOT_BEGUN = "not begun within"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where compiling took all the time there was, a quarter of it is left for tests: an answer without any is none."""
    within: float | None = item.config.getoption("--within")
    first = item.config.stash.setdefault(FIRST, now := time.monotonic())
    if within is not None and now - BEGUN > within and now - first >= within / 4:
        pytest.skip(f"{NOT_BEGUN} {within:g} s")


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line of a quick answer says what it does not cover."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    left = sum(NOT_BEGUN in str(report.longrepr) for report in reporter.stats.get("skipped", []))
    if left:
        ran = sum(len(reporter.stats.get(kind, [])) for kind in ("passed", "failed"))
        reporter.write_line(f"NOT TESTED for lack of time: {left} of {left + ran}; `make tests` runs all of them")


def no_browser() -> str | None:
    """Why no page can be opened, or None if one can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed"
    if shutil.which("chromium") is None:
        return "chromium is not on the PATH"
    return None


@pytest.fixture
def forking(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the code under test starts as `python -m …` is forked."""
    monkeypatch.setattr(subprocess, "Popen", Forked)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of data sets that lies beside the repository, or skip the test."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the data sets are not beside the repository (../shared/data)")
    return folder
