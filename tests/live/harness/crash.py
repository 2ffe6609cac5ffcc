"""A disk that forgets, and the points at which a controller can die.

A turn of the controller has effects in this order: one write of all its records, then its messages one by one. It can
die before, between and after any of them, and inside the write after any byte. A *killed* process leaves all that it
wrote. A loss of *power* takes what was not synced, down to any byte, and starts a new boot. A *wiped* disk takes all.
"""

from __future__ import annotations

import random
import zlib
from dataclasses import dataclass

from penstock.live.journal.segment import pack

KILL, POWER, WIPE = "kill", "power", "wipe"


class Disk:
    """The journal's bytes: those written, and how many of them no crash can take."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.synced = 0
        self.snapshot: tuple[int, bytes] | None = None  # number of the last record in it, state

    def write(self, payload: bytes) -> None:
        """Append, as far as the page cache."""
        self.written += payload

    def sync(self) -> None:
        """Make what was written safe from a loss of power."""
        self.synced = len(self.written)

    def keep(self, seq: int, state: bytes) -> None:
        """Store a snapshot; what it covers is not needed any more."""
        self.snapshot = (seq, state)
        self.written.clear()
        self.synced = 0

    def lose_power(self, chance: random.Random) -> None:
        """Whatever was not synced may be gone, from any byte on."""
        del self.written[chance.randint(self.synced, len(self.written)) :]

    def wipe(self) -> None:
        """All is gone."""
        self.written.clear()
        self.synced, self.snapshot = 0, None

    def payloads(self) -> list[bytes]:
        """The records up to the first that is not whole; the rest is cut off."""
        found, start, data = [], 0, bytes(self.written)
        while len(data) - start >= 8:
            length, crc = (
                int.from_bytes(data[start : start + 4], "big"),
                int.from_bytes(data[start + 4 : start + 8], "big"),
            )
            payload = data[start + 8 : start + 8 + length]
            if len(payload) < length or zlib.crc32(payload) != crc:
                break
            found.append(payload)
            start += 8 + length
        del self.written[start:]
        self.synced = min(self.synced, start)
        return found


@dataclass(frozen=True)
class Death:
    """How a controller dies in the middle of a turn: after some of its bytes, or after all and `sends` messages."""

    kind: str
    sends: int = 0
    bytes: int | None = None  # None: the write was finished


def any_death(chance: random.Random, records: list[bytes], sends: int) -> Death:
    """One of the points at which this turn can be cut short; records' edges, single bytes, and messages."""
    kind = chance.choice((KILL, KILL, POWER, WIPE))
    if records and chance.random() < 0.4:
        whole = sum(len(pack(each)) for each in records[: chance.randint(0, len(records))])
        torn = chance.choice((0, chance.randint(0, 40)))
        return Death(kind, bytes=min(whole + torn, sum(len(pack(each)) for each in records)))
    return Death(kind, sends=chance.randint(0, sends))


def every_death(kind: str, records: list[bytes], sends: int, torn: bool) -> list[Death]:
    """All points of a turn: around each record and each message and, if `torn`, every byte of the last record."""
    edges, whole = [0], 0
    for payload in records:
        whole += len(pack(payload))
        edges.append(whole)
    if torn and records:
        edges = edges[:-1] + list(range(edges[-2] + 1, whole))
    return [Death(kind, bytes=edge) for edge in edges if edge < whole] + [
        Death(kind, sends=n) for n in range(sends + 1)
    ]
