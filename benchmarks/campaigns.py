"""Campaigns: what the runner adds to the runs themselves, and the memory of the process that leads them."""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable
from functools import partial

from benchmarks.rows import Row
from benchmarks.timing import cpu_of_children, in_child, race
from penstock import generate, simulate
from penstock.campaign import Campaign, run_campaign

HORIZON = 450_000.0  # seconds of P1's workload of 60 applications: about 20 ms a run, its making included
RUNS = {"full": 250, "quick": 10}
POLICY = "fair-share"
SIZES = {"full": (2_000, 10_000), "quick": (40, 200)}
# Of all that the leader of the smaller campaign holds; the rest is Python, kernels and what writing takes.
FLAT = 1.15


def campaign_rows(quick: bool) -> list[Row]:
    """The runner against a plain loop that does the same runs, each with a scenario of its own; then memory."""
    size = "quick" if quick else "full"
    return [*_overhead(RUNS[size], 1 if quick else 7), *_memory(*SIZES[size])]


def _overhead(runs: int, rounds: int) -> list[Row]:
    """Against as many plain loops as processes: two cores that work at the same time slow each other down a little."""
    contenders = {
        "loop": partial(_loop, 1, runs),
        "one": partial(_campaign, runs, 1),
        "loops": partial(_two_loops, runs),
        "two": partial(_campaign, runs, 2),
    }
    _loop(1, 5)
    best = race({name: partial(_cpu_seconds, work) for name, work in contenders.items()}, rounds)
    pairs = {"a plain loop": ("one", "loop"), "two plain loops, two processes": ("two", "loops")}
    return [
        Row(
            f"processor time against {what}",
            best[runner] / best[plain],
            most=1.05,
            note=f"runs of {1e3 * best[plain] / runs:.0f} ms",
        )
        for what, (runner, plain) in pairs.items()
    ]


def _memory(few: int, many: int) -> list[Row]:
    small, large = (in_child("campaign", runs) for runs in (few, many))
    what = f"memory of the leading process, {many:,} runs"
    return [
        Row(what, large["peak"], " MB", note=f"{small['peak']:.0f} MB for {few:,}"),
        Row(f"{what} against {few:,}", large["peak"] / small["peak"], most=FLAT),
    ]


def _loop(first: int, last: int) -> None:
    for seed in range(first, last + 1):
        simulate(generate("synthetic", seed, horizon=HORIZON), POLICY)


def _two_loops(runs: int) -> None:
    fork, half = multiprocessing.get_context("fork"), runs // 2
    loops = [fork.Process(target=_loop, args=ends) for ends in ((1, half), (half + 1, runs))]
    for each in loops:
        each.start()
    for each in loops:
        each.join()


def _campaign(runs: int, workers: int) -> None:
    workload = {"generate": "synthetic", "set": {"horizon": HORIZON}, "seeds": f"1-{runs}"}
    document = {"version": 1, "name": "overhead", "workloads": [workload], "plans": [POLICY]}
    with tempfile.TemporaryDirectory() as folder:
        report = run_campaign(Campaign.from_document(document), folder, workers=workers)
    if (report.ran, report.failed) != (runs, 0):
        raise RuntimeError(f"{report.ran} runs, of which {report.failed} failed, in place of {runs}")


def _cpu_seconds(work: Callable[[], None]) -> float:
    """Of this process and of those that it started and that have ended."""
    before = time.process_time() + cpu_of_children()
    work()
    return time.process_time() + cpu_of_children() - before
