"""An MPI program whose ranks write a checkpoint together: one announces for all of its node, and all of them pace.

    mpirun -n 4 python mpi.py 200 /scratch/run     # 200 MB from each rank; without a folder the bytes go nowhere

One connection and one bucket for each node, not for each rank. On several nodes there are as many members of the job,
and the controller splits the job's rate among them. Needs mpi4py and penstock, nothing else.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mpi4py import MPI

from penstock.client import io_phase

BLOCK = bytes(1 << 20)


def main() -> None:
    """Write, and say how fast that was."""
    world = MPI.COMM_WORLD
    node = world.Split_type(MPI.COMM_TYPE_SHARED)  # the ranks that share this node's memory; made once
    volume = int(float(sys.argv[1]) * 1e6)
    place = Path(sys.argv[2]) / f"rank{world.rank}.dat" if len(sys.argv) > 2 else Path("/dev/null")
    world.Barrier()
    began = time.monotonic()
    with io_phase(volume, node=node) as phase, place.open("wb", buffering=0) as file:
        left = volume
        while left > 0:
            left -= phase.write(file, BLOCK[:left])
    seconds = world.allreduce(time.monotonic() - began, MPI.MAX)
    moved = world.allreduce(phase.done)
    waited = world.gather(phase.waited)
    if world.rank == 0:
        print(f"{moved:.0f} bytes in {seconds:.2f} s, {moved / seconds / 1e6:.1f} MB/s; ranks waited {min(waited):.1f}")


if __name__ == "__main__":
    main()
