"""Compile every kernel once, for all processes to come: `python tests/kernels/warm_up.py`.

The loop of the burst buffers takes longer to compile than all others together, so it has a process of its own.
"""

from __future__ import annotations

import multiprocessing
import pkgutil
from importlib import import_module

LONGEST = "penstock.engine.tier.loop"
# Parts with kernels, none of which needs the longest.
OTHERS = ("penstock.metrics", "penstock.policies", "penstock.engine.link", "penstock.engine.targets")
ALL = (
    "penstock.kernels",
    "penstock.metrics",
    "penstock.policies",
    "penstock.engine",
    "penstock.studies",
    "penstock.traces",
    "penstock.workloads",
)


def load(*packages: str) -> None:
    """Import all that they contain, and with it compile or load its kernels."""
    for package in packages:
        for info in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
            import_module(info.name)


def main() -> None:
    """The others beside the longest; then whatever is left, in the process that has most of it."""
    beside = multiprocessing.get_context("spawn").Process(target=load, args=OTHERS)
    beside.start()
    import_module(LONGEST)
    beside.join()
    load(*ALL)
    if beside.exitcode:
        raise SystemExit(f"a kernel did not compile (exit code {beside.exitcode})")


if __name__ == "__main__":
    main()
