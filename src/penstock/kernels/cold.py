"""Whether a module's kernels were compiled here before, so that its next import only loads them."""

from __future__ import annotations

from penstock.kernels.compile import CACHE
from penstock.kernels.sources import PACKAGE, state_of


def is_cold(module: str) -> bool:
    """Whether importing a module such as "engine.link.loop" compiles."""
    if CACHE is None:
        return False  # nothing that another process compiles could be loaded
    file = PACKAGE.joinpath(*module.split(".")).with_suffix(".py")
    return not (CACHE / f"{module}-{state_of(file)}").is_dir()
