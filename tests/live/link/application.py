"""One application, as a job of its own: computes (sleeps), then PUTs bytes through the link, again and again.

It is told on its command line, in JSON, what to do; says `ready`; begins at the time it then reads (CLOCK_MONOTONIC);
and prints in JSON what became of it. Without a controller in its environment it moves bytes as fast as it can.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

from penstock.client import Phase, io_phase
from penstock.client import begin as start_clock

STORE = ("198.18.0.2", 8080)
BLOCK = memoryview(os.urandom(1 << 20))
LONGEST = 120.0  # seconds that the link may let nothing pass


class Store:
    """The file server, over one connection from the application's own address."""

    def __init__(self, source: str, name: str) -> None:
        self._link = socket.create_connection(STORE, LONGEST, (source, 0))
        self._link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._name = name

    def put(self, phase: Phase, sizes: Iterator[int]) -> None:
        """Send pieces of the given sizes, each when the phase lets it pass; returns when the server has stored them."""
        self._link.sendall(f"PUT /{self._name} HTTP/1.1\r\nHost: store\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        for size in sizes:
            phase.acquire(size)
            self._link.sendall(b"%x\r\n%b\r\n" % (size, bytes(BLOCK[:size])))
        self._link.sendall(b"0\r\n\r\n")
        answer = self._link.recv(4096)
        if answer.split(b" ", 2)[1] not in (b"201", b"204"):
            raise OSError(f"the server says {answer[:80]!r}")


def pieces(phase: Phase, volume: int) -> Iterator[int]:
    """Sizes that sum up to the volume, each what the phase moves at a time."""
    while volume > 0:
        size = min(phase.slice, volume)
        yield size
        volume -= size


def iterate(told: dict[str, Any], store: Store, begin: float) -> dict[str, Any]:
    """Compute and write, so many times."""
    phases = []
    for _ in range(told["iterations"]):
        time.sleep(told["compute"])
        posted = time.monotonic()
        with io_phase(told["volume"]) as phase:
            store.put(phase, pieces(phase, told["volume"]))
        phases.append([posted - begin, time.monotonic() - begin])
    return {"end": phases[-1][1], "phases": phases}


def keep_writing(told: dict[str, Any], store: Store, begin: float) -> dict[str, Any]:
    """Write one file for so many seconds; seconds and bytes so far, piece by piece."""
    end = begin + told["seconds"]
    passed = [(0.0, 0)]

    def until_the_end(phase: Phase) -> Iterator[int]:
        while time.monotonic() < end:
            size = phase.slice
            yield size
            passed.append((time.monotonic() - begin, passed[-1][1] + size))

    with io_phase(told["volume"]) as phase:
        store.put(phase, until_the_end(phase))
    return {"passed": passed}


def main() -> None:
    told = json.loads(sys.argv[1])
    store = Store(told["source"], told["name"])
    print("ready", flush=True)
    begin = float(sys.stdin.readline())
    time.sleep(max(0.0, begin + told["release"] - time.monotonic()))
    start_clock()
    work = iterate if "iterations" in told else keep_writing
    print(json.dumps(work(told, store, begin)), flush=True)


if __name__ == "__main__":
    main()
