"""What the numbers of a run depend on besides the campaign."""

from __future__ import annotations

from importlib.metadata import version

PACKAGES = ("penstock", "numpy", "numba")


def versions() -> tuple[tuple[str, str], ...]:
    """Each package with its version."""
    return tuple((name, version(name)) for name in PACKAGES)
