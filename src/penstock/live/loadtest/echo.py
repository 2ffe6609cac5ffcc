"""What any server in this language would take: one that sends back what it gets, under the same traffic.

`python -m penstock.live.loadtest.echo PATH` is that server.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import time
from pathlib import Path

from penstock.live.loadtest.loops import run
from penstock.live.loadtest.processes import Child, cpu_seconds
from penstock.live.wire import Post, frame

_WORD = frame(Post(2, 1000, 1000, 1e15))


class Echo(asyncio.Protocol):
    """Sends back what it gets."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Somebody said something."""
        self._transport.write(data)  # type: ignore[attr-defined]


async def echo_cost(folder: Path, clients: int, rate: float, seconds: float) -> float:
    """Processor seconds of an echo server for each word, with so many clients that say `rate` words a second."""
    path = str(folder / "echo")
    with Child("penstock.live.loadtest.echo", path) as server:
        await asyncio.to_thread(server.ready)
        links = [_connected(path) for _ in range(clients)]
        loop = asyncio.get_running_loop()
        for link in links:
            loop.add_reader(link.fileno(), link.recv, 4096)
        try:
            before = cpu_seconds(server.pid)
            words = await _stream(links, rate, seconds)
            return (cpu_seconds(server.pid) - before) / words
        finally:
            for link in links:
                loop.remove_reader(link.fileno())
                link.close()


async def _stream(links: list[socket.socket], rate: float, seconds: float) -> int:
    began, sent = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        while sent < passed * rate:
            links[sent % len(links)].send(_WORD)
            sent += 1
        await asyncio.sleep(max(0.0, began + (sent + 1) / rate - time.perf_counter()))
    return sent


def _connected(path: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.connect(path)
    link.setblocking(False)
    return link


async def _serve(path: str) -> None:
    server = await asyncio.get_running_loop().create_unix_server(Echo, path, backlog=4096)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    run(_serve(sys.argv[1]))
