"""Paced writers in a process of their own: each is a job with its own link and bucket, writing phase after phase.

`python writers.py SOCKET[,SOCKET] NAME COUNT VOLUME FALLBACK`; every line on its standard input is answered by how they
are, and by how long they were silent at most since the line before.
"""

from __future__ import annotations

import json
import sys
import threading
import time

from penstock.client.bucket import Bucket
from penstock.client.config import Address, ClientConfig
from penstock.client.events import Begin
from penstock.client.link import Link
from penstock.client.member import MemberSettings, MemberState

CHUNK = 25_000  # bytes


class Writer:
    def __init__(self, paths: list[str], job: str, volume: float, fallback: float) -> None:
        self.job, self.volume = job, volume
        settings = MemberSettings(job=job, fallbacks={"": fallback}, addresses=len(paths))
        self.link = Link(ClientConfig(settings, tuple(Address(path=path) for path in paths)))
        self.bucket = Bucket()
        self.moved, self.unpaced, self.fell_back, self.failure = 0.0, 0, 0, ""
        self.last, self.longest = time.monotonic(), 0.0
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        try:
            while True:
                self.phase()
        except Exception as error:
            self.failure = f"{self.job}: {type(error).__name__}: {error}"

    def phase(self) -> None:
        bucket = Bucket()
        asked = self.link.announce(bucket, Begin(self.volume))
        self.bucket = bucket
        asked.wait()
        while bucket.admitted < self.volume:
            bucket.acquire(CHUNK)
            self.moved += CHUNK
            self.unpaced += bucket.rate is None
            self.fell_back += self.link.member.state is MemberState.OPEN
            now = time.monotonic()
            self.longest, self.last = max(self.longest, now - self.last), now
        bucket.close()
        self.link.end(bucket.admitted)

    def look(self) -> dict[str, object]:
        now = time.monotonic()
        silent = max(self.longest, now - self.last)
        self.last, self.longest = now, 0.0
        return {
            "rate": self.bucket.rate, "state": self.link.member.state.value, "moved": self.moved,
            "unpaced": self.unpaced, "silent": silent, "failure": self.failure, "epoch": self.link.member.key[0],
            "fell_back": self.fell_back,
        }  # fmt: skip


def main(path: str, name: str, count: int, volume: float, fallback: float) -> None:
    threading.stack_size(256 << 10)
    writers = [Writer(path.split(","), f"{name}-{number}", volume, fallback) for number in range(count)]
    for _ in sys.stdin:
        print(json.dumps([writer.look() for writer in writers]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
