"""Traces: a thousand Darshan logs against PyDarshan's reports of the same, merging bursts, and a million rows of text.

The logs are those that the darshan wheel ships with its tests, copied until there are enough of them.
"""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from itertools import cycle, islice
from pathlib import Path

from benchmarks.children import peak
from benchmarks.rows import Row
from benchmarks.timing import ROOT

LOGS = {"full": 1_000, "quick": 50}
ROWS = {"full": 1_000_000, "quick": 20_000}
BURSTS = 65_536
JOBS = {"full": 100_000, "quick": 2_000}


def trace_rows(quick: bool) -> list[Row]:
    """Processor time and memory, each in a process of its own."""
    size = "quick" if quick else "full"
    with tempfile.TemporaryDirectory() as folder:
        return [
            *_log_rows(Path(folder), LOGS[size]),
            _burst_row(),
            *_text_rows(Path(folder), ROWS[size]),
            *_job_rows(JOBS[size]),
        ]


def _log_rows(folder: Path, count: int) -> list[Row]:
    what = f"{count:,} Darshan logs to a scenario"
    shipped = _shipped()
    if not shipped:
        return [Row(what, None, " s", note="the darshan wheel is not installed")]
    logs = folder / "logs"
    logs.mkdir()
    for number, log in enumerate(islice(cycle(shipped), count)):
        shutil.copy(log, logs / f"{number:04}.darshan")
    ours, theirs = _child("ours", logs), _child("pydarshan", logs)
    return [
        Row(what, ours["seconds"], " s", most=5.0),
        Row(f"{what}: whole process", ours["peak"], " MB", most=150),
        Row(f"{what} against PyDarshan's reports", theirs["seconds"] / ours["seconds"], least=3.0),
    ]


def _shipped() -> list[Path]:
    found = find_spec("darshan")
    places = found.submodule_search_locations if found else None
    return sorted(log for place in places or () for log in Path(place).rglob("*.darshan"))


def _burst_row() -> Row:
    measured = _child("bursts", BURSTS)
    return Row(f"{BURSTS:,} bursts merged", 1e3 * measured["seconds"], " ms", most=100.0)


def _job_rows(jobs: int) -> list[Row]:
    measured = _child("jobs", jobs)
    what = f"{jobs:,} jobs to YAML with Parquet beside it, and read back"
    return [Row(what, measured["seconds"], " s"), Row(f"{what}: whole process", measured["peak"], " MB")]


def _text_rows(folder: Path, rows: int) -> list[Row]:
    found = []
    for kind in ("swf", "sacct"):
        file = folder / f"jobs.{kind}"
        with file.open("w") as stream:
            stream.writelines(_lines(kind, rows))
        measured = _child(kind, file)
        found.append(Row(f"{rows:,} rows of {kind}", measured["seconds"], " s", most=3.0))
        found.append(Row(f"{rows:,} rows of {kind}: whole process", measured["peak"], " MB", most=1000))
    return found


def _lines(kind: str, rows: int) -> list[str]:
    if kind == "swf":
        return [
            f"{i:7d} {3 * i:9d} -1 {100 + i % 1000:6d} {1 + i % 128} {'-1 ' * 6}{i % 90} 1 1 -1 -1 -1 -1\n"
            for i in range(rows)
        ]
    lines = ["JobID|JobName|User|State|Start|End|Elapsed|NNodes|TRESUsageInTot|TRESUsageOutTot\n"]
    for i in range(rows // 3):
        times = f"2026-11-{1 + i % 14:02d}T08:{i % 60:02d}:00|2026-11-{15 + i % 14:02d}T09:00:00|14-00:00:00"
        lines.append(f"{i}|job{i % 50}|u{i % 99}|COMPLETED|{times}|4||\n")
        lines += [
            f"{i}.{step}|{step}||COMPLETED|{times}|1|cpu=00:00:01,fs/disk={i}|fs/disk=5M\n" for step in ("batch", "0")
        ]
    return lines


def _child(kind: str, argument: object) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.traces", kind, str(argument)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _measured(kind: str, argument: str) -> dict[str, float]:
    """Seconds of processor time after all imports, the best of three where that is short."""
    work = {"ours": _ours, "pydarshan": _pydarshan, "bursts": _bursts, "swf": _swf, "sacct": _sacct, "jobs": _jobs}[
        kind
    ]
    return {"seconds": work(argument), "peak": peak()}


def _ours(folder: str) -> float:
    from penstock.model import save  # noqa: PLC0415
    from penstock.traces import import_darshan  # noqa: PLC0415

    begun = time.process_time()
    save(import_darshan(folder).scenario, Path(folder).parent / "scenario.yaml")
    return time.process_time() - begun


def _pydarshan(folder: str) -> float:
    import darshan  # noqa: PLC0415

    # Its reports are freed by the collector of cycles; in a call of cffi, that waits for ever for a lock that it holds.
    gc.disable()
    begun = time.process_time()
    for log in sorted(Path(folder).iterdir()):
        darshan.DarshanReport(str(log), read_all=True)
        gc.collect(0)
    return time.process_time() - begun


def _bursts(count: str) -> float:
    import numpy as np  # noqa: PLC0415

    from penstock.traces.bursts import merged  # noqa: PLC0415
    from penstock.traces.pieces import IoPieces  # noqa: PLC0415

    rng = np.random.default_rng(1)
    start = np.sort(rng.uniform(0, 1000, int(count)))
    pieces = IoPieces(
        start, start + 1e-3, rng.lognormal(size=len(start)), np.zeros(len(start), bool), np.zeros(len(start))
    )
    merged(pieces, 1000.0, 0.005)
    took = []
    for _ in range(3):
        begun = time.process_time()
        merged(pieces, 1000.0, 0.005)
        took.append(time.process_time() - begun)
    return min(took)


def _jobs(count: str) -> float:
    import numpy as np  # noqa: PLC0415

    from penstock.kernels.arrays import Floats  # noqa: PLC0415
    from penstock.model import load, save  # noqa: PLC0415
    from penstock.traces import Options  # noqa: PLC0415
    from penstock.traces.build import build  # noqa: PLC0415
    from penstock.traces.job import Job  # noqa: PLC0415
    from penstock.traces.pieces import IoPieces  # noqa: PLC0415

    start: Floats = np.arange(10, dtype=np.float64) * 60.0
    pieces = IoPieces(start, start + 3.0, np.full(10, 1e9), np.ones(10, bool), np.zeros(10))
    jobs = [Job(f"{i}", "u", "sim", 6.0 * i, 650.0, pieces, "dxt", nodes=4) for i in range(int(count))]
    built = build(jobs, Options(bandwidth=1e12), kind="darshan", what="jobs", begun=0.0).scenario
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        save(built, Path(folder) / "jobs.yaml")
        read = load(Path(folder) / "jobs.yaml")
        took = time.process_time() - begun
    assert read == built
    return took


def _swf(file: str) -> float:
    from penstock.traces.swf import read_swf  # noqa: PLC0415

    begun = time.process_time()
    read_swf(file)
    return time.process_time() - begun


def _sacct(file: str) -> float:
    from penstock.traces.slurm.accounting import read_accounting  # noqa: PLC0415

    begun = time.process_time()
    read_accounting(file)
    return time.process_time() - begun


if __name__ == "__main__":
    print(json.dumps(_measured(*sys.argv[1:3])))
