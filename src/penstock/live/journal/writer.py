"""The controller's pen: every turn's records with one write, before anything of that turn is sent.

What was written survives the death of the process at once, since the kernel has it. A thread brings it to the disk
while there is something to bring, at most every 5 ms; a loss of power may cost that much, and the next boot starts cold
for that reason. When the disk refuses, records wait in memory and `problem` says why: the shell raises no rate then.
"""

from __future__ import annotations

import os
import threading
import time as clocks
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec

from penstock.live.core import records as records_of_core
from penstock.live.journal.errors import JournalError
from penstock.live.journal.folder import explained, segment_path, snapshot_path, sync_folder, write_all, write_durably
from penstock.live.journal.retention import Retention, keep
from penstock.live.journal.segment import Header, SnapshotHeader, opening, pack, snapshot_bytes
from penstock.wire.messages import Message

SYNC_EVERY = 0.005  # seconds
SNAPSHOT_RECORDS = 50_000
SNAPSHOT_SECONDS = 300.0
MOST_WAITING = 64 << 20  # bytes of records that wait for the disk

Told = Callable[[str], None]


class JournalWriter:
    """Writes records, in the folder that its caller has locked.

    `header` describes this start; `last_seq` is the last record before it. `on_synced` is called from another thread
    with the number of the last record on the disk; `on_trouble` with what went wrong beside the writing itself. `saved`
    is the last record in a snapshot: one that is killed again and again must not leave ever more to read.
    """

    def __init__(
        self,
        folder: Path,
        header: Header,
        retention: Retention | None = None,
        on_synced: Callable[[int], None] | None = None,
        on_trouble: Told = lambda text: None,
        saved: int | None = None,
    ) -> None:
        self.folder, self._header = folder, header
        self._retention = retention or Retention()
        self._on_synced, self._on_trouble = on_synced, on_trouble
        self.seq = header.first - 1
        self._waiting = bytearray()
        self._refused: str | None = None  # why the last write failed
        self._lost: str | None = None  # why records will never be in the segment: only a snapshot mends that
        self._changed = threading.Condition()
        self._retired: list[int] = []
        self._written = self._synced = self.seq
        self._stopping = False
        self._snapshot_seq, self._snapshot_time = self.seq if saved is None else saved, header.time
        with explained(folder, "written"):
            self._file, self._good = self._begin(header)
        self._keeper = ThreadPoolExecutor(1, "penstock-keeper")
        self._syncer = threading.Thread(target=self._sync_forever, name="penstock-sync", daemon=True)
        self._syncer.start()

    @property
    def problem(self) -> str | None:
        """Why the journal is behind what happened; None while all is well."""
        return self._lost or self._refused

    @property
    def synced(self) -> int:
        """The number of the last record on the disk."""
        return self._synced

    @property
    def waiting(self) -> int:
        """Bytes of records that the disk has not taken."""
        return len(self._waiting)

    def write(self, time: float, records: Sequence[Message]) -> int:
        """Write the records of a turn; the number of the last one. Look at `problem` afterwards."""
        for record in records:
            self.seq += 1
            self._waiting += pack(records_of_core.encode(self.seq, time, record))
        if len(self._waiting) > MOST_WAITING:
            self._waiting.clear()
            self._lost = self._refused
        if records and not self._lost:
            self._flush()
        return self.seq

    def retry(self, time: float, state: Callable[[], bytes]) -> bool:
        """Try again what the disk refused; whether all is well now."""
        if self._lost:
            self._start_over(time, state())
        elif self._refused:
            self._flush()
        return self.problem is None

    def snapshot_due(self, time: float) -> bool:
        """Whether a restart would have much to read."""
        new = self.seq - self._snapshot_seq
        old = time - self._snapshot_time
        return self.problem is None and (new >= SNAPSHOT_RECORDS or (new > 0 and old >= SNAPSHOT_SECONDS))

    def snapshot(self, time: float, state: bytes) -> None:
        """Begin a new segment; another thread writes the snapshot, packs old segments and drops the oldest."""
        if self.problem is None and self.seq > self._snapshot_seq:
            self._rotate(time)
            self._keeper.submit(self._keep, SnapshotHeader(self.seq, time, self._header.epoch), state)
        self._snapshot_seq, self._snapshot_time = self.seq, time

    def snapshot_now(self, time: float, state: bytes) -> None:
        """The same for a start, before anybody is listened to: it is on the disk when this returns."""
        with explained(self.folder, "written"):
            self._write_snapshot(SnapshotHeader(self.seq, time, self._header.epoch), state)
        self._snapshot_seq, self._snapshot_time = self.seq, time

    def close(self) -> None:
        """Bring everything to the disk and stop."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._syncer.join()
        self._keeper.shutdown()
        os.close(self._file)

    def _begin(self, header: Header) -> tuple[int, int]:
        """A new segment that can be written to, and its length."""
        path = segment_path(self.folder, header.epoch, header.first)
        start = opening(header)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o640)
        try:
            write_all(file, start)
            os.fsync(file)
            sync_folder(self.folder)
        except OSError:
            os.close(file)
            path.unlink(missing_ok=True)
            raise
        return file, len(start)

    def _flush(self) -> None:
        try:
            if self._refused:
                os.ftruncate(self._file, self._good)
            write_all(self._file, bytes(self._waiting))
        except OSError as error:
            self._fail(error)
            return
        self._good += len(self._waiting)
        self._waiting.clear()
        self._refused = None
        with self._changed:
            self._written = self.seq
            self._changed.notify_all()

    def _fail(self, error: OSError) -> None:
        self._refused = _reason(error)
        # A half record that stays is cut off before the next try, or at the next start.
        with suppress(OSError):
            os.ftruncate(self._file, self._good)

    def _rotate(self, time: float) -> None:
        """Go on in a new segment. The old one is on the disk before: a hole in it could not be told from damage."""
        header = msgspec.structs.replace(self._header, first=self.seq + 1, time=time, wall=clocks.time())
        try:
            os.fdatasync(self._file)
            file, good = self._begin(header)
        except OSError as error:
            self._on_trouble(f"no new segment was begun: {_reason(error)}")
            return
        self._change_file(file, good)

    def _change_file(self, file: int, good: int) -> None:
        with self._changed:
            self._retired.append(self._file)
            self._file, self._good = file, good

    def _start_over(self, time: float, state: bytes) -> None:
        """A snapshot of now and a new segment: what came between is not in the journal, and nobody needs it."""
        header = msgspec.structs.replace(self._header, first=self.seq + 1, time=time, wall=clocks.time())
        try:
            self._write_snapshot(SnapshotHeader(self.seq, time, self._header.epoch), state)
            file, good = self._begin(header)
        except OSError as error:
            self._lost = _reason(error)
            return
        self._change_file(file, good)
        self._waiting.clear()
        self._lost = self._refused = None
        self._snapshot_seq, self._snapshot_time = self.seq, time
        with self._changed:
            self._written = self.seq
            self._changed.notify_all()

    def _write_snapshot(self, header: SnapshotHeader, state: bytes) -> None:
        write_durably(snapshot_path(self.folder, header.seq), snapshot_bytes(header, state))

    def _keep(self, header: SnapshotHeader, state: bytes) -> None:
        try:
            self._write_snapshot(header, state)
            keep(self.folder, self._retention, header.seq)
        except (OSError, JournalError) as error:
            self._on_trouble(f"no snapshot was written: {error}")

    def _sync_forever(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._written > self._synced or self._retired or self._stopping)
                retired, self._retired = self._retired, []
                file, target = self._file, self._written
                stopping = self._stopping
            for old in retired:
                os.close(old)
            if target > self._synced:
                self._sync(file, target)
            if stopping:
                return
            clocks.sleep(SYNC_EVERY)

    def _sync(self, file: int, target: int) -> None:
        try:
            os.fdatasync(file)
        except OSError as error:
            # The kernel forgets what it could not write, so that a second try would say that all is well.
            self._lost = _reason(error)
            self._synced = target
            return
        self._synced = target
        if self._on_synced:
            self._on_synced(target)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
