"""Beginning with the journal of another controller, or with nothing, where one's own says what was long ago."""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path

from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.journal.errors import JournalError
from penstock.live.journal.folder import explained, read_epoch, segments, snapshots, write_durably
from penstock.live.journal.reader import Recovered, entries, newest_snapshot, segments_from, set_aside


def take_over(folder: Path, source: Path | None, settings: ControllerSettings) -> Recovered:
    """The state that another's journal leads to, or none if it is not to be had; the own one is set aside.

    The other may still be writing: what it writes from now on it will never act on. Nothing of it is changed. The
    start is cold in any case, for the end of what it wrote may be in the memory of its host.
    """
    epoch = read_epoch(folder)
    aside = set_aside(folder, epoch, "before") if segments(folder) or snapshots(folder) else None
    if source is not None:
        with suppress(JournalError, OSError):
            return _read_only(source, settings, epoch, aside)
    return Recovered(None, epoch, False, 0, 0.0, None, aside)


def _read_only(source: Path, settings: ControllerSettings, epoch: int, aside: Path | None) -> Recovered:
    moment, state = newest_snapshot(source, settings)
    seq, time = (moment.seq, moment.time) if moment else (0, 0.0)
    header = None
    for contents in segments_from(source, seq):
        header = contents.header
        for entry in entries(contents):
            if entry.seq == seq + 1:
                state = state or ControllerState(settings)
                state.apply(entry.time, entry.record)
                seq, time = entry.seq, entry.time
    return Recovered(state, epoch, False, seq, time, header, aside, saved=seq)


def journal_id(folder: Path) -> str:
    """What tells this journal from all others; made at its first use."""
    path = folder / "id"
    with explained(path, "written"):
        if not path.exists():
            write_durably(path, f"{uuid.uuid4().hex}\n".encode())
        return path.read_text("ascii").strip()
