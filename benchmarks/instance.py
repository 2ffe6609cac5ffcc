"""A compiled scenario as a small binary file that the peers in C and C++ read.

Little endian: the magic `PENF`, int64 m and k, doubles capacity, begin and end, then the arrays start[m], progress[m],
release[m], first[m + 1] (int64), work[k], volume[k], limit[k] and tail[m] (doubles unless said otherwise).
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from penstock.engine.program import Program

MAGIC = b"PENF"


def write_instance(program: Program, path: Path) -> None:
    """Write what the fluid loop needs of `program`; names and nodes play no part in it."""
    header = struct.pack("<qqddd", len(program.start), len(program.work), program.capacity, program.begin, program.end)
    arrays = (
        program.start,
        program.progress,
        program.release,
        program.first,
        program.work,
        program.volume,
        program.limit,
        program.tail,
    )
    with path.open("wb") as file:
        file.write(MAGIC + header)
        for array in arrays:
            file.write(np.asarray(array).astype("<i8" if array is program.first else "<f8").tobytes())
