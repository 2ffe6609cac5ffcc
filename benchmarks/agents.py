"""A control cycle with the agents of 2,000 nodes: from a new capacity until the last of them has its new rate.

Run it with priority (`chrt -f 20`): beside other work on the same processors it measures that. The programs behind the
agents are not run: a rate goes into one segment, which all of them read, so that their number does not enter."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from benchmarks.rows import Row

AGENTS, REAL, CYCLES = 2000, 200, 10
CLAIM = 55.0  # milliseconds: the best that was published


def agent_rows(quick: bool) -> list[Row]:
    """Of the load test, in a process of its own; none in small, because it takes a minute."""
    if quick:
        return []
    words = ["-m", "penstock", "loadtest", "--agents", str(AGENTS), "--real", str(REAL), "--cycles", str(CYCLES)]
    done = subprocess.run([sys.executable, *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        return [Row(f"{AGENTS:,} agents", None, " ms", note=done.stderr.strip()[-200:], broken=True)]
    found = json.loads(done.stdout)
    priority = "" if os.sched_getscheduler(0) == os.SCHED_FIFO else "; without real-time priority"
    note = f"median of {CYCLES}; 95 of 100: {{:.0f}} ms{priority}"
    told, kept = found["told_p95_ms"], found["segments_p95_ms"]
    return [
        Row(f"{AGENTS - REAL:,} virtual agents are told", found["told_ms"], " ms", CLAIM, note=note.format(told)),
        Row(f"{REAL} real ones have it in a segment", found["segments_ms"], " ms", CLAIM, note=note.format(kept)),
    ]
