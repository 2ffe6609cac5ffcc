"""One controller per folder, and epochs that only rise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.live.journal import JournalError, Lock, raise_epoch, read_epoch


def test_two_controllers_cannot_share_a_journal(tmp_path: Path) -> None:
    lock = Lock(tmp_path)
    with pytest.raises(JournalError, match=rf"in use by process {os.getpid()}; stop that controller first"):
        Lock(tmp_path)
    lock.close()
    Lock(tmp_path).close()


def test_the_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, sys, pathlib; from penstock.live.journal import Lock; Lock(pathlib.Path(sys.argv[1])); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False).returncode == 9
    Lock(tmp_path).close()


def test_the_folder_is_made_and_is_private(tmp_path: Path) -> None:
    Lock(tmp_path / "a" / "b").close()
    assert (tmp_path / "a" / "b").stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written"):
        Lock(tmp_path / "file" / "journal")


def test_epochs_rise_from_one(tmp_path: Path) -> None:
    assert read_epoch(tmp_path) == 0
    assert [raise_epoch(tmp_path) for _ in range(3)] == [1, 2, 3]
    assert raise_epoch(tmp_path, at_least=10) == 10
    assert raise_epoch(tmp_path, at_least=5) == 11


def test_an_epoch_is_not_taken_again_when_its_file_was_lost(tmp_path: Path) -> None:
    (tmp_path / "00000007-000000000001.pj").write_bytes(b"")
    assert raise_epoch(tmp_path) == 8


def test_an_epoch_that_is_no_number_is_refused(tmp_path: Path) -> None:
    (tmp_path / "epoch").write_text("seven\n")
    with pytest.raises(JournalError, match="'seven'"):
        raise_epoch(tmp_path)


def test_a_crash_anywhere_leaves_the_old_epoch_or_the_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raise_epoch(tmp_path)
    for name in ("open", "write", "fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, crash)
            with pytest.raises(Crash):
                raise_epoch(tmp_path)
        assert read_epoch(tmp_path) in (1, 2)
    assert raise_epoch(tmp_path) in (2, 3)


class Crash(BaseException):
    pass


def crash(*args: object, **options: object) -> None:
    raise Crash
