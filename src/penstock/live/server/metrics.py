"""Figures for Prometheus, on a port of this host only."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from penstock.live.server.errors import CannotServe
from penstock.live.server.listeners import bound_socket

TIME_LIMIT = 2.0  # seconds to ask and to read the answer
MOST_AT_ONCE = 16  # connections; more are closed at once
MOST_REQUEST = 8192  # bytes
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
COUNTERS = {
    "admitted": "connections let in",
    "refused": "connections refused",
    "frames": "messages from clients",
    "rates": "rates sent",
    "errors": "errors sent",
    "records": "records journalled",
    "decisions": "decisions taken",
    "turns": "turns of the loop",
    "turn_seconds": "seconds spent in turns",
}


class Metrics:
    """Answers to Prometheus from the loop itself: no thread, and whoever is slow is cut off."""

    def __init__(self, port: int, figures: Callable[[], Mapping[str, Any]], host: str = "127.0.0.1") -> None:
        try:
            self._prometheus, self._kinds = import_module("prometheus_client"), import_module("prometheus_client.core")
        except ImportError:
            raise CannotServe("metrics need prometheus-client; install penstock[live], or drop metrics_port") from None
        self._figures = figures
        self._registry = self._prometheus.CollectorRegistry()
        self._registry.register(self)
        self._talking = 0
        self._socket = bound_socket(host, port, "metrics port")

    async def open(self) -> asyncio.AbstractServer:
        """Answer from now on."""
        return await asyncio.start_server(self._meet, sock=self._socket, limit=MOST_REQUEST)

    def close(self) -> None:
        """Answer no more."""
        self._socket.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._talking += 1
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            if self._talking <= MOST_AT_ONCE:
                async with asyncio.timeout(TIME_LIMIT):
                    request = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._answer(request.split(b" ", 2)))
                    await writer.drain()
        self._talking -= 1
        writer.close()

    def _answer(self, words: list[bytes]) -> bytes:
        if len(words) < 3 or words[0] != b"GET" or words[1].partition(b"?")[0] not in (b"/", b"/metrics"):
            return b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        body: bytes = self._prometheus.generate_latest(self._registry)
        head = f"HTTP/1.0 200 OK\r\nContent-Type: {CONTENT}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def describe(self) -> list[Any]:
        """Nothing is known before somebody asks."""
        return []

    def collect(self) -> Iterator[Any]:
        """All figures, as of now."""
        yield from self._families(self._figures())

    def _families(self, figures: Mapping[str, Any]) -> Iterator[Any]:
        kinds = self._kinds
        for name, text in COUNTERS.items():
            yield kinds.CounterMetricFamily(f"penstock_{name}", text, figures[name])
        for name in ("epoch", "connections", "unauthenticated", "uptime", "longest_turn"):
            yield kinds.GaugeMetricFamily(f"penstock_{name}", name.replace("_", " "), figures[name])
        journal = figures["journal"]
        yield kinds.GaugeMetricFamily(
            "penstock_journal_failing", "1: records wait", float(journal["problem"] is not None)
        )
        yield kinds.GaugeMetricFamily(
            "penstock_journal_behind", "records not on the disk", journal["seq"] - journal["synced"]
        )
        mode = kinds.GaugeMetricFamily("penstock_mode", "the mode in force", labels=["mode"])
        mode.add_metric([figures["mode"]], 1.0)
        yield mode
        members = kinds.GaugeMetricFamily("penstock_members", "members by stage", labels=["stage"])
        for stage, count in figures["members"].items():
            members.add_metric([stage], count)
        yield members
        yield kinds.GaugeMetricFamily("penstock_applications", "applications known", figures["applications"])
        yield kinds.GaugeMetricFamily("penstock_active", "applications with I/O under way", figures["active"])
        for name, text in (("capacity", "bytes/s to share"), ("charged", "bytes/s spoken for")):
            family = kinds.GaugeMetricFamily(f"penstock_{name}_bytes_per_second", text, labels=["resource"])
            for resource, amounts in figures["resources"].items():
                family.add_metric([resource], amounts[name])
            yield family
