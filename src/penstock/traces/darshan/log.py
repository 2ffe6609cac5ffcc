"""One log: who ran what when, and the records that its modules kept."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.traces.darshan import records
from penstock.traces.darshan.errors import BadLog
from penstock.traces.darshan.header import byte_order
from penstock.traces.darshan.library import JobRecord, ModuleRecord, library, quiet
from penstock.traces.darshan.records import Bins, FileCounters, Module, TracedSegments

TRACED = {"POSIX": "DXT_POSIX", "MPI-IO": "DXT_MPIIO"}
EARLIEST, LATEST = 0.0, 4e9  # seconds since 1970: up to the year 2096
LONGEST = 400 * 86400.0


@dataclass(frozen=True)
class Log:
    """What a log says. Times inside its records are seconds since `start`, which is since 1970."""

    file: Path
    job: int
    user: int
    executable: str  # as it was called, with its arguments; a number where the log was anonymised
    processes: int
    start: float
    seconds: float  # the run time, T
    modules: dict[str, Module]
    counters: dict[str, FileCounters] = field(default_factory=dict)
    segments: dict[str, TracedSegments] = field(default_factory=dict)  # by the layer that was traced
    heat_map: Bins | None = None
    stripes: dict[int, int] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()

    @property
    def end(self) -> float:
        """When the run was over."""
        return self.start + self.seconds


def read_log(file: Path) -> Log:
    """A log in full; what is wrong with it raises BadLog."""
    order = byte_order(file)
    with quiet(), _opened(file) as handle:
        log = _about(file, handle)
        for name in records.COUNTING:
            if name in log.modules:
                log.counters[name] = records.counters(handle, name, log.modules[name], order)
        hosts: frozenset[str] = frozenset()
        for layer, name in TRACED.items():
            if name in log.modules:
                log.segments[layer], found = records.segments(handle, name, log.modules[name], order)
                hosts |= found
        mapped, striped = log.modules.get("HEATMAP"), log.modules.get("LUSTRE")
        return Log(
            **vars(log)
            | {
                "hosts": hosts,
                "heat_map": records.heat_map(handle, mapped, order) if mapped else None,
                "stripes": records.stripe_counts(handle, striped, order) if striped else {},
            }
        )


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    handle = library().darshan_log_open(bytes(file))
    if not handle:
        raise BadLog("cannot be opened by Darshan's library")
    try:
        yield handle
    finally:
        library().darshan_log_close(handle)


def _about(file: Path, handle: Any) -> Log:
    lib, job = library(), JobRecord()
    if lib.darshan_log_get_job(handle, ctypes.byref(job)) != 0:
        raise BadLog("is damaged (its job record cannot be read)")
    command = ctypes.create_string_buffer(8192)
    if lib.darshan_log_get_exe(handle, command) != 0:
        raise BadLog("is damaged (its command line cannot be read)")
    seconds = ctypes.c_double()
    lib.darshan_log_get_job_runtime(handle, job, ctypes.byref(seconds))
    start = job.start_sec + 1e-9 * job.start_nsec
    _check_times(start, seconds.value, job.nprocs)
    return Log(
        file=file,
        job=job.jobid,
        user=job.uid,
        executable=command.value.decode(errors="replace").strip(),
        processes=job.nprocs,
        start=start,
        seconds=seconds.value,
        modules=_modules(handle),
    )


def _check_times(start: float, seconds: float, processes: int) -> None:
    if not EARLIEST < start < LATEST:
        raise BadLog(f"has an absurd start, {start:g} s since 1970")
    if seconds <= 0:
        raise BadLog(f"ends before it starts (a run of {seconds:g} s)")
    if seconds > LONGEST:
        raise BadLog(f"has an absurd run time, {seconds / 86400:,.0f} days")
    if processes < 1:
        raise BadLog(f"has an absurd number of processes, {processes}")


def _modules(handle: Any) -> dict[str, Module]:
    listed, count = ctypes.c_void_p(), ctypes.c_int()
    library().darshan_log_get_modules(handle, ctypes.byref(listed), ctypes.byref(count))
    try:
        entries = ctypes.cast(listed, ctypes.POINTER(ModuleRecord))
        return {
            entry.name.decode(): Module(entry.idx, entry.ver, bool(entry.partial_flag))
            for entry in (entries[i] for i in range(count.value))
        }
    finally:
        library().darshan_free(listed)
