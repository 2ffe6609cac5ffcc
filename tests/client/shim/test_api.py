"""Programs that say what they do: with the header, in C and C++, and with the module, in Fortran."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from client.shim.job import PATIENCE, Job, compiled, needs
from penstock.client import shim

FOLDER = Path(shim.__path__[0])
HOW = {
    "C": ("gcc", "says.c", ("-O2", "-Wall", "-Werror", "-Wno-unused-parameter")),
    "C without optimisation": ("gcc", "says.c", ("-O0",)),
    "C, fixed address": ("gcc", "says.c", ("-O2", "-no-pie")),
    "C++": ("g++", "says.c", ("-w",)),
    "Fortran": ("gfortran", "says.f90", ()),
}


@pytest.mark.parametrize("how", HOW)
def test_what_a_program_says_is_heard_and_does_nothing_elsewhere(job: Job, built: Path, how: str) -> None:
    compiler, source, flags = HOW[how]
    needs(compiler)
    if compiler == "gfortran":  # its module comes first
        subprocess.run([compiler, "-c", str(FOLDER / "penstock.f90"), "-J", str(built)], cwd=built, check=True)
        flags = (str(built / "penstock.o"), "-I", str(built))
    program = compiled(built, compiler, source, (*flags, f"-I{FOLDER}"), f"says-{list(HOW).index(how)}")
    plain = subprocess.run([program, job.folder / "plain"], timeout=PATIENCE, check=False)
    assert plain.returncode == (0 if compiler == "gfortran" else 7)
    job.run(program, job.folder / "out")
    assert (job.folder / "out").stat().st_size == (job.folder / "plain").stat().st_size == 2_000_000
    told = job.counts
    assert (told.begun, told.ended, told.announced_write, told.announced_read) == (1, 1, 3_000_000, 0)
    assert told.written == 3_000_000  # two written, one that nobody sees; none of them twice
    assert told.bell
