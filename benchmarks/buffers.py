"""Burst buffers at the scale of P5's traces: sizing them, against the literal linear program too, and running them."""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from benchmarks.children import LONG_RUNS
from benchmarks.rows import Row
from benchmarks.timing import ROOT, in_child, race
from penstock import Scenario, generate
from penstock.model import Trace
from penstock.studies.buffers import buffer
from penstock.studies.buffers.split import split
from penstock.studies.sizing import size_buffer

SEED = 1
# Years between failures of a node. Checkpoints, and so events, are inverse to them and to the load.
MILLION = {"full": 0.1345, "quick": 1.345}
TRACE = {"full": 1.0, "quick": 10.0}
HEAVY = 0.55  # as many events at the higher load
LITERAL = {"full": 60.0, "quick": 200.0}  # the literal program takes a quarter of a minute for the first
USUAL_LOAD, HIGH_LOAD = 0.5, 0.9
HOUR, DAY = 3600.0, 86400.0
KINDS = ("compute", "read", "write")  # by the code that traces have for them
# Strategies at half of the size with which nobody waits, where they have something to decide; one is promised for.
HALF = 0.5
STRATEGIES = {"fair": 1.0, "earliest-burst": None, "planned": None}


def sizing_rows(quick: bool) -> list[Row]:
    """The smallest buffer: shared by all, in fixed shares, and how much faster than the literal program."""
    size = "quick" if quick else "full"
    rows = [_dynamic(MILLION[size], 1 if quick else 5)]
    traces = [(TRACE[size], USUAL_LOAD)] if quick else [(TRACE[size], USUAL_LOAD), (HEAVY, HIGH_LOAD)]
    for mtbf, load in traces:
        found = in_child("size_static", SEED, mtbf, load)
        what = f"static, 30 applications, load {load:g}, {found['events']:,} events"
        rows.append(Row(what, found["seconds"], " s", 20.0, note=f"{found['clock']:.2f} s on the clock"))
        rows.append(Row(f"{what}: whole process", found["peak"], " MB", 1000))
    return rows + _weeks(quick) + _against_the_literal_program(LITERAL[size])


def week(jobs: int, days: float, reads: bool) -> Scenario:
    """Jobs of 4 to 512 nodes that come at any time, read, and write checkpoints for 1 to 12 hours."""
    draw = np.random.default_rng(SEED)
    releases = np.sort(draw.uniform(0.0, days * DAY, jobs))
    applications = []
    for place, release in enumerate(releases.tolist()):
        nodes, hours, period = int(2 ** draw.integers(2, 10)), draw.uniform(1, 12), draw.uniform(0.5, 1.5)
        checkpoint = [{"compute": period * HOUR}, {"write": nodes * draw.uniform(5, 60) * 1e9}]
        phases = [{"read": nodes * draw.uniform(20, 100) * 1e9}] if reads else []
        loop = {"repeat": max(1, int(hours / period)), "phases": checkpoint}
        applications.append({"name": f"j{place}", "nodes": nodes, "release": release, "phases": [*phases, loop]})
    platform = {"read_bandwidth": 100e9, "write_bandwidth": 100e9, "node_bandwidth": 1e9}
    return Scenario.from_document({"version": 1, "platform": platform, "applications": applications})


def _weeks(quick: bool) -> list[Row]:
    """Jobs that come and go: fixed shares for a week, and all for everybody for years of them."""
    rows = []
    for reads, promise in ((False, 2.0), (True, 10.0)):
        scenario = week(40 if quick else 150, 7.0, reads)
        found = size_buffer(scenario, "static", lead=math.inf)
        seconds = race({"": partial(_seconds, scenario, "static")}, 1 if quick else 3)[""]
        what = "reads and writes" if reads else "writes"
        rows.append(Row(f"static, a week of {len(found.traffic.names)} jobs, {what}", seconds, " s", promise))
    many = week(1_000 if quick else 20_000, 45.0 if quick else 900.0, True)
    seconds = race({"": partial(_seconds, many, "dynamic")}, 1 if quick else 3)[""]
    return [*rows, Row(f"dynamic, {len(many.applications):,} jobs that come and go", seconds, " s", 2.0)]


def tier_rows(quick: bool) -> list[Row]:
    """The engine with a buffer half as large as needed, under several strategies."""
    scenario = generate("checkpoints", SEED, mtbf=TRACE["quick" if quick else "full"], load=USUAL_LOAD, **LONG_RUNS)
    parts = split(scenario, "static")
    rows = []
    for strategy, promise in STRATEGIES.items():
        runs = [buffer(scenario, HALF * parts.size, split=parts, strategy=strategy) for _ in range(1 if quick else 3)]
        seconds, events = min(run.seconds for run in runs), runs[0].events
        note = f"{events / seconds:,.0f} a second"
        rows.append(
            Row(f"{strategy}, a million of {events:,} events", 1e6 * seconds / events, " s", promise, note=note)
        )
    return rows


def _dynamic(mtbf: float, rounds: int) -> Row:
    scenario = generate("checkpoints", SEED, mtbf=mtbf, load=USUAL_LOAD, **LONG_RUNS)
    events = size_buffer(scenario, "dynamic").events
    seconds = race({"": partial(_seconds, scenario, "dynamic")}, rounds)[""]
    return Row(f"dynamic, 30 applications, {events:,} events", seconds, " s", 1.0)


def _seconds(scenario: Scenario, partition: str) -> float:
    started = time.thread_time()
    size_buffer(scenario, partition, lead=math.inf)
    return time.thread_time() - started


def _against_the_literal_program(mtbf: float) -> list[Row]:
    """Only the solver is timed there, and all of ours here; both find the same size."""
    from scipy.optimize import linprog  # noqa: PLC0415 - a second that the other subjects need not wait for

    sys.path.insert(0, str(ROOT / "tests"))
    from reference.buffers import Program  # noqa: PLC0415

    scenario = generate("checkpoints", SEED, mtbf=mtbf, load=USUAL_LOAD, **LONG_RUNS)
    program = Program(_document(scenario), "static")
    cost = np.zeros(program.size + 1)
    cost[program.size] = 1.0
    given = {"A_ub": program.matrix(), "b_ub": program.room, "bounds": program.bounds()}
    started = time.process_time()
    literal = linprog(cost, **given, method="highs-ipm")  # on these twice as fast as the simplex method
    taken = time.process_time() - started
    seconds = race({"": partial(_seconds, scenario, "static")}, 3)[""]
    what = f"static, 30 applications, {len(program.events):,} events: against the literal program"
    found = size_buffer(scenario, "static").size
    return [
        Row(what, taken / seconds, "× faster", least=50.0, note=f"{1e3 * seconds:.0f} ms to {taken:.1f} s"),
        Row(f"{what}, difference", abs(found / (literal.fun * program.unit) - 1.0), "", 1e-6),
    ]


def _document(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the reference reads it."""
    platform = {"bandwidth": scenario.platform.bandwidth, "node_bandwidth": scenario.platform.node_bandwidth}
    applications = []
    for each in scenario.applications:
        assert isinstance(each.phases, Trace)
        pairs = zip(each.phases.kind.tolist(), each.phases.amount.tolist(), strict=True)
        phases = [{KINDS[kind]: amount} for kind, amount in pairs]
        applications.append({"name": each.name, "nodes": each.nodes, "release": each.release, "phases": phases})
    return {"platform": platform, "applications": applications}
