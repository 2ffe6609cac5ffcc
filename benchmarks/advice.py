"""Advice: a week of 500 jobs, from a table of transfers and what sacct printed to a page, on two cores."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.children import peak
from benchmarks.rows import Row
from benchmarks.timing import ROOT

JOBS = {"full": 500, "quick": 30}
DAYS = 7.0
PRESSURE = 0.9
CORES = 2


def advice_rows(quick: bool) -> list[Row]:
    """By the clock, with all that a user waits for but the start of Python, and memory."""
    jobs = JOBS["quick" if quick else "full"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.advice", str(jobs)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    found = json.loads(done.stdout)
    what = f"advice from a week of {jobs:,} jobs, {found['runs']:,} runs, {CORES} processes, by the clock"
    return [
        Row(what, found["seconds"], " s", most=60.0),
        Row(f"advice from a week of {jobs:,} jobs: the process that asks", found["peak"], " MB"),
    ]


def _measured(jobs: int) -> dict[str, float]:
    from penstock.advise import advise  # noqa: PLC0415
    from penstock.campaign.executor import executor  # noqa: PLC0415
    from penstock.report.advice.page import write_advice  # noqa: PLC0415
    from penstock.traces import Options, import_table  # noqa: PLC0415

    world: Any = import_module("tests.advise.world")
    options = Options(bandwidth=world.BANDWIDTH, node_bandwidth=world.NODE_BANDWIDTH)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world.segments(world.watched(world.site(1, PRESSURE, DAYS, jobs / DAYS)), folder, options)
        begun = time.perf_counter()
        found = import_table(folder / "segments.csv", options, slurm=folder / "sacct.txt")
        advice = advise(found, options, place=executor("local", CORES))
        write_advice(folder / "week.html", "week", advice)
        return {"seconds": time.perf_counter() - begun, "runs": advice.runs, "peak": peak()}


if __name__ == "__main__":
    print(json.dumps(_measured(int(sys.argv[1]))))
