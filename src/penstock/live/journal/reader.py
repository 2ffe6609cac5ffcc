"""Reading the journal that a controller may be writing at this moment, and bringing one back to life from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec

from penstock.live.core import ControllerSettings, ControllerState
from penstock.live.core import records as records_of_core
from penstock.live.core.records import StateChange
from penstock.live.core.snapshots import BadSnapshot
from penstock.live.journal.errors import JournalDamaged, JournalError
from penstock.live.journal.folder import (
    SegmentFile,
    boot_id,
    explained,
    read_epoch,
    segments,
    snapshots,
    sync_folder,
)
from penstock.live.journal.segment import COLD, Header, SegmentContents, SnapshotHeader, load, load_snapshot


class JournalEntry(NamedTuple):
    """A record, its number and its time."""

    seq: int
    time: float
    record: StateChange


@dataclass(frozen=True)
class Recovered:
    """What a controller starts from."""

    state: ControllerState | None
    epoch: int  # of the last start; the next one is higher
    warm: bool  # same boot and nothing lost: all charges are known
    last_seq: int
    last_time: float
    header: Header | None  # of the newest segment
    set_aside: Path | None = None  # where a damaged journal went
    saved: int = 0  # the last record that the newest snapshot holds


def read(directory: str | os.PathLike[str]) -> Iterator[JournalEntry]:
    """All records that are still kept, oldest first. A record that is being written ends the reading."""
    for contents in segments_from(Path(directory), 0):
        yield from entries(contents)
        if contents.damaged:
            raise damage(contents)


def entries(contents: SegmentContents) -> Iterator[JournalEntry]:
    """The records of a segment."""
    for payload in contents.records:
        try:
            found = records_of_core.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalDamaged(f"{contents.path}: has a record that cannot be read ({error}); {COLD}") from None
        yield JournalEntry(found.seq, found.t, found.record)


def recover(directory: str | os.PathLike[str], settings: ControllerSettings, grace: bool = False) -> Recovered:
    """The state that the journal leads to; `grace` starts cold, and sets a damaged journal aside.

    The folder must be locked: a record that was not finished is cut off. A folder that was never used starts warm, for
    nobody can hold a lease of a controller that never was.
    """
    folder = Path(directory)
    epoch = read_epoch(folder)
    try:
        found = _recover(folder, settings, epoch)
    except JournalDamaged:
        if not grace:
            raise
        return Recovered(None, epoch, False, 0, 0.0, None, set_aside(folder, epoch, "damaged"))
    return found if not grace else Recovered(**{**vars(found), "warm": False})


def _recover(folder: Path, settings: ControllerSettings, epoch: int) -> Recovered:
    moment, state = newest_snapshot(folder, settings)
    last_seq, last_time = (moment.seq, moment.time) if moment else (0, 0.0)
    header, whole = None, True
    files = segments(folder)
    for file in _needed(files, last_seq):
        contents = load(file.path)
        if contents is None:
            _drop_unfinished(file, files)
            continue
        header, whole = contents.header, _mend(contents, file is files[-1]) and whole
        # One that died before its first record has not yet said that it began without knowing all charges.
        whole = whole and (header.warm or bool(contents.records))
        for seq, time, record in entries(contents):
            if seq <= last_seq:
                continue
            if seq != last_seq + 1:
                raise JournalDamaged(f"{file.path}: record {seq} follows record {last_seq}; some are missing; {COLD}")
            state = state or ControllerState(settings)
            state.apply(time, record)
            last_seq, last_time = seq, time
    never_used = header is None and epoch == 0
    warm = never_used or (header is not None and header.boot_id == boot_id() and whole)
    return Recovered(state, epoch, warm, last_seq, last_time, header, saved=moment.seq if moment else 0)


def newest_snapshot(
    folder: Path, settings: ControllerSettings, at_most: int | None = None
) -> tuple[SnapshotHeader | None, ControllerState | None]:
    """The newest moment whose state is intact; None, None if there is none."""
    for file in reversed(snapshots(folder)):
        if at_most is not None and file.seq > at_most:
            continue
        if (found := load_snapshot(file.path)) is not None:
            moment, state = found
            try:
                return moment, ControllerState.restore(state, settings)
            except BadSnapshot as error:
                raise JournalError(f"{file.path}: {error}; give another folder") from None
    return None, None


def _needed(files: list[SegmentFile], seq: int) -> list[SegmentFile]:
    """The segments that may hold a record after `seq`; the newest always, since its header tells of the boot."""
    return [file for file, following in pairwise(files) if following.first > seq + 1] + files[-1:]


def segments_from(folder: Path, seq: int) -> Iterator[SegmentContents]:
    """The segments that may hold a record after `seq`, also while somebody packs them."""
    for file in _needed(segments(folder), seq):
        try:
            contents = load(file.path)
        except JournalError:
            packed = file.path.with_name(f"{file.path.name}.gz")  # it may have been packed just now
            if file.path.exists() or not packed.exists():
                raise
            contents = load(packed)
        if contents is not None:
            yield contents


def _drop_unfinished(file: SegmentFile, files: list[SegmentFile]) -> None:
    """A segment whose opening was not finished holds nothing, if it is the newest one."""
    if file is not files[-1]:
        raise JournalDamaged(f"{file.path}: has no header, yet others follow it; {COLD}")
    with explained(file.path, "written"):
        file.path.unlink()
        sync_folder(file.path.parent)


def _mend(contents: SegmentContents, newest: bool) -> bool:
    """Cut what was not finished off the newest segment; whether nothing that was sent is missing.

    A record that a killed process began was never acted on, so nothing is lost by it. After a loss of power the last
    records may be gone or have holes; then the boot is another and the start is cold anyway.
    """
    if contents.intact == contents.size:
        return True
    other_boot = contents.header.boot_id != boot_id()
    if not newest or (contents.damaged and not other_boot):
        raise damage(contents)
    with explained(contents.path, "written"):
        os.truncate(contents.path, contents.intact)
        file = os.open(contents.path, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    return not other_boot


def damage(contents: SegmentContents) -> JournalDamaged:
    """What to say of a segment that is damaged."""
    place = f"{contents.path}: the record at byte {contents.intact:,} is damaged"
    return JournalDamaged(f"{place}, so the rates in force are not known; {COLD}")


def set_aside(folder: Path, epoch: int, why: str) -> Path:
    """Put the files of a journal that nobody goes on with where nobody stumbles over them again."""
    place = folder / f"{why}-{epoch}"
    with explained(folder, "written"):
        place.mkdir(mode=0o700, exist_ok=True)
        for path in (*(file.path for file in segments(folder)), *(file.path for file in snapshots(folder))):
            path.rename(place / path.name)
        sync_folder(folder)
    return place
