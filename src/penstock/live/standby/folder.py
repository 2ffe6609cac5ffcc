"""The folder of the lease: one small file per term, which its leader writes again and again, and never more than that.

term-00000007      who leads, or led, in term 7: made by one alone (O_EXCL), then written in place and synced
standby-NAME       somebody who would take over, and that it is still there
wish               a term whose leader is asked to hand over

A file is opened anew for every look, so that a network file system asks its server. Files of terms are never removed:
a number that was claimed once must not be free again for somebody who has slept for a week.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path
from typing import TypeVar

import msgspec

from penstock.errors import PenstockError
from penstock.live.standby.lease import Sight

SIZE = 1024  # bytes of a file of a term: one write, whole or not at all on any file system worth the name
_TERM = re.compile(r"term-(\d{8,})")
_STANDBY = re.compile(r"standby-([0-9a-f]+)")
Anything = TypeVar("Anything")


class StandbyFolder(PenstockError):
    """The folder that two controllers share cannot be used."""


class TermRecord(msgspec.Struct, frozen=True):
    """What a leader says of itself."""

    term: int
    renewals: int
    holder: str
    epoch: int
    host: str
    pid: int
    address: str
    journal: str = ""  # in this folder; empty: it is elsewhere
    released: bool = False

    def sight(self) -> Sight:
        """What counts for who may lead."""
        return Sight(self.term, self.renewals, self.holder, self.released)


class StandbyRecord(msgspec.Struct, frozen=True):
    """One who would take over, and how often it has said so."""

    host: str
    pid: int
    count: int


class Wish(msgspec.Struct, frozen=True):
    """The leader of this term is asked to hand over."""

    term: int


class TermFolder:
    """All that is read and written there. Whatever fails raises an OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise StandbyFolder(f"the standby folder {path} is not there; make one that both hosts see, for both alone")
        if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
            raise StandbyFolder(f"the standby folder {path} cannot be read and written by user {os.geteuid()}")

    def newest(self) -> tuple[Sight, TermRecord | None]:
        """The newest term; a file that its maker has not filled, or is filling, is seen as the bytes that it has."""
        terms = [int(found[1]) for name in os.listdir(self.path) if (found := _TERM.fullmatch(name))]
        if not terms:
            return Sight(), None
        raw = self._path(max(terms)).read_bytes()
        record = _decoded(raw, TermRecord)
        if record is None or record.term != max(terms):
            return Sight(max(terms), zlib.crc32(raw)), None
        return record.sight(), record

    def last_epoch(self) -> int:
        """The highest epoch that any term had."""
        return max((each.epoch for each in self.terms()), default=0)

    def terms(self) -> list[TermRecord]:
        """All that can be read, oldest first."""
        names = sorted(name for name in os.listdir(self.path) if _TERM.fullmatch(name))
        found = (_decoded((self.path / name).read_bytes(), TermRecord) for name in names)
        return [record for record in found if record is not None]

    def claim(self, term: int) -> bool:
        """Make a term ours, unless it is somebody's."""
        try:
            file = os.open(self._path(term), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640)
        except FileExistsError:
            return False
        os.close(file)
        _sync_names(self.path)
        return True

    def write(self, record: TermRecord) -> None:
        """Say that we lead; it is on the file system when this returns."""
        self._put(self._path(record.term), record)

    def say_standing_by(self, name: str, record: StandbyRecord) -> None:
        """Say that we would take over."""
        self._put(self.path / f"standby-{name}", record, create=True)

    def standbys(self) -> dict[str, StandbyRecord]:
        """Those who said so, whether or not they are still there."""
        found = {}
        for name in os.listdir(self.path):
            if (match := _STANDBY.fullmatch(name)) and (record := self._get(name, StandbyRecord)):
                found[match[1]] = record
        return found

    def forget_standby(self, name: str) -> None:
        """We would take over no more."""
        (self.path / f"standby-{name}").unlink(missing_ok=True)

    def wish(self, term: int) -> None:
        """Ask the leader of a term to hand over."""
        self._put(self.path / "wish", Wish(term), create=True)

    def wished(self) -> int:
        """The last term whose leader was asked to hand over; 0: none."""
        wish = self._get("wish", Wish)
        return wish.term if wish is not None else 0

    def _path(self, term: int) -> Path:
        return self.path / f"term-{term:08d}"

    def _get(self, name: str, kind: type[Anything]) -> Anything | None:
        try:
            return _decoded((self.path / name).read_bytes(), kind)
        except FileNotFoundError:
            return None

    def _put(self, path: Path, record: msgspec.Struct, create: bool = False) -> None:
        text = msgspec.json.encode(record)
        if len(text) >= SIZE:
            raise OSError(f"{len(text)} bytes do not fit into {path}; {SIZE - 1} do")
        file = os.open(path, os.O_WRONLY | (os.O_CREAT if create else 0), 0o640)
        try:
            if os.pwrite(file, text.ljust(SIZE - 1) + b"\n", 0) != SIZE:
                raise OSError(f"{path} was written in part")
            os.fdatasync(file)
        finally:
            os.close(file)


def _decoded(raw: bytes, kind: type[Anything]) -> Anything | None:
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.DecodeError:
        return None


def _sync_names(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
