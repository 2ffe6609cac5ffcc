"""Compile every kernel once, for all processes to come: `python tests/kernels/warm_up.py`.

As many processes as there are processors take the next part whenever they are free, the longest first. What several
parts need is in one that comes before them: two that compile it at the same time would do so twice.
"""

from __future__ import annotations

import multiprocessing
import os
import pkgutil
from importlib import import_module

PARTS = (
    "penstock.engine.tier.loop",
    "penstock.engine.machine.loop",
    "penstock.engine.targets.loop",
    "penstock.policies.sharing",
    "penstock.metrics",
    "penstock.policies",
    "penstock.engine",
    "penstock.studies",
    "penstock.traces",
    "penstock.workloads",
    "penstock.kernels",
)


def load(name: str) -> None:
    """Import a module, or all that a package contains, and with it compile or load its kernels."""
    for info in pkgutil.walk_packages(getattr(import_module(name), "__path__", ()), f"{name}."):
        import_module(info.name)


def main() -> None:
    """All parts; a kernel that does not compile ends it."""
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as processes:
        processes.map(load, PARTS, chunksize=1)


if __name__ == "__main__":
    main()
