"""`penstock run --strict`: programs that load no library, paced by a supervisor that the kernel asks."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.controlled import PATIENCE, RATE, Controller, until
from client.shim.job import compiled
from penstock.client.segment import Segment
from penstock.client.shim.library import library

MIB = 1 << 20
FAST = 1e12
# Starts a command as `run --strict` does, with a segment instead of a controller, and ends as it does.
STRICTLY = """
import os, sys
from pathlib import Path
from penstock.cli.parts.child_process import Signals
from penstock.cli.parts.strict import paid_for, strict_start
bucket = Path(sys.argv[1])
pid = strict_start(bucket)(sys.argv[2:], {**os.environ, **paid_for(bucket)}, Signals())
print(pid, file=sys.stderr, flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("static"), "gcc", "static_writer.c", ["-static", "-O1"])


@pytest.fixture
def segment(tmp_path: Path) -> Iterator[Segment]:
    made = Segment.make(tmp_path / "segment")
    made.set_rate(FAST, fallback=FAST)
    yield made
    made.close()


def strictly(segment: Segment, *command: str | Path, **more: Any) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", STRICTLY, str(segment.path), *map(str, command)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def paced(segment: Segment, *command: str | Path, **more: Any) -> str:
    """A command to its end; what it printed."""
    process = strictly(segment, *command, **more)
    out, err = process.communicate(timeout=PATIENCE)
    if process.returncode == 2 and "cannot be had" in err:
        pytest.skip(err)
    assert process.returncode == 0, err
    return out


def test_a_static_program_is_counted_and_never_faster_than_its_rate(segment, writer, tmp_path):
    segment.set_rate(50e6, fallback=50e6)
    seconds = float(paced(segment, writer, tmp_path / "out", "60", "1000000"))
    assert segment.counts().written == (tmp_path / "out").stat().st_size == 60_000_000
    assert seconds >= 0.95 * (59e6 - segment.lane().depth) / 50e6


@pytest.mark.timing
def test_a_static_program_goes_at_its_rate(segment, writer, tmp_path):
    segment.set_rate(50e6, fallback=50e6)
    seconds = float(paced(segment, writer, tmp_path / "out", "151", "1000000"))
    assert 150e6 / seconds == pytest.approx(50e6, rel=0.05)


def test_children_and_copies_are_counted(segment, writer, tmp_path):
    """All that a command starts; both ends of a copy; pipes not at all."""
    script = f"{writer} out 3 100000 | cat; dd if=out of=dd bs=64k status=none; cp --reflink=never dd copy"
    paced(segment, "sh", "-c", f"cd {tmp_path} && {script}")
    assert segment.counts().written == 900_000
    assert (tmp_path / "copy").read_bytes() == bytes(300_000)


def test_reads_are_paid_for_up_to_the_end_of_their_file(segment, tmp_path):
    """Whatever a program asks for: here buffers of 128 KiB for 5,000 bytes. Its libraries are files, too."""
    (tmp_path / "small").write_bytes(bytes(5000))
    read = []
    for name in (os.devnull, tmp_path / "small"):
        before = segment.counts().read
        paced(segment, "cat", name)
        read.append(segment.counts().read - before)
    assert read[1] - read[0] == 5000


def see_no_more_than_a_user() -> None:
    """Root without what lets it read all files and look into all processes."""
    for capability in (1, 2, 19):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE
        assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up what root may do")
def test_a_program_that_may_be_run_but_not_read_is_paced(segment, writer, tmp_path):
    """Its descriptors cannot be looked at: each call is paid for as it was asked, whatever it is on."""
    hidden = tmp_path / "hidden"
    hidden.write_bytes(writer.read_bytes())
    hidden.chmod(0o111)
    paced(segment, hidden, tmp_path / "out", "8", "100000", preexec_fn=see_no_more_than_a_user)
    assert 800_000 <= segment.counts().written < 801_000  # and the line that it prints


def test_behind_another_copy_of_the_library(segment, writer, tmp_path, monkeypatch):
    """As in a job that a batch system preloads it for."""
    copy = tmp_path / "libpenstock.so"
    copy.write_bytes(library().read_bytes())
    monkeypatch.setenv("LD_PRELOAD", str(copy))
    paced(segment, writer, tmp_path / "out", "8", "100000")
    assert segment.counts().written == 800_000


@pytest.fixture
def blocked(segment, writer, tmp_path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that waits at rate 0, and its process id."""
    segment.set_rate(0.0, fallback=0.0)
    process = strictly(segment, "dd", "if=/dev/zero", f"of={tmp_path / 'out'}", f"bs={MIB}", "count=2", "status=none")
    assert process.stderr is not None
    told = process.stderr.readline()
    if "cannot be had" in told:
        pytest.skip(told)
    until(segment.waiting)
    yield process, int(told)
    process.kill()
    process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_one_that_waits_hears_signals(blocked, number):
    """Also dd, which takes an interrupt as a wish, and looks at it when its call is over."""
    process, pid = blocked
    os.kill(pid, number)
    process.wait(PATIENCE)
    assert process.returncode == 256 - number  # sys.exit of a negative number


def test_the_supervisor_outlives_the_run(segment, blocked, tmp_path):
    process, pid = blocked
    process.kill()
    process.wait(PATIENCE)
    segment.set_rate(FAST, fallback=FAST)
    until(lambda: not Path(f"/proc/{pid}").exists() or " Z" in Path(f"/proc/{pid}/stat").read_text())
    assert (tmp_path / "out").read_bytes() == bytes(2 * MIB)
    assert segment.counts().written == 2 * MIB


def test_one_that_is_killed_gives_back_what_it_promised(segment, blocked):
    _, pid = blocked
    before = segment.promised()
    os.kill(pid, signal.SIGKILL)
    until(lambda: segment.promised() == before - MIB)
    assert segment.counts().written == 0


def test_under_a_controller(writer, tmp_path):
    with Controller(tmp_path) as controller:
        options = ("run", "--strict", "--volume", "8MB", "--json", "--")
        words = (*options, str(writer), str(tmp_path / "out"), "8", str(MIB))
        process = controller.begin("still", *words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 2:
            pytest.skip(err.decode())
        told = json.loads(err)
        assert (process.returncode, told["moved"], told["past"]) == (0, 8 * MIB, 0.0)
        assert told["seconds"] >= (8 * MIB - 2 * MIB) / RATE


def test_inside_another_run(writer, tmp_path):
    """That one's bucket is paid from; its library does nothing for a program that loads none."""
    with Controller(tmp_path) as controller:
        inner = (
            sys.executable,
            "-m",
            "penstock",
            "run",
            "--strict",
            "--json",
            "--",
            writer,
            tmp_path / "out",
            "8",
            MIB,
        )
        process = controller.begin(
            "both", "run", "--json", "--", *map(str, inner), stdout=subprocess.DEVNULL, stderr=-1
        )
        _, err = process.communicate(timeout=PATIENCE)
        if process.returncode == 2:
            pytest.skip(err.decode())
        within, around = map(json.loads, err.splitlines())
        assert (within["moved"], within["exit"], process.returncode) == (8 * MIB, 0, 0)
        assert around["moved"] >= 8 * MIB and around["past"] == 0.0
        assert within["seconds"] >= (8 * MIB - 2 * MIB) / RATE


def forbid_seccomp() -> None:
    """What a container does: no filter can be made from now on."""
    number = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0


def test_where_it_cannot_be_had_nothing_runs(tmp_path):
    with Controller(tmp_path) as controller:
        options = ("run", "--strict", "touch", str(tmp_path / "out"))
        process = controller.begin("not", *options, stderr=subprocess.PIPE, preexec_fn=forbid_seccomp)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, err
    assert err.decode() == "penstock: --strict cannot be had: seccomp filters are not permitted here\n"
    assert not (tmp_path / "out").exists()
