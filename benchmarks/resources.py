"""Memory of a long run, and time and memory of loading long traces: each in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from benchmarks.rows import Row
from benchmarks.timing import in_child
from penstock import Scenario, save
from penstock.model import COMPUTE, WRITE, Application, Platform, Trace

WINDOW = {"full": 7.8e7, "quick": 2e6}  # 10^7 and 260,000 events


def memory_rows(quick: bool) -> list[Row]:
    """The most memory that a process holds which simulates a long window, timeline off."""
    window = WINDOW["quick" if quick else "full"]
    whole, alone = in_child("simulate", window), in_child("loop_alone", window)
    what = f"{whole['events']:,} events"
    before = alone["before"]
    return [
        Row(f"{what}: whole process, with metrics and bounds", whole["peak"], " MB", 500),
        Row(f"{what}: the loop alone", alone["peak"] - before, " MB", note=f"on top of {before:.0f} MB"),
    ]


def loading_rows(quick: bool) -> list[Row]:
    """Loading a document with its phases in a Parquet file beside it."""
    rows = _loading(44_000, rounds=1 if quick else 3, seconds=0.5)[:1]
    return rows if quick else rows + _loading(5_000_000, rounds=1, seconds=10.0)


def _loading(phases: int, rounds: int, seconds: float) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.yaml"
        save(_trace_scenario(phases), file)
        loads = [in_child("load_trace", file) for _ in range(rounds)]
    best = min(loads, key=lambda load: load["seconds"])
    what = f"load {best['phases']:,} phases"
    return [
        Row(f"{what}, imports included", best["seconds"], " s", seconds, note=f"{best['clock']:.2f} s on the clock"),
        Row(f"{what}: whole process", best["peak"], " MB", 1000),
    ]


def _trace_scenario(phases: int, applications: int = 50) -> Scenario:
    draw = np.random.default_rng(1)
    length = phases // applications
    kind = np.where(np.arange(length) % 2 == 0, COMPUTE, WRITE).astype(np.int8)
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0),
        applications=tuple(
            Application(name=f"job-{index + 1}", phases=Trace(kind=kind, amount=draw.uniform(1.0, 2.0, length)))
            for index in range(applications)
        ),
    )
