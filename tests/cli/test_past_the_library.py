"""`penstock run` of real programs that go past the library: each is named with its way, and no other."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.controlled import PATIENCE, Controller, until
from penstock.client.shim.library import NoLibrary, library

MIB = 1 << 20
SOURCE = Path(__file__).parents[1] / "client" / "shim" / "programs" / "past.c"
WAYS = {"static": "write", "mmap": "mmap", "libaio": "libaio", "io_uring": "io_uring"}
# Pays for all that it writes, and has a file mapped all the while.
MAPS_TOO = """
import mmap, os, sys, time
with open(sys.argv[1], "w+b", 0) as out, open(sys.argv[1] + ".map", "w+b") as other:
    other.truncate(4 << 20)
    mapped = mmap.mmap(other.fileno(), 4 << 20)
    mapped[: 4 << 20] = bytes(4 << 20)
    for _ in range(80):
        out.write(bytes(1 << 20))
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """One without a loader, and one with."""
    compiler = shutil.which("gcc") or pytest.skip("gcc is not installed")
    try:
        library()
    except NoLibrary as reason:
        pytest.skip(str(reason))
    folder = tmp_path_factory.mktemp("programs")
    for name, options in (("static", ["-static"]), ("dynamic", [])):
        subprocess.run([compiler, "-O1", *options, "-o", folder / name, SOURCE], check=True)
    return folder


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    """Fast: what is paced here waits for nothing."""
    with Controller(tmp_path_factory.mktemp("controller"), capacity=4e9) as running:
        yield running


class Run:
    """A command under `penstock run` that writes, and ends when it is told."""

    def __init__(self, controller, folder, job, *command):
        self.controller, self.job, self.go = controller, job, folder / f"{job}.go"
        words = [*command, str(folder / job), str(self.go)]
        self.process = controller.begin(job, "run", "--json", "--", *map(str, words), stderr=-1)

    def end(self):
        """The lines that it said, and its summary."""
        self.go.touch()
        _, err = self.process.communicate(timeout=PATIENCE)
        if self.process.returncode == 77:
            pytest.skip("the kernel does not allow this here")
        *lines, summary = err.decode().splitlines()
        assert self.process.returncode == 0, lines
        return lines, json.loads(summary)

    def seen(self):
        """All bytes that the controller knows of, whichever way they went."""
        known = self.controller.known(self.job)
        return known["outside"] + known["moved"]

    def named(self):
        """What the controller knows to have gone past the library, all of it; None if the command has ended."""
        known = self.controller.known(self.job)
        all_of_it = known and known["outside"] >= 80 * MIB
        return known["outside_by"] if all_of_it else self.process.poll() is not None and ["ended"]


@pytest.mark.parametrize("way", WAYS)
def test_what_goes_past_the_library_is_named(controller, programs, tmp_path, way):
    """By the controller while it runs, and by the run at its end."""
    program = programs / ("static" if way == "static" else "dynamic")
    run = Run(controller, tmp_path, way, program, WAYS[way])
    try:
        named = until(run.named)
        until(lambda: run.seen() >= 80 * MIB)  # it ends with what was seen last
    finally:
        lines, told = run.end()
    assert named == [way]
    (sentence,) = lines
    assert sentence.startswith("penstock: not all of this command was paced: ") and sentence.endswith(f"({way})")
    assert 80 * MIB <= told["past"] + told["moved"] <= 84 * MIB


def test_what_pays_is_not_named(controller, programs, tmp_path):
    """Not dd, nor a program that maps a little too, nor either beside a run of the same job that is."""
    copy = 'dd if=/dev/zero of="$1" bs=1M count=80 status=none; while [ ! -e "$2" ]; do sleep 0.05; done'
    dd = Run(controller, tmp_path, "dd", "sh", "-c", copy, "sh")
    maps = Run(controller, tmp_path, "maps", sys.executable, "-c", MAPS_TOO)
    files = [tmp_path / "dd", tmp_path / "maps"]
    until(lambda: all(file.exists() and file.stat().st_size == 80 * MIB for file in files))
    # When this one has been found, the others were looked at too: they do that as often.
    words = (str(programs / "static"), "write", str(tmp_path / "other"), str(maps.go))
    other = controller.begin("maps", "run", *words, stderr=-1)
    until(lambda: controller.known("maps")["outside"])
    for run in (dd, maps):
        lines, told = run.end()
        assert (lines, told["past"]) == ([], 0.0)
        assert told["moved"] >= 80 * MIB
    _, err = other.communicate(timeout=PATIENCE)
    assert b"(static)" in err
