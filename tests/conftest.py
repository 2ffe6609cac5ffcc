"""What every test may rely on: hypothesis profiles, `--slow`, the browser check, and the shared data.

HYPOTHESIS_PROFILE chooses how hard the property tests look: `default` (new random examples every time), `ci` (the same
ones every time, so that a red run can be repeated), `deep` (for a long search).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# A machine that is busy for a moment is no reason to fail, neither in a test nor while its examples are drawn.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.register_profile("deep", settings.get_profile("default"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Whoever runs us in the background may have us ignore interrupts, and then all that we start ignores them, too.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {"slow": None if config.getoption("--slow") else "slow: give --slow to run it", "browser": no_browser()}
    # Long ones first, so that no worker is left alone with one at the end.
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    for item in items:
        for marker, reason in reasons.items():
            if reason and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


def no_browser() -> str | None:
    """Why no page can be opened, or None if one can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed"
    if shutil.which("chromium") is None:
        return "chromium is not on the PATH"
    return None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of data sets that lies beside the repository, or skip the test."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the data sets are not beside the repository (../shared/data)")
    return folder
