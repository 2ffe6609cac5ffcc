"""The library against the real controller, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forked import Forked

SERVE = """
import sys
from penstock.live.server.config import load_config
from penstock.live.server.serve import serve
sys.exit(serve(load_config(sys.argv[1]), ready=lambda address: print("ready", flush=True)))
"""

WRITE = """
import json, os, sys, time
from penstock.client import io_phase, link
link.CONNECT_LIMIT = 60.0
volume, rates = float(sys.argv[1]), []
with open(os.devnull, "wb", buffering=0) as sink, io_phase(volume) as phase:
    print("begun", flush=True)
    sys.stdin.readline()
    start = time.monotonic()
    while phase.done < volume:
        phase.write(sink, bytes(200_000))
        rates.append(phase.rate)
    taken = time.monotonic() - start
print(json.dumps({"rate": phase.done / taken, "rates": sorted(set(rates), key=rates.index), "last": rates[-1]}))
"""


class Machine:
    """A controller that can be killed and started again, and the jobs that use it."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "p.sock"
        self.config = folder / "penstock.yaml"
        places = f"socket: {{path: {self.socket}}}\njournal: {{directory: {folder / 'journal'}}}\n"
        self.config.write_text(f"capacity: 20 MB/s\nmachine_nodes: 4\nlease: 4 s\nbeat: 1 s\n{places}")
        self.jobs: list[subprocess.Popen[str]] = []
        self.start()

    def start(self) -> None:
        self.server = Forked([sys.executable, "-c", SERVE, str(self.config)], stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        assert self.server.stdout.readline() == "ready\n"

    def job(self, name: str, volume: float) -> subprocess.Popen[str]:
        env = {
            **os.environ,
            "PENSTOCK_ADDRESS": str(self.socket),
            "PENSTOCK_JOB": name,
            "PENSTOCK_TIMEOUT": "60",
            "TMPDIR": str(self.socket.parent),
        }
        started = subprocess.Popen(
            [sys.executable, "-c", WRITE, str(volume)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.jobs.append(started)
        return started

    def begin(self, *jobs: subprocess.Popen[str]) -> None:
        """Let jobs move, all at the same time, once each has announced its volume."""
        for job in jobs:
            assert job.stdout is not None and job.stdout.readline() == "begun\n"
        for job in jobs:
            assert job.stdin is not None
            job.stdin.write("\n")
            job.stdin.flush()

    def stop(self) -> None:
        for each in (self.server, *self.jobs):
            each.kill()
            each.wait()


def result(job: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = job.communicate(timeout=60)
    assert job.returncode == 0, err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    running = Machine(tmp_path)
    yield running
    running.stop()


@pytest.mark.slow
def test_two_jobs_share_and_survive_the_controller(machine: Machine) -> None:
    jobs = [machine.job(name, 30e6) for name in ("a", "b")]
    machine.begin(*jobs)
    found = [result(job) for job in jobs]
    assert not any(None in each["rates"] for each in found)
    # Alone each would have 20 MB/s; they overlap nearly all of the time. A busy machine may not use all of it.
    assert max(each["rate"] for each in found) < 20.2e6, found
    assert sum(each["rate"] for each in found) < 31e6, found
    assert min(each["rate"] for each in found) > 10e6 / 4, found

    job = machine.job("c", 110e6)  # longer than a lease: it has to be renewed
    machine.begin(job)
    machine.server.send_signal(signal.SIGKILL)
    machine.server.wait()
    killed = time.monotonic()
    machine.start()
    away = time.monotonic() - killed
    after = result(job)
    assert None not in after["rates"]
    if away < 2.5:  # within the lease, however long ago the last beat was: nobody noticed
        assert after["rates"] == [20e6]
        assert 20e6 / 4 < after["rate"] < 20.2e6
    else:
        assert set(after["rates"]) <= {20e6, 2.5e6}  # its part of half the bandwidth
