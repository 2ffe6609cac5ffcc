"""Measuring so that noise on a busy machine hits all alike: contenders take turns, each keeps its best, in CPU time."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.peers.build import run_peer

ROOT = Path(__file__).resolve().parents[1]


def race(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The fewest seconds that each contender took, A B A B …"""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            best[name] = min(best[name], run())
    return best


def peer_seconds(binary: Path, instance: Path, repeats: int) -> float:
    """What a run of a peer takes: the fastest by its own clock, or, if less, its CPU time per repeat."""
    before = cpu_of_children()
    run = run_peer(binary, instance, repeats)
    return min(run.seconds, (cpu_of_children() - before) / repeats)


class Command(NamedTuple):
    """How a command went: `error` is its last line on stderr if it failed, else empty."""

    clock: float  # seconds until it ended
    cpu: float  # seconds of processor time, less than `clock` where it had to wait for others
    error: str

    @property
    def seconds(self) -> float:
        """What its user waits for on a machine that has nothing else to do."""
        return min(self.clock, self.cpu)


def time_command(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Command:
    """Run a command and measure how long it takes."""
    started, before = time.perf_counter(), cpu_of_children()
    finished = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | (environment or {})
    )
    clock, cpu = time.perf_counter() - started, cpu_of_children() - before
    said = finished.stderr.strip().splitlines() or [f"exit code {finished.returncode}"]
    return Command(clock, cpu, said[-1] if finished.returncode != 0 else "")


def in_child(function: str, *arguments: object) -> dict[str, Any]:
    """What a function of `children.py` returns when called in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.children", function, *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if finished.returncode != 0:
        raise RuntimeError(f"{function} failed: {(finished.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return json.loads(finished.stdout)  # type: ignore[no-any-return]


def cpu_of_children() -> float:
    """Seconds of processor time of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
