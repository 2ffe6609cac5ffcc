"""What each room of the tests may take, and what it took.

With `--costs FILE` a run adds the seconds of every room to FILE; `python tests/budget.py FILE` shows them beside the
budgets. Processor seconds count, those of child processes included, since a busy machine changes them little; by the
clock a room is given more. Neither turns a green run red: what grew is named, for people to judge.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

# Seconds that the tests of each room may take on one processor that nobody else uses. "start" is what is done
# before the first test: imports, and finding the tests.
BUDGETS = {
    "advise": 10.0,
    "benchmarks": 10.0,
    "campaign": 50.0,
    "cli": 100.0,
    "client": 20.0,
    "dashboard": 25.0,
    "docs": 100.0,
    "engine": 40.0,
    "first_hour": 5.0,
    "kernels": 15.0,
    "live": 130.0,
    "lookback": 5.0,
    "metrics": 10.0,
    "model": 10.0,
    "policies": 20.0,
    "reference": 20.0,
    "report": 30.0,
    "reproduce": 70.0,
    "rest": 15.0,
    "scripts": 10.0,
    "src": 5.0,
    "start": 20.0,
    "studies": 65.0,
    "traces": 15.0,
    "workloads": 25.0,
}
LOUD = 1.5  # times its budget in processor time, and a room is named
BUSY = 4.0  # times its budget by the clock, where others may use the machine as well


class Cost(NamedTuple):
    """Seconds of processors, seconds by the clock, and how many tests took them."""

    work: float = 0.0
    clock: float = 0.0
    tests: int = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(self.work + other.work, self.clock + other.clock, self.tests + other.tests)


class Costs:
    """Measures every test where it runs, and adds up by rooms where the reports of all workers arrive."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.start = self.before = 0.0
        self.rooms: defaultdict[str, Cost] = defaultdict(Cost)

    def pytest_collection_finish(self) -> None:
        self.start = self.before = worked()

    def forked(self) -> None:
        """In a worker, whose account begins anew."""
        self.before = worked()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, Any, Any]:
        report = yield
        now = worked()
        # pytest hands the attributes of a report on from a worker, too.
        report.work = now - self.before
        self.before = now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not hasattr(report, "work"):  # the worker died before it could tell
            return
        self._add(room_of(report.nodeid), Cost(report.work, report.duration, int(report.when == "setup")))

    def _add(self, room: str, cost: Cost) -> None:
        self.rooms[room] = self.rooms[room].plus(cost)

    def pytest_sessionfinish(self) -> None:
        self._add("start", Cost(self.start, self.start))
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps([room, *cost]) + "\n" for room, cost in self.rooms.items())


def worked() -> float:
    """Processor seconds of this process and of those of its children that have ended."""
    return sum(os.times()[:4])


def room_of(nodeid: str) -> str:
    """The folder below tests/; `src` for doctests, and `rest` for what lies in no folder."""
    top, *below = nodeid.partition("::")[0].split("/")
    if top != "tests":
        return top
    return below[0] if len(below) > 1 else "rest"


def read(lines: Iterable[str]) -> dict[str, Cost]:
    """The costs of each room, of as many runs as have added theirs."""
    rooms: defaultdict[str, Cost] = defaultdict(Cost)
    for line in lines:
        room, *cost = json.loads(line)
        rooms[room] = rooms[room].plus(Cost(*cost))
    return rooms


def too_long(room: str, cost: Cost) -> bool:
    """Whether a room takes so much more than its budget that no busy machine explains it."""
    budget = BUDGETS.get(room, 0.0)
    return cost.work > LOUD * budget or cost.clock > BUSY * budget


def line(room: str, cost: Cost, budget: float, remark: str = "") -> str:
    return f"{room:<12}{cost.tests:>7}{cost.work:>10.0f} s{cost.clock:>7.0f} s{budget:>7.0f} s{remark}"


def table(rooms: dict[str, Cost]) -> Iterator[str]:
    """One line for each room, the largest first, and a sentence for those that take too long."""
    yield f"{'room':<12}{'tests':>7}{'processor':>12}{'clock':>9}{'budget':>9}"
    for room, cost in sorted(rooms.items(), key=lambda item: -item[1].work):
        yield line(room, cost, BUDGETS.get(room, 0.0), "  TOO LONG" if too_long(room, cost) else "")
    yield line("all", Cost(*map(sum, zip(*rooms.values(), strict=True))), sum(BUDGETS.values()))
    if long := sorted(room for room, cost in rooms.items() if too_long(room, cost)):
        yield f"OVER BUDGET: {', '.join(long)}. Make it faster, or give it more in tests/budget.py and say why."


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as costs:
        print(*table(read(costs)), sep="\n")
