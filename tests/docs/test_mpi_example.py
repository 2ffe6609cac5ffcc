"""The MPI example under a real controller: rank 0 announces for all, and all of them together keep to the rate."""

from __future__ import annotations

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
    *(["mpirun (Debian: openmpi-bin)"] if shutil.which("mpirun") is None else []),
    *(["mpi4py"] if find_spec("mpi4py") is None else []),
]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=f"there is no {' and no '.join(MISSING)}")]


def write(folder: Path, env: dict[str, str]) -> tuple[float, float]:
    """Bytes and seconds, as the program says; every rank has written its file."""
    done = subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(RANKS), sys.executable, "-c", RUN, str(EACH / 1e6), folder],
        env={**env, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
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
