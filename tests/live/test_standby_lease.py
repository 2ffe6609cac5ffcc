"""The rules of the lease, one by one, and the folder that it is kept in."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.live.standby.folder import SIZE, StandbyFolder, StandbyRecord, TermFolder, TermRecord
from penstock.live.standby.leadership import Leader, Standing, within
from penstock.live.standby.lease import Lease, LeaseSettings, Sight, Watch

SETTINGS = LeaseSettings(lease=4.0, renew=1.0, drift=0.001)
WAITING = 4.0 * 1.001 / 0.999


def test_the_wait_is_longer_than_a_lease_on_any_clock() -> None:
    assert pytest.approx(WAITING) == SETTINGS.waiting
    assert LeaseSettings(drift=0.001, stale=2.0).waiting == pytest.approx(WAITING + 2.002)


def test_a_lease_runs_from_before_and_a_late_renewal_is_none() -> None:
    lease = Lease(SETTINGS, 10.0)
    assert (lease.end, lease.due) == (14.0, 11.0)
    assert lease.renewed(11.0, 13.9) and lease.end == 15.0
    assert not lease.renewed(12.0, 15.0)
    assert lease.end == 15.0 and lease.valid(14.999) and not lease.valid(15.0)


def test_who_watches_counts_from_after_and_compares_before() -> None:
    watch, sight = Watch(SETTINGS, "mine"), Sight(3, 7, "other")
    assert watch.looked(0.0, 5.0, sight) is None
    assert watch.looked(5.0, 5.0 + WAITING + 9.0, sight) is None
    assert watch.looked(5.0 + WAITING, 5.0 + WAITING, Sight(3, 8, "other")) is None
    assert watch.looked(20.0, 20.0, Sight(3, 8, "other")) == 4


@pytest.mark.parametrize(
    ("sight", "term"),
    [(Sight(), 1), (Sight(2, 5, "other", released=True), 3), (Sight(2, 5, "mine"), 3), (Sight(2, 5, "other"), None)],
)
def test_for_whom_nobody_waits(sight: Sight, term: int | None) -> None:
    assert Watch(SETTINGS, "mine").looked(0.0, 0.1, sight) == term


def test_a_journal_without_a_name_is_nobodys() -> None:
    assert Watch(SETTINGS, "").looked(0.0, 0.1, Sight(1, 0, "")) is None


@given(some.lists(some.tuples(some.floats(0.0, 6.0), some.floats(0.0, 6.0)), max_size=30))
def test_no_renewal_lengthens_a_lease_beyond_what_was_written(steps: list[tuple[float, float]]) -> None:
    """Whenever it is valid, somebody began to write at most a lease ago; once it is over, it stays so."""
    lease, now, begun, over = Lease(SETTINGS, 0.0), 0.0, 0.0, False
    for pause, writing in steps:
        before = now + pause
        now = before + writing
        if lease.renewed(before, now):
            assert not over
            begun = before
        over = over or not lease.valid(now)
        assert not lease.valid(begun + SETTINGS.lease)


def record(term: int = 1, **changes: object) -> TermRecord:
    facts: dict[str, object] = {"renewals": 1, "holder": "h:1", "epoch": 5, "host": "h", "pid": 1, "address": "unix:/s"}
    return TermRecord(term, **{**facts, **changes})  # type: ignore[arg-type]


def test_a_term_is_claimed_once(tmp_path: Path) -> None:
    folder = TermFolder(tmp_path)
    assert folder.newest() == (Sight(), None)
    assert folder.claim(1) and not folder.claim(1)
    empty, nobody = folder.newest()
    assert empty.term == 1 and nobody is None and folder.newest()[0] == empty
    folder.write(record())
    assert folder.newest() == (Sight(1, 1, "h:1"), record())
    assert (tmp_path / "term-00000001").stat().st_size == SIZE
    assert folder.claim(2) and folder.last_epoch() == 5


def test_many_claim_and_one_has_it(tmp_path: Path) -> None:
    folder, got = TermFolder(tmp_path), []
    threads = [threading.Thread(target=lambda: got.append(folder.claim(7))) for _ in range(16)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(got) == [False] * 15 + [True]


def test_half_a_write_is_a_change_and_names_nobody(tmp_path: Path) -> None:
    folder = TermFolder(tmp_path)
    folder.claim(1)
    folder.write(record())
    (tmp_path / "term-00000001").write_bytes(b'{"term":1,"renew')
    sight, found = folder.newest()
    assert found is None and sight.holder == "" and sight != Sight(1, 1, "h:1")


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(StandbyFolder, match="is not there"):
        TermFolder(tmp_path / "none")


def test_who_stands_by_says_so_and_who_leads_sees_a_wish(tmp_path: Path) -> None:
    folder = TermFolder(tmp_path)
    folder.say_standing_by("ab12", StandbyRecord("h", 1, 1))
    assert folder.standbys() == {"ab12": StandbyRecord("h", 1, 1)}
    folder.forget_standby("ab12")
    assert folder.standbys() == {} and folder.wished() == 0
    folder.wish(3)
    assert folder.wished() == 3


def test_one_who_stands_by_follows_a_leader_that_gave_up(tmp_path: Path) -> None:
    folder, stop = TermFolder(tmp_path), threading.Event()
    first = Standing(folder, LeaseSettings(), "h:a", "unix:/a").follow(stop, lambda: 8)
    assert isinstance(first, Leader) and first.leads() and first.record.epoch == 8 and first.before is None
    first.begin(lambda problem: None, lambda: None)
    first.end(released=True)
    second = Standing(folder, LeaseSettings(), "h:b", "unix:/b", "b").follow(stop, lambda: 1)
    assert second is not None and second.record.term == 2 and second.record.epoch == 9
    assert second.before is not None and second.before.holder == "h:a" and second.record.journal == "b"
    stop.set()
    assert Standing(folder, LeaseSettings(), "h:c", "unix:/c").follow(stop, lambda: 1) is None
    assert [each for each in os.listdir(tmp_path) if each.startswith("standby")] == []


def test_where_a_journal_is_in_the_folder(tmp_path: Path) -> None:
    assert within(tmp_path / "shared" / "a", tmp_path / "shared") == "a"
    assert within(tmp_path / "a", tmp_path / "shared") == ""
