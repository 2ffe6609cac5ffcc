"""Build the peers and run them: a loop in C (the yardstick) and the same instance in SimGrid; flows over links there.

`fluid` is plain -O3; `fluid-simd` is the same source with its reductions vectorised, the hardest loop to beat.
A peer whose compiler or library is missing is skipped, and the reason is said.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SOURCES = Path(__file__).resolve().parent
TARGET = SOURCES.parents[1] / "build" / "peers"

# Without contraction into fused multiply-adds the results can be compared with other engines to the last digit.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off", "-Wall", "-Wextra")


class Recipe(NamedTuple):
    """How one peer is compiled."""

    compiler: str
    source: str
    options: tuple[str, ...]
    libraries: tuple[str, ...]


FLUIDS = {
    "fluid": Recipe("gcc", "fluid.c", ("-std=c11", "-Wno-unknown-pragmas"), ("-lm",)),
    "fluid-simd": Recipe("gcc", "fluid.c", ("-std=c11", "-fopenmp-simd"), ("-lm",)),
    "simgrid": Recipe("g++", "fluid_simgrid.cpp", ("-std=c++17",), ("-lsimgrid",)),
}
RECIPES = FLUIDS | {"shares": Recipe("g++", "shares_simgrid.cpp", ("-std=c++17",), ("-lsimgrid",))}


class PeerRun(NamedTuple):
    """What a peer reports; `seconds` is the fastest repeat, `progress` is in ideal seconds per application."""

    events: int
    seconds: float
    checksum: float
    progress: NDArray[np.float64]


def missing(name: str) -> str | None:
    """Why the peer `name` cannot be built here; None if it can."""
    recipe = RECIPES[name]
    if shutil.which(recipe.compiler) is None:
        return f"{recipe.compiler} is not on the PATH"
    if "-lsimgrid" in recipe.libraries and not _simgrid_links():
        return "SimGrid is not installed (Debian: libsimgrid-dev)"
    return None


def _simgrid_links() -> bool:
    program = "#include <simgrid/forward.h>\nint main() {}\n"
    with tempfile.TemporaryDirectory() as folder:
        command = ["g++", "-x", "c++", "-", "-lsimgrid", "-o", str(Path(folder) / "probe")]
        return subprocess.run(command, input=program, text=True, capture_output=True, check=False).returncode == 0


def build_peer(name: str, target: Path = TARGET) -> Path:
    """Compile the peer `name` into `target` unless it is newer than its sources."""
    recipe, binary = RECIPES[name], target / name
    sources = [SOURCES / recipe.source, SOURCES / "instance.h", Path(__file__)]
    if binary.exists() and binary.stat().st_mtime >= max(source.stat().st_mtime for source in sources):
        return binary
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [recipe.compiler, *FLAGS, *recipe.options, str(sources[0]), *recipe.libraries, "-o", str(binary)], check=True
    )
    return binary


def build_all(target: Path = TARGET) -> dict[str, Path]:
    """Build every peer that this machine can build, and say which are skipped and why."""
    built: dict[str, Path] = {}
    for name in RECIPES:
        if reason := missing(name):
            print(f"{name}: skipped, {reason}", file=sys.stderr)
        else:
            built[name] = build_peer(name, target)
    return built


def run_peer(binary: Path, instance: Path, repeats: int = 3) -> PeerRun:
    """Run a peer on an instance file and read what it prints."""
    command = [str(binary), str(instance), str(repeats), "--progress"]
    finished = subprocess.run(command, text=True, capture_output=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{binary.name} failed on {instance.name}: {finished.stderr.strip()}")
    summary, *progress = finished.stdout.splitlines()
    events, seconds, checksum = summary.split()
    return PeerRun(int(events), float(seconds), float(checksum), np.array(progress, dtype=np.float64))


class SharesRun(NamedTuple):
    """What SimGrid says of flows over links: when each is over; `seconds` is the fastest repeat."""

    events: int
    seconds: float
    ends: NDArray[np.float64]


def run_shares(binary: Path, instance: Path, repeats: int = 3) -> SharesRun:
    """Run flows over links in SimGrid, and read what it prints."""
    command = [str(binary), str(instance), str(repeats)]
    finished = subprocess.run(command, text=True, capture_output=True, check=False)
    if finished.returncode != 0:
        raise RuntimeError(f"{binary.name} failed on {instance.name}: {finished.stderr.strip()}")
    summary, *ends = finished.stdout.splitlines()
    events, seconds = summary.split()
    return SharesRun(int(events), float(seconds), np.array(ends, dtype=np.float64))


if __name__ == "__main__":
    for peer, path in build_all().items():
        print(f"{peer}: {path.relative_to(TARGET.parents[1])}")
