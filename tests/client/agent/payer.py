"""A process that pays from a segment, as the shim does, in plain Python: one at a time, for Python cannot swap words.

`python payer.py SEGMENT SECONDS [CHUNK [BYTES]]` pays for chunks and prints how much that was, second by second.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from penstock.client.segment import _BELL, _COUNTS, _LAST, _LAST_CLOSE, _PROMISED, _WANT, Kind, Segment, bell_of

NAP = 0.02


class Payer:
    """Pays for bytes, or waits: `waits` is told the time for which it would sleep."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.mark: int | None = None

    def ask(self, amount: int, kind: Kind = Kind.BYTES) -> bool:
        """Promise so much, and say whether it is served already."""
        served, rate, depth = self.segment.served(kind)
        if math.isnan(rate):
            return True
        place = _PROMISED[kind]
        signed = self.segment._signed
        self.mark = signed[place] = max(signed[place], int(served - depth)) + amount
        return self.served(kind)

    def served(self, kind: Kind = Kind.BYTES) -> bool:
        """Whether what was asked for last is served; if not, somebody is to know."""
        served, rate, _ = self.segment.served(kind)
        if math.isnan(rate) or self.mark is None or served >= self.mark:
            return True
        signed = self.segment._signed
        signed[_WANT] = int(self.segment.clock() * 1e9)
        if not self.segment.words[_BELL]:
            self.segment.words[_BELL] = 1
            self._ring()
        return False

    def paid(self, amount: int, read: bool = False) -> None:
        """It was moved."""
        signed = self.segment._signed
        signed[_COUNTS + read] += amount
        signed[_LAST] = int(self.segment.clock() * 1e9)

    def close(self) -> None:
        """The file was closed."""
        self.segment._signed[_LAST_CLOSE] = int(self.segment.clock() * 1e9)

    def pay(self, amount: int, sleep: Callable[[float], None] = time.sleep) -> None:
        """Pay, however long that takes."""
        if not self.ask(amount):
            while not self.served():
                sleep(NAP)
        self.paid(amount)

    def _ring(self) -> None:
        try:
            fd = os.open(bell_of(self.segment.path), os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return
        with os.fdopen(fd, "wb", buffering=0) as bell:
            bell.write(b"!")


def main(path: str, seconds: float, chunk: int = 1 << 18, most: int = 1 << 62) -> None:
    payer = Payer(Segment(Path(path)))
    began, moved = time.monotonic(), 0
    by_second: dict[int, int] = {}
    while (passed := time.monotonic() - began) < seconds and moved < most:
        payer.pay(chunk)
        moved += chunk
        by_second[int(passed)] = by_second.get(int(passed), 0) + chunk
    payer.close()
    seconds = time.monotonic() - began
    print(json.dumps({"moved": moved, "seconds": seconds, "rates": list(by_second.values())}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(kind(text) for kind, text in zip((float, int, int), sys.argv[2:], strict=False)))
