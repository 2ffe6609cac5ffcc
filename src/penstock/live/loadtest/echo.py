"""What any server in the controller's place would take: one that sends back what it gets, under the same traffic.

`python -m penstock.live.loadtest.echo TRANSPORT PLACE [FOLDER]` is that server; FOLDER has its certificate.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import time
from pathlib import Path

from penstock.live.loadtest.loops import run
from penstock.live.loadtest.processes import Child, cpu_seconds
from penstock.live.loadtest.transports import HOST, ClientConnection, Transport
from penstock.wire.messages import Post, frame

_WORD = frame(Post(2, 1000, 1000, 1e15))


class Echo(asyncio.Protocol):
    """Sends back what it gets."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody is there."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Somebody said something."""
        self._transport.write(data)  # type: ignore[attr-defined]


async def echo_cost(way: Transport, folder: Path, clients: int, rate: float, seconds: float) -> float:
    """Processor seconds of an echo server for each word, with so many clients that say `rate` words a second.

    They reach it as they reach the controller.
    """
    way = way.for_another(folder / "echo")
    with Child("penstock.live.loadtest.echo", way.transport, way.path or str(way.port), str(folder)) as server:
        await asyncio.to_thread(server.ready)
        links = [await _connected(way) for _ in range(clients)]
        loop = asyncio.get_running_loop()
        for link in links:
            loop.add_reader(link.fileno(), link.receive)
        try:
            before = cpu_seconds(server.pid)
            words = await _stream(links, rate, seconds)
            return (cpu_seconds(server.pid) - before) / words
        finally:
            for link in links:
                loop.remove_reader(link.fileno())
                link.close()


async def _stream(links: list[ClientConnection], rate: float, seconds: float) -> int:
    began, sent = time.perf_counter(), 0
    while (passed := time.perf_counter() - began) < seconds:
        while sent < passed * rate:
            links[sent % len(links)].send(_WORD)
            sent += 1
        await asyncio.sleep(max(0.0, began + (sent + 1) / rate - time.perf_counter()))
    return sent


async def _connected(way: Transport) -> ClientConnection:
    link = ClientConnection(way)
    while not link.agreed():
        await asyncio.sleep(0)  # the clients of the controller have to beat meanwhile
    return link


async def _serve(transport: str, place: str, folder: str) -> None:
    loop = asyncio.get_running_loop()
    server: asyncio.AbstractServer
    if transport == "unix":
        server = await loop.create_unix_server(Echo, place, backlog=4096)
    else:
        way = Transport(transport, port=int(place), papers=Path(folder))
        server = await loop.create_server(Echo, HOST, way.port, backlog=4096, ssl=_tls(way))
    print("ready", flush=True)
    await server.serve_forever()


def _tls(way: Transport) -> ssl.SSLContext | None:
    if way.transport != "tcp":
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(way.certificate, way.certificate_key)
    return context


if __name__ == "__main__":
    run(_serve(*sys.argv[1:]))
