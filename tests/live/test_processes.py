"""Real processes: the controller is killed, or stopped, again and again, and the writers under it do not care.

Seconds are asserted of what one process does by itself, in processor time where the machine may be busy; the rest is
given the time that it needs.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.controlled import PATIENCE, Controller, stopped, until
from cli.user import environment
from penstock.live.loadtest.processes import cpu_seconds

PHI = 0.5  # of the capacity: what all writers together use without a controller
DEPTH = 0.02  # seconds of the rate, and a slice, that a bucket holds
SLICE = 64 << 10
HANGS = 20.0  # seconds without a chunk, which takes 1 s at the fallback rate


class Writers:
    """Processes full of paced writers."""

    def __init__(self, sockets: str, processes: int, each: int, volume: float, fallback: float) -> None:
        self.count = processes * each
        script = str(Path(__file__).with_name("writers.py"))
        self._processes = [
            subprocess.Popen(
                [sys.executable, script, sockets, f"w{number}", str(each), str(volume), str(fallback)],
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            )
            for number in range(processes)
        ]  # fmt: skip

    def look(self) -> list[dict[str, Any]]:
        """How all writers are at this moment."""
        for each in self._processes:
            assert each.stdin is not None
            each.stdin.write("look\n")
            each.stdin.flush()
        return [writer for each in self._processes for writer in json.loads(each.stdout.readline())]

    def kill(self, last: int | None = None) -> None:
        """All of them, or the last few processes."""
        gone = self._processes[-last:] if last else self._processes
        self._processes = self._processes[: len(self._processes) - len(gone)]
        for each in gone:
            each.kill()
            each.communicate()


@contextmanager
def writing(controller: Controller, processes: int, each: int, volume: float, fallback: float) -> Iterator[Writers]:
    writers = Writers(str(controller.socket), processes, each, volume, fallback)
    try:
        yield writers
    finally:
        writers.kill()


def posted(controller: Controller) -> int:
    return int(controller.ask("status")["members"].get("posted", 0))


def charged(controller: Controller) -> float:
    return float(controller.ask("status")["capacity"]["all"]["charged"])


def granted(controller: Controller) -> bool:
    """Whether it has told somebody a rate since it started."""
    return controller.ask("server")["rates"] > 0


def met_by_now(writers: Writers, before: set[int]) -> set[int]:
    """Those that the controller has told a rate."""
    before.update(number for number, writer in enumerate(writers.look()) if writer["state"] == "paced")
    return before


def total(writers: list[dict[str, Any]], what: str) -> float:
    return sum(writer[what] for writer in writers)


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.crowd("processors")
@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.soak)])
def test_kills_under_five_hundred_writers(tmp_path: Path, kills: int) -> None:
    capacity, count, chance = 25e6, 500, random.Random(7)
    controller = Controller(tmp_path, capacity=capacity, machine_nodes=count, lease=8, beat=2)
    with controller:
        bare = cpu_seconds(controller.ask("server")["pid"])  # a start with nothing to remember
        kill_often(controller, kills, count, capacity, chance, max(2.0, 4 * bare))


def kill_often(
    controller: Controller, kills: int, count: int, capacity: float, chance: random.Random, limit: float
) -> None:
    """Kill it again and again; it comes back within so many seconds."""
    with writing(controller, 10, count // 10, 1e6, PHI * capacity / count) as writers:
        # A phase of 1 MB takes 20 s; between two of them a writer is idle for a moment. Who has not met the controller
        # yet has only its part of what its node may use, and all of them are on one.
        met: set[int] = set()
        until(lambda: len(met_by_now(writers, met)) == count)
        before, began, restarts = writers.look(), time.monotonic(), []
        for _ in range(kills):
            controller.stop(signal.SIGKILL)
            killed = time.monotonic()
            pid = controller.start()["pid"]
            restarts.append(min(time.monotonic() - killed, cpu_seconds(pid)))
            until(lambda: granted(controller))
            time.sleep(chance.uniform(0.0, 0.8))
        after, seconds = writers.look(), time.monotonic() - began
        assert max(restarts) < limit, restarts
        assert controller.ask("status")["epoch"] == kills + 1
        assert [writer["failure"] for writer in after if writer["failure"]] == []
        assert max(writer["silent"] for writer in after) < HANGS
        assert min(late["moved"] - early["moved"] for early, late in zip(before, after, strict=True)) > 0
        assert total(after, "unpaced") == 0
        moved = total(after, "moved") - total(before, "moved")
        held = count * SLICE + DEPTH * capacity
        assert moved <= (1.0 + PHI) * capacity * seconds + held
        until(lambda: posted(controller) > 0.95 * count)
        until(lambda: sum(writer["state"] == "paced" for writer in writers.look()) > 0.95 * count)
        charges = [until(lambda: charge if (charge := charged(controller)) > 0.9 * capacity else 0.0)]
        charges += [charged(controller) for _ in range(10)]
        assert max(charges) <= capacity * (1 + 1e-9), charges


@pytest.mark.slow
def test_a_stopped_controller_is_done_without_and_comes_back(tmp_path: Path) -> None:
    capacity, count, lease = 4e6, 40, 2.0
    share, fallback = capacity / count, PHI * capacity / count
    with Controller(tmp_path, capacity=capacity, machine_nodes=count, lease=lease, beat=0.5) as controller:
        pid = controller.ask("server")["pid"]
        with writing(controller, 2, count // 2, 1e9, fallback) as writers:
            until(lambda: all(each["rate"] == pytest.approx(share, rel=0.03) for each in writers.look()))
            os.kill(pid, signal.SIGSTOP)
            try:
                until(lambda: stopped(pid))
                since = time.monotonic()
                first = writers.look()
                until(lambda: all(each["rate"] == pytest.approx(fallback) for each in writers.look()))
                assert time.monotonic() - since < 4 * lease  # a little more than one, where nothing else is going on
                until(lambda: {each["state"] for each in writers.look()} == {"open"})  # links notice later
                time.sleep(2.0)
                later, seconds = writers.look(), time.monotonic() - since
            finally:
                os.kill(pid, signal.SIGCONT)
            assert [each["failure"] for each in later if each["failure"]] == []
            moved = [late["moved"] - early["moved"] for early, late in zip(first, later, strict=True)]
            assert min(moved) > 0.8 * fallback * seconds - SLICE
            until(lambda: all(each["rate"] == pytest.approx(share, rel=0.03) for each in writers.look()), PATIENCE)
            until(lambda: {each["state"] for each in writers.look()} == {"paced"})
