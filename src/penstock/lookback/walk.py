"""Looking back through a journal from a state that is known, one record after the other, with the state beside it.

No policy is asked: records say what was decided. A watcher sees the state after every record, and how long it lasted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Protocol

import msgspec

from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.journal import JournalError
from penstock.live.journal.folder import segments, snapshots
from penstock.live.journal.reader import JournalEntry, damage, entries, newest_snapshot, segments_from
from penstock.live.journal.segment import Header, SegmentContents, load_snapshot


class Watcher(Protocol):
    """Somebody who looks on."""

    def begun(self, state: ControllerState, wall: float) -> None:
        """The first state that is known; `wall` is the time of day, in seconds since 1970."""

    def happened(self, state: ControllerState, entry: JournalEntry, wall: float) -> None:
        """A record, and the state after it."""


def walk(directory: str | os.PathLike[str], watcher: Watcher, since: float = -inf) -> None:
    """Show a watcher all records, or those from the last snapshot before `since` (seconds since 1970) on."""
    folder, state, seq = Path(directory), None, 0
    for contents in _segments(folder, since):
        header = contents.header
        settings = _settings(folder, header)
        if state is None:
            state, seq, time = _state_before(folder, settings, header, since)
            watcher.begun(state, header.wall + time - header.time)
        elif settings != state.settings:
            state = ControllerState.restore(state.snapshot(), settings)
        for entry in entries(contents):
            if entry.seq > seq:
                seq = entry.seq
                state.apply(entry.time, entry.record)
                watcher.happened(state, entry, header.wall + entry.time - header.time)
        if contents.damaged:
            raise damage(contents)


def _segments(folder: Path, since: float) -> Iterator[SegmentContents]:
    """Those that follow the state to begin with."""
    files = segments(folder)
    if not files:
        raise JournalError(
            f"{folder}: there is no journal; expected the folder that `penstock serve --journal` was given"
        )
    start = _start(folder, since)
    if start == 0 and files[0].first != 1:
        raise JournalError(f"{folder}: begins at record {files[0].first}, and no snapshot says what was before")
    return segments_from(folder, start)


def _start(folder: Path, since: float) -> int:
    """The number of the record after which the state is known and the reading begins; 0 for the very first."""
    files = segments(folder)
    known = [file for file in snapshots(folder) if load_snapshot(file.path) is not None]
    early = [file.seq for file in known if file.path.stat().st_mtime <= since]
    if early:
        return early[-1]
    return 0 if files[0].first == 1 or not known else known[0].seq


def _state_before(
    folder: Path, settings: ControllerSettings, header: Header, since: float
) -> tuple[ControllerState, int, float]:
    """The state to begin with, the number of its last record, and its time."""
    start = _start(folder, since)
    moment, state = newest_snapshot(folder, settings, start) if start else (None, None)
    if state is None or moment is None:
        return ControllerState(settings), 0, header.time
    return state, start, moment.time


def _settings(folder: Path, header: Header) -> ControllerSettings:
    try:
        return msgspec.convert(header.settings, ControllerSettings)
    except msgspec.ValidationError as error:
        raise JournalError(f"{folder}: the settings in the journal cannot be read ({error})") from None
