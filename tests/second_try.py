"""Real processes under a real clock may fail because the machine stood still: such a test is tried once more.

One red run of these proves nothing, two do: a mistake is there the second time, too. Every second try is named at the
end of the run with what went wrong the first time, for what happens often is a weak test. No other test has one: what
is a function of its input fails at once.
"""

from __future__ import annotations

from typing import Any

import pytest
from _pytest.runner import runtestprotocol

AGAIN = "again"
# Tests of controllers, agents, jobs, workers and browsers that are processes of their own; others are marked `timing`.
REAL = (
    "tests/campaign/test_dask.py",
    "tests/campaign/test_slurm.py",
    "tests/cli/test_live_",
    "tests/cli/test_past_the_library.py",
    "tests/cli/test_startup.py",
    "tests/cli/test_strict.py",
    "tests/client/shim/",
    "tests/client/test_shared.py",
    "tests/client/test_with_controller.py",
    "tests/dashboard/test_browser.py",
    "tests/docs/test_live_page.py",
    "tests/live/server/test_agents.py",
    "tests/live/server/test_operators.py",
    "tests/live/server/test_policy_process.py",
    "tests/live/server/test_serving.py",
    "tests/live/slurm/test_on_slurm.py",
    "tests/live/test_processes.py",
    "tests/live/test_standby_processes.py",
)


class SecondTry:
    """Runs a test of real processes again if it fails, and says so."""

    def __init__(self, real: tuple[str, ...] = REAL) -> None:
        self.real = real

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not item.nodeid.startswith(self.real) and item.get_closest_marker("timing") is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if failed := [report for report in reports if report.failed]:
            failed[0].outcome = AGAIN  # type: ignore[assignment]  # ours, as pytest's are for those that it knows
            item.session._setupstate.teardown_exact(None)  # a controller of the whole module may be what went wrong
            reports = [failed[0], *runtestprotocol(item, nextitem=nextitem, log=False)]
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        return (AGAIN, "A", "AGAIN") if report.outcome == AGAIN else None

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if tried := terminalreporter.stats.get(AGAIN):
            terminalreporter.section(f"TRIED AGAIN: {len(tried)} of real processes, which failed at first")
        for report in tried or ():
            terminalreporter.write_line(f"{report.nodeid}: {str(report.longreprtext).strip().splitlines()[-1]}")
