"""Standing by and leading, by the rules of `lease` in a folder: threads that look and write, so that nobody waits.

A file system that hangs stops these threads only. The event loop asks `leads()` whenever it has taken something in and
before it sends, and that is a look at the clock.
"""

from __future__ import annotations

import os
import threading
import time as clocks
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from penstock.live.standby.folder import StandbyRecord, TermFolder, TermRecord
from penstock.live.standby.lease import LOOK, Lease, LeaseSettings, Watch

PRESENT = 1.0  # seconds between two words that one stands by
GONE = 10.0  # seconds of silence after which a standby counts as gone
TRY_AGAIN = 0.25  # seconds after a renewal that failed
HAND_OVER = 10.0  # seconds that one who was asked to hand over leaves to the others

Report = Callable[..., None]


def boottime() -> float:
    """Seconds that also pass while the machine sleeps."""
    return clocks.clock_gettime(clocks.CLOCK_BOOTTIME)


class Leader:
    """One term of ours, from the claim until it is given up or lost."""

    def __init__(self, folder: TermFolder, lease: Lease, record: TermRecord, before: TermRecord | None) -> None:
        self.folder, self.lease, self.record = folder, lease, record
        self.before = before  # who led the term before, if that can be told
        self.asked_to_hand_over = False
        self._over = threading.Event()
        self._problem = ""
        self._since = boottime()
        self._heard: dict[str, tuple[StandbyRecord, float, bool]] = {}  # standbys, since when, and whether they moved
        self._thread = threading.Thread(target=self._renew, name="penstock-lease", daemon=True)

    def leads(self) -> bool:
        """Whether what was taken in until now may still be acted on."""
        return self.lease.valid(boottime())

    def begin(self, report: Report, hand_over: Callable[[], None]) -> None:
        """Renew from now on; `hand_over` is called, in the thread, when somebody asks for it."""
        self._report, self._hand_over = report, hand_over
        self._thread.start()

    def end(self, released: bool) -> None:
        """Renew no more. `released`: we have said all that we will ever say in this term."""
        self._over.set()
        self._thread.join(self.lease.end - boottime() if released else 0.0)
        if released and not self._thread.is_alive():
            with suppress(OSError):
                self._write(released=True)

    def figures(self) -> dict[str, Any]:
        """What operators are shown."""
        now = boottime()
        standbys = [
            {"host": record.host, "pid": record.pid, "silent": round(now - since, 1)}
            for record, since, moved in self._heard.values()
            if moved and now - since < GONE
        ]
        return {
            "term": self.record.term,
            "since": round(now - self._since, 1),
            "lease_left": round(max(0.0, self.lease.end - now), 3),
            "folder": str(self.folder.path),
            "problem": self._problem,
            "standbys": standbys,
        }

    def _renew(self) -> None:
        while not self._over.wait(max(0.0, self.lease.due - boottime()) if not self._problem else TRY_AGAIN):
            before = boottime()
            try:
                self._write()
                if not self.lease.renewed(before, boottime()):
                    return
                self._look_around()
                self._say("")
            except OSError as error:
                self._say((error.strerror or str(error)).lower())
            if not self.leads():
                return

    def _write(self, released: bool = False) -> None:
        old = self.record
        self.record = TermRecord(**{**_fields(old), "renewals": old.renewals + 1, "released": released})
        self.folder.write(self.record)

    def _look_around(self) -> None:
        now = boottime()
        for name, record in self.folder.standbys().items():
            known = self._heard.get(name)
            if known is None or known[0] != record:
                self._heard[name] = (record, now, known is not None)
        if not self.asked_to_hand_over and self.folder.wished() == self.record.term:
            self.asked_to_hand_over = True
            self._hand_over()

    def _say(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self._report(problem)


class Standing:
    """One who leads whenever nobody else does. `own` is its journal, locked; `within` where that is in the folder."""

    def __init__(self, folder: TermFolder, settings: LeaseSettings, own: str, address: str, within: str = "") -> None:
        self.folder, self._settings, self._own = folder, settings, own
        self._address, self._within = address, within
        self._name = f"{zlib.crc32(own.encode()):08x}"
        self._count, self._say_at = 0, 0.0
        self.leader: TermRecord | None = None  # who leads, as far as one can see

    def follow(self, stop: threading.Event, least_epoch: Callable[[], int], handed_over: int = 0) -> Leader | None:
        """Watch until we lead, or are told to stop. A term that we handed over others may follow first, for a while."""
        watch, others_first = Watch(self._settings, self._own), boottime() + HAND_OVER
        while not stop.is_set():
            with suppress(OSError):
                before = boottime()
                sight, self.leader = self.folder.newest()
                term = watch.looked(before, boottime(), sight)
                ours = sight.term != handed_over or boottime() >= others_first
                if term is not None and ours and (leader := self._claim(term, least_epoch)):
                    self.folder.forget_standby(self._name)
                    return leader
                self._say_present()
            stop.wait(LOOK)
        with suppress(OSError):
            self.folder.forget_standby(self._name)
        return None

    def _claim(self, term: int, least_epoch: Callable[[], int]) -> Leader | None:
        led, before = self.leader, boottime()
        if not self.folder.claim(term):
            return None
        lease = Lease(self._settings, before)
        epoch = max(self.folder.last_epoch() + 1, least_epoch())
        host = os.uname().nodename
        record = TermRecord(term, 1, self._own, epoch, host, os.getpid(), self._address, self._within)
        before = boottime()
        self.folder.write(record)
        return Leader(self.folder, lease, record, led) if lease.renewed(before, boottime()) else None

    def _say_present(self) -> None:
        if (now := boottime()) >= self._say_at:
            self._say_at, self._count = now + PRESENT, self._count + 1
            self.folder.say_standing_by(self._name, StandbyRecord(os.uname().nodename, os.getpid(), self._count))


def within(journal: Path, folder: Path) -> str:
    """Where a journal is in the folder that both hosts see; empty if it is not."""
    inside = journal.resolve()
    return str(inside.relative_to(folder.resolve())) if inside.is_relative_to(folder.resolve()) else ""


def _fields(record: TermRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__struct_fields__}
