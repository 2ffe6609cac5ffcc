"""A disk that refuses, lies, or comes back; what is kept and for how long."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from penstock.live.journal import JournalError, Retention, read, recover
from penstock.live.journal import writer as writing_module
from penstock.live.journal.folder import segments, snapshots
from penstock.live.journal.retention import keep

from .conftest import SETTINGS, Life

write = os.write


def full(limit: int) -> Callable[[int, bytes], int]:
    """A disk on which only so many bytes fit."""
    left = limit

    def refuse(file: int, data: bytes) -> int:
        nonlocal left
        if left <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = write(file, data[:left])
        left -= taken
        return taken

    return refuse


@pytest.mark.parametrize("room", [0, 1, 7, 8, 30, 100])
def test_a_full_disk_keeps_records_waiting_and_takes_them_later(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    life = live()
    life.some_work(rounds=1)
    assert life.pen.problem is None
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full(room))
        life.some_work(jobs=2, rounds=1)
        assert life.pen.problem == "no space left on device"
        assert life.pen.waiting > 0
        # Killed now, it would come back to a state that was true, with nothing torn.
        found = recover(life.folder, SETTINGS)
        assert found.warm and 0 < found.last_seq < life.pen.seq
        assert not life.pen.retry(life.now, life.snapshot)
    assert life.pen.retry(life.now, life.snapshot)
    assert (life.pen.problem, life.pen.waiting) == (None, 0)
    assert [entry.seq for entry in read(life.folder)] == list(range(1, life.pen.seq + 1))
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.state.snapshot() == life.expected()


def test_a_disk_full_for_long_costs_records_but_not_the_state(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    life = live()
    life.some_work(rounds=1)
    monkeypatch.setattr(writing_module, "MOST_WAITING", 500)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full(0))
        life.some_work(jobs=3, rounds=2)
        assert life.pen.waiting <= 500
        assert not life.pen.retry(life.now, life.snapshot)
    assert life.pen.retry(life.now, life.snapshot)
    life.some_work(jobs=1, rounds=1)
    life.kill()
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.warm
    assert found.state.snapshot() == life.expected()


def test_what_a_failing_sync_lost_is_mended_by_a_snapshot(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    life = live()

    def fail(file: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        life.some_work(rounds=1)
        wait_for(lambda: life.pen.problem is not None and life.pen.synced == life.pen._written)
        assert life.pen.problem == "input/output error"
    assert life.pen.retry(life.now, life.snapshot)
    assert snapshots(life.folder)
    life.kill()
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.state.snapshot() == life.expected()


def test_a_folder_that_cannot_be_written_is_a_sentence(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    life = live()
    life.kill()
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(JournalError, match=r"cannot be written \(read-only file system\); give a folder"):
        Life(life.folder)


def test_everything_is_synced_soon_and_told(live: Callable[..., Life]) -> None:
    life = live()
    told: list[int] = []
    life.pen._on_synced = told.append
    life.some_work()
    wait_for(lambda: told and told[-1] == life.pen.seq)
    assert life.pen.synced == life.pen.seq
    assert told == sorted(told)
    assert len(told) < life.pen.seq


def test_a_snapshot_is_due_by_records_or_by_time(live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch) -> None:
    life = live()
    life.pen.snapshot(life.now, life.snapshot())
    assert not life.pen.snapshot_due(life.now + 1e6)
    life.some_work()
    assert not life.pen.snapshot_due(life.now)
    assert life.pen.snapshot_due(life.now + 300.0)
    monkeypatch.setattr(writing_module, "SNAPSHOT_RECORDS", 10)
    assert life.pen.snapshot_due(life.now)


def test_a_controller_that_is_killed_again_and_again_leaves_no_more_to_read(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    life = live()
    life.some_work()
    life.pen.snapshot(life.now, life.snapshot())
    saved = life.pen.seq
    life.some_work(rounds=1)
    life.kill()
    again = live(time=life.now)
    assert (again.found.saved, again.pen.seq > life.pen.seq > saved) == (saved, True)
    monkeypatch.setattr(writing_module, "SNAPSHOT_RECORDS", again.pen.seq - saved + 1)
    assert not again.pen.snapshot_due(again.now)
    monkeypatch.setattr(writing_module, "SNAPSHOT_RECORDS", again.pen.seq - saved)
    assert again.pen.snapshot_due(again.now)


def many_snapshots(life: Life, count: int = 5) -> None:
    for _ in range(count):
        life.some_work(jobs=2, rounds=1)
        life.pen.snapshot(life.now, life.snapshot())
        life.pen._keeper.submit(lambda: None).result()


def test_old_segments_are_packed_and_readable(live: Callable[..., Life]) -> None:
    life = live()
    many_snapshots(life)
    files = segments(life.folder)
    assert [file.path.suffix for file in files] == [".gz"] * (len(files) - 1) + [".pj"]
    assert [entry.seq for entry in read(life.folder)] == list(range(1, life.pen.seq + 1))
    assert len(snapshots(life.folder)) == 3  # one of this hour, and the two newest


def test_what_is_old_goes_up_to_a_snapshot_that_stays(live: Callable[..., Life]) -> None:
    life = live()
    many_snapshots(life)
    week_ago = time.time() - 8 * 86_400
    middle = snapshots(life.folder)[-2].seq
    for file in segments(life.folder):
        if file.first <= middle:
            os.utime(file.path, (week_ago, week_ago))
    keep(life.folder, Retention(), life.pen.seq)
    kept = [entry.seq for entry in read(life.folder)]
    assert kept == list(range(middle + 1, life.pen.seq + 1))
    assert snapshots(life.folder)[0].seq == middle
    life.kill()
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.state.snapshot() == life.expected()


def test_too_much_goes_but_never_what_recovery_needs(live: Callable[..., Life]) -> None:
    life = live()
    many_snapshots(life)
    life.some_work(jobs=1, rounds=1)
    keep(life.folder, Retention(bytes=1.0), snapshots(life.folder)[-1].seq)
    assert len(snapshots(life.folder)) == 1
    life.kill()
    found = recover(life.folder, SETTINGS)
    assert found.warm and found.state is not None
    assert found.state.snapshot() == life.expected()


def wait_for(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30.0
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_files_are_private(live: Callable[..., Life]) -> None:
    """But for the group, which gets into the folder only if the server lets it."""
    life = live()
    many_snapshots(life, 1)
    assert Path(life.folder).stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o037 == 0 for path in Path(life.folder).iterdir())
