"""How programs wait: at the rate, for a change of it, for a signal, for an owner that does not come back."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client.controller import PATIENCE, until
from client.shim.job import Job, compiled, needs
from penstock.client import paying
from penstock.client.bucket import boottime
from penstock.client.segment import Kind, Segment, hear_bell, make_bell
from penstock.client.shim import compiling

MIB = 1 << 20


def dd(job: Job, mib: int, *more: str, name: str = "out") -> subprocess.Popen[bytes]:
    return job.start("dd", "if=/dev/zero", f"of={name}", f"bs={MIB}", f"count={mib}", "status=none", *more)


@pytest.fixture
def blocked(job: Job) -> subprocess.Popen[bytes]:
    """A program that waits at rate 0."""
    job.segment.set_rate(0.0, fallback=0.0)
    process = dd(job, 1)
    until(job.segment.waiting)
    return process


@pytest.mark.timing
def test_the_rate_is_kept_and_all_is_counted(job: Job) -> None:
    """From the second tenth of a second on, at 50 MB/s, by what the kernel says the file has."""
    rate = 50e6
    job.segment.set_rate(rate, fallback=rate)
    process = dd(job, 60)
    until(lambda: job.counts.written > 5e6)
    first, began = job.counts.written, boottime()
    assert process.wait(PATIENCE) == 0
    assert (60 * MIB - first) / (job.counts.last - began) == pytest.approx(rate, rel=0.05)
    assert job.counts.written / (job.folder / "out").stat().st_size == pytest.approx(1.0, rel=0.02)


def test_three_jobs_of_one_segment_go_no_faster_than_one(job: Job) -> None:
    rate = 40e6
    job.segment.set_rate(rate, fallback=rate)
    began = boottime()
    processes = [dd(job, 4, name=f"out-{number}") for number in range(3)]
    assert [process.wait(PATIENCE) for process in processes] == [0, 0, 0]
    assert job.counts.written == 12 * MIB
    assert job.counts.last - began >= (12 * MIB - 2 * MIB) / rate


def test_who_waits_says_so_rings_once_and_hears_a_new_rate(job: Job) -> None:
    bell = make_bell(job.segment.path)
    job.segment.set_rate(0.0, fallback=0.0)
    process = dd(job, 1)
    until(job.segment.waiting)
    assert os.read(bell, 100) == b"!"
    assert job.segment.answer()
    until(lambda: bool(job.segment.words[85]))  # it rings again, for it still waits
    hear_bell(bell)
    assert job.counts.written == 0
    job.segment.set_rate(1e9)
    assert process.wait(PATIENCE) == 0
    assert job.counts.written == MIB and job.counts.last_close >= job.counts.last > 0
    os.close(bell)


def test_an_allowance_passes_and_the_next_byte_waits(job: Job) -> None:
    job.segment.set_allowance(4 * MIB, fallback=0.0)
    assert dd(job, 4).wait(PATIENCE) == 0
    process = dd(job, 1)
    until(job.segment.waiting)
    assert job.counts.written == 4 * MIB
    job.segment.set_rate(None)
    assert process.wait(PATIENCE) == 0


@pytest.mark.timing
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_who_waits_can_be_killed_at_once(blocked: subprocess.Popen[bytes], number: signal.Signals) -> None:
    began = time.monotonic()
    blocked.send_signal(number)
    assert blocked.wait(PATIENCE) == -number
    assert time.monotonic() - began < 0.05


@pytest.mark.timing
def test_a_program_that_handles_an_interrupt_hears_it_soon(job: Job, blocked: subprocess.Popen[bytes]) -> None:
    """dd does, and goes on with its write: that may be a second late, not later."""
    began = time.monotonic()
    blocked.send_signal(signal.SIGINT)
    assert blocked.wait(PATIENCE) == -signal.SIGINT
    assert time.monotonic() - began < 1.5


def test_no_signal_is_missed_between_two_sleeps(job: Job, built: Path) -> None:
    """A handler that runs while the program is not asleep ends the wait as well: here signals come all the time."""
    program = compiled(built, "gcc", "alarms.c", ("-O1", "-w"))
    job.segment.set_rate(0.0, fallback=0.0)
    for _ in range(3):
        began = boottime()
        job.run(program, job.folder / "out")
        assert boottime() - began < 20.0


def test_an_owner_that_does_not_come_back_leaves_the_fallback(job: Job) -> None:
    """Blocked, in a burst, and without a fallback; what was written is what should be."""
    for number, (rate, fallback) in enumerate(((0.0, 1e9), (1e6, 1e9), (0.0, None))):
        job.segment.set_rate(rate, boottime() + 3600.0, fallback)
        job.segment.keep_alive(boottime() + 0.3)
        source, copy = job.folder / "source", job.folder / f"copy-{number}"
        source.write_bytes(os.urandom(3 * MIB))
        assert job.start("cp", source, copy).wait(PATIENCE) == 0
        assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(source.read_bytes()).digest()
        assert boottime() >= job.segment.alive_until


def test_one_that_is_killed_while_it_waits_holds_nobody_up(job: Job) -> None:
    job.segment.set_rate(0.0, fallback=0.0)
    doomed, other = dd(job, 8), dd(job, 1, name="other")
    until(lambda: job.segment.promised() >= 2 * MIB)
    doomed.kill()
    doomed.wait(PATIENCE)
    job.segment.set_rate(100e6)
    assert other.wait(PATIENCE) == 0
    assert job.counts.written == MIB


def test_what_was_not_there_is_given_back(job: Job, built: Path) -> None:
    """A read of more than a file has: the rest is not paid for."""
    (job.folder / "small").write_bytes(bytes(1000))
    job.segment.set_rate(0.0, fallback=0.0)
    job.segment.set_allowance(2 * MIB)
    for _ in range(20):
        job.run("dd", "if=small", "of=/dev/null", f"bs={MIB}", "status=none")
    assert 20 * 1000 <= job.counts.read < MIB


ASKED = ("read", "pread", "readv", "preadv", "fread", "sendfile", "splice")


def test_what_is_not_there_is_not_waited_for(job: Job, built: Path) -> None:
    """Who asks for 64 MiB of a small file waits for what it has: here for nothing."""
    program = compiled(built, "gcc", "asks.c", ("-O1", "-w"))
    (job.folder / "small").write_bytes(bytes(5000))
    job.segment.set_rate(0.0, fallback=0.0)
    job.segment.set_allowance(MIB // 2)  # also for what a program reads of itself
    for way in ASKED:
        before = job.counts
        job.run(program, way, job.folder / "small", "5000")
        written, read = job.moved_since(before)
        assert (written if way == "splice" else read - 832 * (read > 5000)) == 5000, way  # 832: the head of libc


def test_requests_that_were_refused_are_given_back_once(job: Job, built: Path) -> None:
    """Also if nothing had been paid for them, and for others in the same call."""
    compiled(built, "gcc", "submits.c", ("-O1", "-w", "-shared", "-fPIC", "-DTAKES=100"), "libtakes.so")
    program = compiled(built, "gcc", "submits.c", ("-O1", "-w", "-L.", "-Wl,-rpath,$ORIGIN", "-l:libtakes.so"))
    (job.folder / "file").write_bytes(bytes(MIB))
    for reads, taken in ((True, 100), (False, 0)):
        job.segment.set_ways(writes=True, reads=reads)
        before, promised = job.counts, job.segment.promised()
        assert job.run(program, job.folder / "file", "150").stdout == b"100\n"
        assert job.moved_since(before)[1] == taken * MIB
        assert job.segment.promised() >= promised


def test_metadata_operations_have_a_rate_of_their_own(job: Job, built: Path) -> None:
    program = compiled(built, "gcc", "moves.c", ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2"))
    rate, times = 500.0, 60
    job.segment.set_rate(rate, kind=Kind.OPERATIONS)
    began = boottime()
    job.run(program, "removed", job.folder / "name", str(times))
    operations = job.counts.operations
    assert operations >= 4 * times
    assert boottime() - began >= (operations - 60) / rate  # what may come at once, and the one after it


def test_strangers_pay_from_what_the_node_has_in_common(job: Job) -> None:
    common = Segment.make(job.folder / "common")
    common.set_rate(0.0, fallback=0.0)
    job.segment.set_rate(1e9, fallback=1e9)
    job.segment.set_common(common.path)
    process = dd(job, 1)
    until(lambda: common.promised() == MIB)
    assert job.counts.written == 0
    common.set_rate(1e9)
    assert process.wait(PATIENCE) == 0
    job.segment.set_common(None)
    assert dd(job, 1).wait(PATIENCE) == 0
    assert common.promised() == MIB


def test_what_strangers_did_not_move_is_given_back_to_all(job: Job) -> None:
    common = Segment.make(job.folder / "common")
    for segment in (common, job.segment):
        segment.set_rate(1e9, fallback=1e9)
    job.segment.set_common(common.path)
    (job.folder / "small").write_bytes(bytes(1000))
    job.run("dd", "if=small", "of=/dev/null", f"bs={MIB // 16}", "status=none")
    assert common.promised() < MIB // 16
    common.close()


def test_what_python_paid_for_is_not_paid_for_again(job: Job) -> None:
    text = (
        "from penstock.client import io_phase\n"
        "with open('out', 'wb', buffering=0) as file, io_phase('4MB') as phase:\n"
        "    phase.write(file, bytes(4_000_000))\n"
    )
    job.run(sys.executable, "-B", "-c", text)
    assert job.counts.written == 4_000_000


amounts = st.integers(1, 4 * MIB)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("pay"), amounts),
        st.tuples(st.just("pass"), st.floats(0.0, 3.0)),
        st.tuples(
            st.just("rate"), st.none() | st.floats(0.0, 1e9), st.floats(0.0, 5.0), st.none() | st.floats(0.0, 1e9)
        ),
        st.tuples(st.just("alive"), st.floats(0.1, 3.0)),
        st.tuples(st.just("free"), amounts),
    ),
    max_size=30,
)


@given(steps)
def test_the_library_and_python_give_the_same_marks(preload: Path, steps: list[tuple[Any, ...]]) -> None:
    """Two segments, the same history: one is paid into by the C code, one by its twin in Python."""
    now = 1000.0
    name = f"/dev/shm/penstock-test.{os.getpid()}"
    pair = [Segment.make(f"{name}.{number}", lambda: now) for number in range(2)]
    functions = paying._functions()
    payers = (paying.WithLibrary(pair[0], functions), paying.WithLock(pair[1]))
    try:
        for what, *values in steps:
            if what == "pass":
                now += values[0]
                continue
            if what == "pay":
                marks = [payer.promise(values[0], round(now * 1e9)) for payer in payers]
                assert marks[0] == pytest.approx(marks[1], abs=2)
            for segment in pair:
                if what == "rate":
                    segment.set_rate(values[0], now + values[1], values[2])
                elif what == "alive":
                    segment.keep_alive(now + values[0])
                elif what == "free":
                    segment.set_allowance(values[0])
            assert pair[0].promised() == pytest.approx(pair[1].promised(), abs=2)
    finally:
        for segment in pair:
            segment.remove()
            os.close(segment.fd)


def test_the_other_processor(job: Job, built: Path) -> None:
    """The library for aarch64, under an emulator: what is written is counted, and a rate of 0 holds it up."""
    qemu, _ = needs("qemu-aarch64", "aarch64-linux-gnu-gcc")
    library = built / "libpenstock-aarch64.so"
    compiling.compile_library("aarch64", library)
    program = compiled(built, "aarch64-linux-gnu-gcc", "moves.c", ("-O2", "-w", "-pthread"))
    inside = ["-E", f"LD_PRELOAD={library}", "-E", f"PENSTOCK_BUCKET={job.segment.path}"]
    machine = [qemu, "-L", "/usr/aarch64-linux-gnu", *inside]
    for way in ("one_call", "streams", "threads", "reused"):
        before = job.counts
        job.run(*machine, program, way, job.folder / way, "1024000", LD_PRELOAD="")
        assert job.counts.written - before.written == pytest.approx(1_024_000, rel=0.02), way
    job.segment.set_rate(0.0, fallback=0.0)
    process = subprocess.Popen([*machine, program, "one_call", job.folder / "out", "1024000"])
    until(job.segment.waiting)
    job.segment.set_rate(None)
    assert process.wait(PATIENCE) == 0
