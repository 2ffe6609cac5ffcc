"""On what and with what a benchmark ran."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, str]:
    """CPU, cores, load and versions, as shown above the table."""
    return {
        "cpu": _cpu(),
        "cores": str(len(os.sched_getaffinity(0))),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("penstock", "numba", "numpy")},
        "gcc": _said("gcc", "-dumpfullversion"),
        "simgrid": _said("pkg-config", "--modversion", "simgrid"),
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _said(*command: str) -> str:
    """The first line a command prints; a dash if there is none."""
    if shutil.which(command[0]) is None:
        return "–"
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return printed.splitlines()[0] if printed else "–"
