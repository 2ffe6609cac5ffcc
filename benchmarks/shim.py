"""Programs that do not ask: what the preloaded library costs a write, against libc's own in the same process."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from benchmarks.rows import Row
from penstock.client.segment import Segment
from penstock.client.shim.library import NoLibrary, library, preloaded

SOURCE = Path(__file__).with_name("shim.c")
FAST = 1e15  # bytes/s: nobody waits
# Bytes of a call, calls of a block, pairs of blocks; what is promised when it is paced, and when it is not configured.
CALLS = ((4096, 1000, 201, 1.15, 1.02), (1 << 20, 1, 2001, 1.02, 1.02))


def shim_rows(quick: bool) -> list[Row]:
    """Ratios of processor time, the median over pairs; in small nothing is promised. Without a compiler, none."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    try:
        path = library()
    except NoLibrary:
        return []
    if compiler is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "shim"
        subprocess.run([compiler, "-O2", "-w", "-o", program, SOURCE, "-ldl"], check=True)
        segment = Segment.make(Path(folder) / "segment")
        segment.set_rate(FAST, fallback=FAST)
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK")}
        loaded = {**plain, "LD_PRELOAD": preloaded(path, plain)}
        paced = {**loaded, "PENSTOCK_BUCKET": str(segment.path)}
        rows = []
        for size, calls, pairs, most, most_plain in CALLS:
            for words, env, limit in (("paced", paced, most), ("preloaded, not configured", loaded, most_plain)):
                without, ratio = _measured(program, size, calls, pairs // 10 if quick else pairs, env)
                shown = f"{size // 1024} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
                note = f"{without / 1e3:,.2f} µs without the library"
                rows.append(Row(f"pwrite of {shown}, {words}", ratio, most=None if quick else limit, note=note))
        if not segment.counts().written:
            raise RuntimeError("nothing was paced")
        return rows


def _measured(program: Path, size: int, calls: int, pairs: int, env: Mapping[str, str]) -> tuple[float, float]:
    """Nanoseconds of a call without the library, and the ratio with it."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm", prefix="penstock-bench.") as file:
        words = [str(program), file.name, str(size), str(calls), str(pairs)]
        done = subprocess.run(words, env=dict(env), capture_output=True, text=True, check=True)
    found = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
    return median(own for own, _ in found), median(through / own for own, through in found)
