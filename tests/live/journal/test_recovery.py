"""Back from the dead: the state is what the records say, whatever the last write left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from penstock.live.core import ControllerState
from penstock.live.journal import JournalDamaged, JournalError, raise_epoch, read, recover
from penstock.live.journal import reader as reading_module
from penstock.live.journal import writer as writing_module
from penstock.live.journal.folder import segments, snapshots
from penstock.live.journal.segment import load, pack
from penstock.wire.messages import Post

from .conftest import SETTINGS, Life


def newest(folder: Path) -> Path:
    return segments(folder)[-1].path


def copied(folder: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(folder, to))


def by_hand(folder: Path, count: int) -> bytes:
    """The state after so many records, applied one by one."""
    state = ControllerState(SETTINGS)
    for seq, time, record in read(folder):
        if seq > count:
            break
        state.apply(time, record)
    return state.snapshot()


def test_a_folder_that_was_never_used_starts_warm_and_one_that_was_emptied_does_not(tmp_path: Path) -> None:
    found = recover(tmp_path, SETTINGS)
    assert (found.state, found.epoch, found.warm, found.last_seq) == (None, 0, True, 0)
    raise_epoch(tmp_path)
    assert not recover(tmp_path, SETTINGS).warm
    assert not recover(tmp_path / "..", SETTINGS, grace=True).warm


def test_a_killed_controller_comes_back_warm_with_its_state(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.kill()
    found = recover(life.folder, SETTINGS)
    assert found.state is not None
    assert found.state.snapshot() == life.expected()
    assert (found.epoch, found.warm, found.last_seq) == (1, True, life.pen.seq)
    assert found.last_time == [entry.time for entry in read(life.folder)][-1]


def test_numbers_go_on_from_life_to_life(live: Callable[..., Life]) -> None:
    for number in range(1, 4):
        life = live(time=100.0 * number)
        assert life.epoch == number
        life.some_work(rounds=1)
        life.kill()
    numbers = [entry.seq for entry in read(life.folder)]
    assert numbers == list(range(1, life.pen.seq + 1))
    assert len(segments(life.folder)) == 3


def test_torn_at_every_byte_of_the_last_record(live: Callable[..., Life], tmp_path: Path) -> None:
    life = live()
    life.some_work()
    life.kill()
    whole = newest(life.folder).read_bytes()
    contents = load(newest(life.folder))
    assert contents is not None
    last = 8 + len(contents.records[-1])
    before, after = by_hand(life.folder, life.pen.seq - 1), by_hand(life.folder, life.pen.seq)
    assert before != after
    for length in range(len(whole) - last, len(whole) + 1):
        folder = copied(life.folder, tmp_path / "copy")
        newest(folder).write_bytes(whole[:length])
        found = recover(folder, SETTINGS)
        complete = length == len(whole)
        assert found.state is not None and found.warm
        assert found.state.snapshot() == (after if complete else before)
        assert found.last_seq == life.pen.seq - (not complete)
        assert newest(folder).stat().st_size == (len(whole) if complete else len(whole) - last)
        assert recover(folder, SETTINGS).warm


def test_torn_in_the_middle_of_the_last_turn(live: Callable[..., Life], tmp_path: Path) -> None:
    """One write carries several records; any beginning of it may have arrived."""
    life = live()
    life.some_work()
    life.kill()
    whole = newest(life.folder).read_bytes()
    for length in range(len(whole) - 400, len(whole), 7):
        folder = copied(life.folder, tmp_path / "copy")
        newest(folder).write_bytes(whole[:length])
        found = recover(folder, SETTINGS)
        assert found.warm and found.state is not None
        assert found.state.snapshot() == by_hand(life.folder, found.last_seq)


def test_on_another_boot_it_comes_back_cold(live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch) -> None:
    life = live()
    life.some_work()
    life.kill()
    monkeypatch.setattr(reading_module, "boot_id", lambda: "another")
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and not found.warm
    assert found.state.snapshot() == life.expected()


def test_holes_after_a_loss_of_power_are_cut_and_cold(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    life = live()
    life.some_work()
    life.kill()
    whole = bytearray(newest(life.folder).read_bytes())
    whole[-300:-200] = bytes(100)
    newest(life.folder).write_bytes(whole)
    monkeypatch.setattr(reading_module, "boot_id", lambda: "another")
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and not found.warm and 0 < found.last_seq < life.pen.seq
    assert recover(life.folder, SETTINGS).last_seq == found.last_seq


def test_damage_on_the_same_boot_is_refused_and_grace_sets_it_aside(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.kill()
    whole = bytearray(newest(life.folder).read_bytes())
    whole[-300] ^= 1
    newest(life.folder).write_bytes(whole)
    with pytest.raises(JournalDamaged, match=r"the record at byte [\d,]+ is damaged.*--grace"):
        recover(life.folder, SETTINGS)
    assert newest(life.folder).read_bytes() == whole
    with pytest.raises(JournalDamaged, match="is damaged"):
        list(read(life.folder))
    found = recover(life.folder, SETTINGS, grace=True)
    assert (found.state, found.warm, found.last_seq, found.epoch) == (None, False, 0, 1)
    assert found.set_aside is not None and [path.name for path in found.set_aside.iterdir()]
    again = live(time=200.0)
    assert again.epoch == 2
    again.some_work()


def test_grace_on_a_whole_journal_only_starts_cold(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.kill()
    found = recover(life.folder, SETTINGS, grace=True)
    assert found.state is not None and not found.warm and found.last_seq == life.pen.seq


def test_killed_before_the_first_record_of_a_cold_start_it_stays_cold(live: Callable[..., Life]) -> None:
    first = live()
    first.some_work()
    first.kill()
    second = live(time=120.0, grace=True)
    second.kill()
    path = newest(second.folder)
    contents = load(path)
    assert contents is not None and len(contents.records) == 1
    assert recover(second.folder, SETTINGS).warm
    os.truncate(path, path.stat().st_size - len(pack(contents.records[0])))
    assert not recover(second.folder, SETTINGS).warm


def test_a_missing_segment_is_damage(live: Callable[..., Life]) -> None:
    for number in range(3):
        life = live(time=100.0 * (number + 1))
        life.some_work(rounds=1)
        life.kill()
    segments(life.folder)[1].path.unlink()
    with pytest.raises(JournalDamaged, match="some are missing"):
        recover(life.folder, SETTINGS)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 1}, "has version 1; this penstock reads 2 to 4"),
        ({"rows": [[]]}, "not in the form of version 4"),
    ],
)
def test_a_snapshot_that_cannot_be_taken_is_refused_with_its_name(
    live: Callable[..., Life], change: dict[str, object], words: str
) -> None:
    life = live()
    life.some_work()
    life.pen.snapshot_now(life.now, msgspec.msgpack.encode(msgspec.msgpack.decode(life.core.state.snapshot()) | change))
    life.kill()
    with pytest.raises(JournalError, match=rf"\.snap: the snapshot .*{words}"):
        recover(life.folder, SETTINGS)


def test_a_journal_of_a_newer_version_is_refused_even_with_grace(live: Callable[..., Life]) -> None:
    life = live()
    life.kill()
    whole = bytearray(newest(life.folder).read_bytes())
    whole[len(b"penstock journal\n") + 3] = 9
    newest(life.folder).write_bytes(whole)
    for grace in (False, True):
        with pytest.raises(JournalError, match="newer penstock"):
            recover(life.folder, SETTINGS, grace)


def test_a_snapshot_and_what_came_after_give_the_same(live: Callable[..., Life], tmp_path: Path) -> None:
    life = live()
    life.some_work()
    life.pen.snapshot(life.now, life.snapshot())
    for session in (1, 2):
        life.step(after=0.5)
        life.say(session, Post(9, 50, 50, 700.0))
    life.kill()
    assert len(snapshots(life.folder)) == 1
    assert [file.path.suffix for file in segments(life.folder)] == [".gz", ".pj"]
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.warm
    assert found.state.snapshot() == life.expected()
    snapshots(life.folder)[-1].path.unlink()
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.state.snapshot() == by_hand(life.folder, life.pen.seq)


def test_a_damaged_snapshot_is_passed_over(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.pen.snapshot(life.now, life.snapshot())
    life.kill()
    path = snapshots(life.folder)[-1].path
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    found = recover(life.folder, SETTINGS)
    assert found.state is not None and found.state.snapshot() == by_hand(life.folder, life.pen.seq)


def test_a_crash_between_every_pair_of_writes(
    live: Callable[..., Life], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder as every call to the system left it, through a start, work, a snapshot and the packing."""
    life = live()
    life.some_work(rounds=1)
    life.kill()
    photos: list[Path] = []

    def photographed(name: str) -> Callable[..., object]:
        original = getattr(os, name)

        def call(*args: object, **options: object) -> object:
            photos.append(copied(life.folder, tmp_path / f"photo{len(photos)}"))
            return original(*args, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("open", "write", "ftruncate", "replace", "unlink"):
            patch.setattr(os, name, photographed(name))
        again = Life(life.folder, time=300.0)
        again.some_work(rounds=1)
        again.pen.snapshot(again.now, again.snapshot())
        again.pen._keeper.submit(lambda: None).result()
        again.kill()
    assert len(photos) > 30
    last_seq = 0
    for photo in photos:
        found = recover(photo, SETTINGS)
        assert found.warm and found.state is not None
        assert found.last_seq >= last_seq
        last_seq = found.last_seq
        if not snapshots(photo):
            assert found.state.snapshot() == by_hand(photo, last_seq)
    assert last_seq == again.pen.seq
    assert found.state is not None and found.state.snapshot() == again.expected()


def test_reading_goes_on_while_somebody_writes(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    path = newest(life.folder)
    with path.open("ab") as stream:
        stream.write(b"\0\0\0\x40half a record")
    assert [entry.seq for entry in read(life.folder)][-1] == life.pen.seq


def test_constants_are_the_documented_ones() -> None:
    assert (writing_module.SNAPSHOT_RECORDS, writing_module.SNAPSHOT_SECONDS, writing_module.SYNC_EVERY) == (
        50_000,
        300.0,
        0.005,
    )
