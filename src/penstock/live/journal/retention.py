"""What becomes of a controller's old journal: packed once a snapshot covers it, gone after a week or two gigabytes.

Snapshots are thinned to one an hour, so that a replay can begin at any hour that is kept; the two newest always stay.
"""

from __future__ import annotations

import gzip
import os
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from penstock.live.journal.folder import SegmentFile, SnapshotFile, segments, snapshots, write_durably

HOUR = 3600.0


@dataclass(frozen=True)
class Retention:
    """How long, and how much."""

    seconds: float = 7 * 86_400.0
    bytes: float = float(2 << 30)


def keep(folder: Path, retention: Retention, covered: int) -> None:
    """Pack what the snapshot after record `covered` has made history, then drop the oldest."""
    for file in _closed(segments(folder), covered):
        if file.path.suffix != ".gz":
            _pack(file.path)
    for old in _superfluous(snapshots(folder)):
        old.path.unlink(missing_ok=True)
    _drop(folder, retention, covered)


def _closed(files: list[SegmentFile], covered: int) -> list[SegmentFile]:
    """Those whose records all came before a snapshot; never the newest, which is being written."""
    return [file for file, following in pairwise(files) if following.first <= covered + 1]


def _pack(path: Path) -> None:
    status = path.stat()
    packed = path.with_name(f"{path.name}.gz")
    write_durably(packed, gzip.compress(path.read_bytes(), 6, mtime=0))
    os.utime(packed, (status.st_atime, status.st_mtime))
    path.unlink()


def _superfluous(files: list[SnapshotFile]) -> list[SnapshotFile]:
    """All but the newest two and the first of every hour."""
    seen: set[int] = set()
    superfluous = []
    for file in files[:-2]:
        hour = int(file.path.stat().st_mtime // HOUR)
        if hour in seen:
            superfluous.append(file)
        seen.add(hour)
    return superfluous


def _drop(folder: Path, retention: Retention, covered: int) -> None:
    """Whole stretches, each from one snapshot to the next, since a replay begins at a snapshot."""
    states, now = snapshots(folder), time.time()
    for following in states[1:]:
        if following.seq > covered:
            return
        files = segments(folder)
        stretch = [file for file in _closed(files, following.seq) if file.first <= following.seq]
        kept = [file.path for file in files] + [file.path for file in snapshots(folder)]
        total = sum(path.stat().st_size for path in kept)
        old = all(now - file.path.stat().st_mtime > retention.seconds for file in stretch)
        if not old and total <= retention.bytes:
            return
        for file in stretch:
            file.path.unlink(missing_ok=True)
        for state in snapshots(folder):
            if state.seq < following.seq:
                state.path.unlink(missing_ok=True)
