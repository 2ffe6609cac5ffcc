"""The first command on a machine: another process compiles the engine while the command's own compiles policies."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.cli.rooms import kernels

_LOOP = "engine.link.loop"
_CODE = "import penstock.studies.share"


@contextmanager
def engine_compiled_meanwhile() -> Iterator[None]:
    """Nothing happens if the engine was compiled before, or if there is but one processor."""
    if len(os.sched_getaffinity(0)) < 2 or not kernels.cold.is_cold(_LOOP):
        yield
        return
    # Should it fail, this process compiles the engine itself, and says what is wrong.
    child = subprocess.Popen(
        [sys.executable, "-c", _CODE],
        env={**os.environ, "PENSTOCK_QUIET": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
        child.wait()
    finally:
        child.kill()
        child.wait()
