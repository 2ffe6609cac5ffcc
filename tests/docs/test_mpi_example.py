"""The MPI example under a real controller: rank 0 announces for all, and all of them together keep to the rate."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from cli.controlled import PATIENCE, PATIENT, RATE, Controller, until

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "live" / "mpi.py"
RANKS, EACH = 3, 20_000_000
RUN = f"{PATIENT}import runpy; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
MISSING = [
    *(["mpirun (Debian: openmpi-bin or mpich)"] if shutil.which("mpirun") is None else []),
    *(["mpi4py"] if find_spec("mpi4py") is None else []),
]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=f"there is no {' and no '.join(MISSING)}")]


def started(program: str, *arguments: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A Python program as ranks; Open MPI must be told that there may be more of them than cores, and root is fine."""
    version = subprocess.run(["mpirun", "--version"], env=env, capture_output=True, text=True, check=False).stdout
    more = ["--oversubscribe"] if "Open MPI" in version else []
    return subprocess.run(
        ["mpirun", *more, "-n", str(RANKS), sys.executable, "-c", program, *arguments],
        env={**env, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def ranks_meet() -> None:
    """Skip where mpi4py finds another MPI than mpirun's, or none: then every rank is the only one of its world."""
    world = "from mpi4py import MPI; MPI.COMM_WORLD.rank or print(MPI.COMM_WORLD.size, *MPI.get_vendor())"
    done = started(world, env=dict(os.environ))
    told = (done.stdout + done.stderr).strip() or f"exit code {done.returncode}"
    if not told.startswith(f"{RANKS} "):
        pytest.skip(f"mpirun and mpi4py do not belong together: {told.splitlines()[0]}")


def write(folder: Path, env: dict[str, str]) -> tuple[float, float]:
    """Bytes and seconds, as the program says; every rank has written its file."""
    done = started(RUN, str(EACH / 1e6), str(folder), env=env)
    assert done.returncode == 0, done.stderr
    assert [(folder / f"rank{rank}.dat").stat().st_size for rank in range(RANKS)] == [EACH] * RANKS
    told = re.match(r"(\d+) bytes in ([\d.]+) s", done.stdout)
    assert told is not None, done.stdout
    return float(told[1]), float(told[2])


def test_ranks_share_what_their_node_is_granted(tmp_path: Path) -> None:
    with Controller(tmp_path) as controller:
        moved, seconds = write(tmp_path, controller.user("mpi"))
        known = until(lambda: (found := controller.known("mpi")) and not found["active"] and found)
    assert moved == RANKS * EACH
    assert seconds >= 0.95 * moved / RATE
    assert (known["operations"], known["moved"]) == (1, moved)  # one announcement for all


def test_without_a_controller_nobody_is_paced(tmp_path: Path) -> None:
    with Controller(tmp_path) as controller:
        moved, _ = write(tmp_path, controller.user("mpi", PENSTOCK="off"))
        assert controller.known("mpi") is None
    assert moved == RANKS * EACH
