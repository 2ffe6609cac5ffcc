"""What it takes a controller to let many in: the time until all are registered, and its own processor time for each.

The same crowd over several transports says what part of that time is for TLS, which is all that another process in
front of the controller could take from it.
"""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from penstock.live.loadtest.clients import Crowd
from penstock.live.loadtest.load_test import Load, allow_files
from penstock.live.loadtest.loops import run
from penstock.live.loadtest.processes import controller, cpu_seconds, way_in
from penstock.live.loadtest.transports import Transport


@dataclass(frozen=True)
class Arrival:
    """Seconds until all were registered, and milliseconds of the controller's processor time for each."""

    seconds: float
    cpu_ms: float


def arrive(clients: int, transport: str, one_job: bool = False) -> Arrival:
    """Have so many clients connect to a controller of our own; as many jobs, or the members of one."""
    allow_files(Load(clients, 1, 1.0, transport=transport))
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        way = way_in(Path(name), transport)
        with controller(Path(name), clients, way) as child:
            child.ready()
            return run(_bring_in(way, clients, child.pid, one_job))


async def _bring_in(way: Transport, clients: int, pid: int, one_job: bool) -> Arrival:
    crowd = Crowd(way, clients, f"arrivals-{os.getpid()}", one_job)
    try:
        cpu, began = cpu_seconds(pid), time.perf_counter()
        await crowd.bring_in(crowd.clients)
        seconds = time.perf_counter() - began
        return Arrival(seconds, 1e3 * (cpu_seconds(pid) - cpu) / clients)
    finally:
        crowd.close()
