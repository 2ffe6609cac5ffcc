"""Handing over: ask the leader to stop, and see that another leads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from penstock.live.standby.folder import StandbyFolder, TermFolder, TermRecord
from penstock.live.standby.lease import LEASE, LOOK

NOTICE = 3.0  # seconds in which a standby says at least once that it is there
PATIENCE = 3 * LEASE + NOTICE  # seconds until another must lead


class HandedOver(msgspec.Struct, frozen=True):
    """Who leads now, and how long that took."""

    term: int
    epoch: int
    host: str
    pid: int
    address: str
    before: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {name: getattr(self, name) for name in self.__struct_fields__}


def promote(path: Path) -> HandedOver:
    """Wait until another has taken over; nothing is asked for if nobody is there who could."""
    try:
        return _promote(TermFolder(path.absolute()))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StandbyFolder(f"the standby folder {path} cannot be used ({reason})") from None


def _promote(folder: TermFolder) -> HandedOver:
    leader = folder.newest()[1]
    if leader is None:
        raise StandbyFolder(f"nobody has led yet in {folder.path}; start `penstock serve --standby {folder.path}`")
    if not _somebody_watches(folder):
        raise StandbyFolder(f"no standby watches {folder.path}; {leader.host} goes on. Start one, then ask again")
    began = time.monotonic()
    folder.wish(leader.term)
    while time.monotonic() < began + PATIENCE:
        now = folder.newest()[1]
        if now is not None and now.term > leader.term:
            return _done(leader, now, time.monotonic() - began)
        time.sleep(LOOK / 2)
    raise StandbyFolder(f"nobody has taken over from {leader.host} within {PATIENCE:g} s; see the logs of both")


def _somebody_watches(folder: TermFolder) -> bool:
    """Whether a standby says so now, not only once."""
    first, end = folder.standbys(), time.monotonic() + NOTICE
    while time.monotonic() < end:
        time.sleep(LOOK / 2)
        if any(first.get(name) != record for name, record in folder.standbys().items()):
            return True
    return False


def _done(before: TermRecord, now: TermRecord, seconds: float) -> HandedOver:
    who = f"{before.host} (process {before.pid})"
    return HandedOver(now.term, now.epoch, now.host, now.pid, now.address, who, round(seconds, 3))
