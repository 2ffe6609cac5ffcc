"""What a job moved without paying, from readings of a /proc that is made up."""

from __future__ import annotations

import os
import shutil
from itertools import count
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client.agent.bypass import WORTH_TELLING, Bypass, Bytes, Found

MIB = 1 << 20
JOB = ("7", 0)
USERS = {JOB: os.getuid()}
GCONV = "7f00-8e00 r--s 00000000 fe:00 17 /usr/lib/gconv/gconv-modules.cache"
MAPPED = "10000000-10200000 rw-s 00000000 fe:00 17 /scratch/field"
HERE, ELSEWHERE = os.makedev(0xFE, 0), os.makedev(0xFE, 1)


class Proc:
    """A folder like /proc, with processes of one's own; all are static unless a program is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._static = folder / "static"
        self._static.write_bytes(b"\x7fELF\x02".ljust(64, b"\0"))

    def put(self, pid: int, read: int = 0, written: int = 0, parent: int = 1, env: str = "SLURM_JOB_ID=7") -> Path:
        """A process, or what it has moved since."""
        process = self.folder / str(pid)
        (process / "fd").mkdir(parents=True, exist_ok=True)
        fields = ["S", str(parent), *["0"] * 17, "123", "0"]
        (process / "stat").write_text(f"{pid} (a ) b) {' '.join(fields)}\n")
        (process / "environ").write_text(env.replace(" ", "\0") + "\0")
        (process / "io").write_text(f"rchar: 1\nread_bytes: {read}\nwrite_bytes: {written}\ncancelled_write_bytes: 0\n")
        if not (process / "exe").exists():
            self.runs(pid, self._static)
        return process

    def runs(self, pid: int, program: Path) -> None:
        (self.folder / str(pid) / "exe").unlink(missing_ok=True)
        (self.folder / str(pid) / "exe").symlink_to(program)

    def end(self, *pids: int) -> None:
        for pid in pids:
            shutil.rmtree(self.folder / str(pid))


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path)


def look(bypass: Bypass, paid: Bytes = Bytes(), devices: tuple[int, ...] = ()) -> Found | None:  # noqa: B008 - frozen
    return bypass.compare(USERS, devices, {JOB: paid}).get(JOB)


def test_it_is_told_from_64_mib_that_nobody_paid_for(proc: Proc) -> None:
    bypass = Bypass(proc.folder)
    proc.put(10, written=100 * MIB)
    assert look(bypass, Bytes(written=36 * MIB + 1)) is None
    assert look(bypass, Bytes(written=36 * MIB)) == Found(WORTH_TELLING, "static")


def test_what_was_read_from_memory_pays_for_nothing_written(proc: Proc) -> None:
    proc.put(10, read=10 * MIB, written=80 * MIB)
    assert look(Bypass(proc.folder), Bytes(read=500 * MIB)) == Found(80 * MIB, "static")


def test_a_direction_that_is_not_paced_is_not_missing(proc: Proc) -> None:
    proc.put(10, read=500 * MIB, written=80 * MIB)
    assert look(Bypass(proc.folder), Bytes(read=inf)) == Found(80 * MIB, "static")


def test_small_processes_count_together(proc: Proc) -> None:
    for pid in range(10, 20):
        proc.put(pid, written=8 * MIB)
    assert look(Bypass(proc.folder)) == Found(80 * MIB, "static")


def test_a_child_that_was_waited_for_counts_once(proc: Proc) -> None:
    """The kernel has added it to its parent by then."""
    bypass = Bypass(proc.folder)
    proc.put(10)
    proc.put(11, parent=10)
    proc.put(12, written=90 * MIB, parent=11)
    assert look(bypass) == Found(90 * MIB, "static")
    proc.end(11, 12)
    proc.put(10, written=90 * MIB)
    assert look(bypass) == Found(90 * MIB, "static")


def test_one_that_nobody_of_the_job_waits_for_counts_on(proc: Proc) -> None:
    bypass = Bypass(proc.folder)
    proc.put(5, env="PATH=/bin")
    proc.put(10, written=90 * MIB, parent=5)
    assert look(bypass) == Found(90 * MIB, "static")
    proc.end(10)
    proc.put(11, written=10 * MIB, parent=5)
    assert look(bypass) == Found(100 * MIB, "static")
    bypass.forget(JOB)
    proc.end(11)
    assert look(bypass) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_total_is_what_was_moved_whoever_ends(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    """Processes in a line, of which the youngest end and are waited for: the sum is never more, and at last all."""
    proc = Proc(tmp_path_factory.mktemp("proc"))
    bypass, line, numbers, total = Bypass(proc.folder), [[9, 80]], count(10), 80
    for moved, what in steps:
        if what == 0 and len(line) > 1:
            (pid, amount) = line.pop()
            line[-1][1] += amount
            proc.end(pid)
        elif what == 1:
            line.append([next(numbers), 0])
        line[-1][1] += moved
        total += moved
        for place, (pid, amount) in enumerate(line):
            proc.put(pid, written=amount * MIB, parent=line[place - 1][0] if place else 1)
        assert look(bypass) == Found(total * MIB, "static")


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ("SLURM_JOB_ID=7 PENSTOCK_JOB=mine", True),
        ("PENSTOCK_JOB=7", True),
        ("SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1", False),
        ("SLURM_JOB_ID=8", False),
    ],
)
def test_whose_a_process_is(proc: Proc, env: str, found: bool) -> None:
    proc.put(10, written=90 * MIB, env=env)
    assert (look(Bypass(proc.folder)) is not None) == found


def test_a_process_may_become_the_jobs_after_the_first_look(proc: Proc) -> None:
    """It was seen before it ran its own program."""
    bypass = Bypass(proc.folder)
    proc.put(10, env="PATH=/bin")
    assert look(bypass) is None
    proc.put(10, written=90 * MIB)
    assert look(bypass) is not None


@pytest.mark.parametrize(
    ("maps", "devices", "words"),
    [
        ([MAPPED], (), "mmap"),
        ([MAPPED], (HERE,), "mmap"),
        ([MAPPED], (ELSEWHERE,), ""),
        ([MAPPED.replace("rw-s", "rw-p")], (), ""),
        ([GCONV], (), ""),
        ([GCONV], (HERE,), ""),
        ([MAPPED.replace("/scratch/", "/dev/shm/")], (), ""),
        (["1000-2000 rw-s 00000000 00:0f 3 /[aio] (deleted)"], (), "libaio"),
        (["1000-2000 rw-s 00000000 00:0f 3 /[aio] (deleted)"], (ELSEWHERE,), ""),
    ],
)
def test_how_it_went_past(proc: Proc, maps: list[str], devices: tuple[int, ...], words: str) -> None:
    """A program with a loader, which is named for what it has mapped, if that is where files are paced."""
    process = proc.put(10, written=90 * MIB)
    proc.runs(10, Path("/bin/sh").resolve())
    (process / "maps").write_text("\n".join([*maps, "7fff-8fff rw-p 00000000 00:00 0 [stack]"]) + "\n")
    found = look(Bypass(proc.folder), devices=devices)
    assert ("" if found is None else found.words) == words


def test_a_static_program_without_a_paced_file_is_not_named(proc: Proc) -> None:
    process = proc.put(10, written=90 * MIB)
    bypass = Bypass(proc.folder)
    assert look(bypass, devices=(ELSEWHERE,)) is None
    (process / "fd" / "3").symlink_to(proc.folder)
    assert look(bypass, devices=(proc.folder.stat().st_dev,)) == Found(90 * MIB, "static")
