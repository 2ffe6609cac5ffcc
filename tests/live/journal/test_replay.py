"""Replay: the same decisions again, bit for bit, or a precise report of the one that differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from penstock.live.core import records
from penstock.live.core.events import Connected, Frame, Identity
from penstock.live.journal import JournalError, read, replay
from penstock.live.journal.folder import segments
from penstock.live.journal.retention import Retention, keep
from penstock.live.journal.segment import load, opening, pack
from penstock.wire.messages import Admin, Post

from .conftest import SETTINGS, Life


def decisions(folder: Path) -> int:
    return sum(isinstance(entry.record, records.RatesDecided) for entry in read(folder))


@pytest.mark.parametrize(
    "sharing", ["fair-share", "fcfs", "greedy-yield", "lookahead-greedy-yield", "set-10", "list-fifo"]
)
def test_every_decision_comes_out_again(live: Callable[..., Life], sharing: str) -> None:
    life = live(settings=replace(SETTINGS, sharing=sharing))
    life.some_work(jobs=4, rounds=3)
    life.kill()
    found = replay(life.folder)
    assert found.decisions == decisions(life.folder) > 5
    assert (found.different, found.differences) == (0, [])
    assert (found.first, found.last, found.records) == (1, life.pen.seq, life.pen.seq)


def test_lives_snapshots_and_a_change_of_policy_are_followed(live: Callable[..., Life]) -> None:
    for number in range(3):
        life = live(time=100.0 * (number + 1))
        life.some_work(jobs=3, rounds=2)
        life.pen.snapshot(life.now, life.snapshot())
        admin = Identity("peer", 0, "admin")
        life.step(Connected(99, admin), Frame(99, Admin(1, "policy", {"name": ["fcfs", "greedy-yield"][number % 2]})))
        life.say(1, Post(5, 90, 90, 900.0), after=0.5)
        life.step(after=1.0)
        life.kill()
    found = replay(life.folder)
    assert found.decisions == decisions(life.folder)
    assert found.different == 0


def test_a_journal_whose_beginning_is_gone_is_replayed_from_a_snapshot(live: Callable[..., Life]) -> None:
    life = live()
    for _ in range(4):
        life.some_work(jobs=2, rounds=1)
        life.pen.snapshot(life.now, life.snapshot())
        life.pen._keeper.submit(lambda: None).result()
    life.some_work(jobs=2, rounds=1)
    life.kill()
    keep(life.folder, Retention(bytes=1.0), life.pen.seq)
    found = replay(life.folder)
    assert found.first > 1 and found.decisions == decisions(life.folder) > 0
    assert found.different == 0


def test_other_settings_after_a_restart_are_followed(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.kill()
    changed = replace(SETTINGS, resources=(replace(SETTINGS.resources[0], capacity=300.0),))
    life = live(time=200.0, settings=changed)
    life.some_work()
    life.kill()
    found = replay(life.folder)
    assert found.decisions == decisions(life.folder)
    assert found.different == 0


def rewritten(folder: Path, change: Callable[[records.RatesDecided], records.RatesDecided]) -> int:
    """The number of a decision in the middle that was made another."""
    path = segments(folder)[0].path
    contents = load(path)
    assert contents is not None
    entries = [records.decode(record) for record in contents.records]
    places = [place for place, entry in enumerate(entries) if isinstance(entry.record, records.RatesDecided)]
    place = places[len(places) // 2]
    entry = entries[place]
    assert isinstance(entry.record, records.RatesDecided)
    contents.records[place] = records.encode(entry.seq, entry.t, change(entry.record))
    path.write_bytes(opening(contents.header) + b"".join(pack(record) for record in contents.records))
    return entry.seq


def test_a_decision_that_differs_is_named(live: Callable[..., Life]) -> None:
    life = live()
    life.some_work()
    life.kill()
    seq = rewritten(
        life.folder,
        lambda it: msgspec.structs.replace(
            it, rates=[(app, d, t, r * (1 + 2e-16) + 1e-9) for app, d, t, r in it.rates]
        ),
    )
    found = replay(life.folder)
    assert found.differences[0].seq == seq
    text = str(found.differences[0])
    assert text.startswith(f"record {seq}, t = ") and "fair-share gives" in text and "the code is the same" in text
    assert found.differences[0].to_dict()["recorded"]["policy"] == "fair-share"


def test_a_view_that_differs_and_a_policy_that_changed_are_told(
    live: Callable[..., Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    life = live()
    life.some_work()
    life.kill()
    seq = rewritten(life.folder, lambda it: msgspec.structs.replace(it, digest=it.digest ^ 1))
    module = import_module("penstock.live.journal.replay")  # the room has a function of this name
    monkeypatch.setattr(module, "policy_code", lambda policy: "changed")
    found = replay(life.folder)
    assert (found.different, found.differences[0].seq) == (1, seq)
    assert "is shown something else now" in str(found.differences[0])
    assert "the policy's code has changed since" in str(found.differences[0])


def test_a_folder_without_a_journal_is_a_sentence(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(JournalError, match="there is no journal; expected the folder that"):
            replay(folder)
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot be read"):
        replay(tmp_path / "file")
