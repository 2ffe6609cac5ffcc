"""A job for tests of the preloaded library: a segment, programs that run with the library, and what was counted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from penstock.client.segment import Counts, Segment
from penstock.client.shim.library import preloaded

PATIENCE = 120.0  # seconds
FAST = 1e12  # bytes/s: everybody pays, and nobody waits
PROGRAMS = Path(__file__).resolve().parent / "programs"


class Job:
    """What programs of one job moved, in a folder of its own."""

    def __init__(self, folder: Path, library: Path) -> None:
        self.folder, self.library = folder, library
        self.segment = Segment.make(folder / "segment")
        self.segment.set_rate(FAST, fallback=FAST)

    @property
    def env(self) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK")}
        return {**plain, "LD_PRELOAD": preloaded(self.library, plain), "PENSTOCK_BUCKET": str(self.segment.path)}

    def run(self, *command: str | Path, **env: str) -> subprocess.CompletedProcess[bytes]:
        """A program to its end, which must be a good one."""
        words = [str(word) for word in command]
        done = subprocess.run(
            words, cwd=self.folder, env=self.env | env, capture_output=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, (done.returncode, done.stderr.decode(errors="replace")[-2000:])
        return done

    def start(self, *command: str | Path, **more: Any) -> subprocess.Popen[bytes]:
        """A program that runs on."""
        return subprocess.Popen([str(word) for word in command], cwd=self.folder, env=self.env, **more)

    @property
    def counts(self) -> Counts:
        return self.segment.counts()

    def moved_since(self, before: Counts) -> tuple[int, int]:
        """Bytes written and read."""
        return self.counts.written - before.written, self.counts.read - before.read


def needs(*names: str) -> list[str]:
    """Programs that a test needs."""
    found = [shutil.which(name) for name in names]
    for name, path in zip(names, found, strict=True):
        if path is None:
            pytest.skip(f"{name} is not installed")
    return [str(path) for path in found]


Compile = Callable[..., Path]


def compiled(folder: Path, compiler: str, source: str, flags: Sequence[str] = (), name: str = "") -> Path:
    """A program of `programs/`; skipped without its compiler."""
    (found,) = needs(compiler)
    out = folder / (name or f"{Path(source).stem}-{compiler}")
    if not out.exists():
        command = [found, "-o", str(out), str(PROGRAMS / source), *flags]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
    return out
