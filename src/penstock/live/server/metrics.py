"""Figures for Prometheus, on a port of this host only."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from importlib import import_module
from typing import Any

from penstock.live.server.errors import CannotServe

TIME_LIMIT = 1.0  # seconds that the loop has to answer
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
    """Answers to Prometheus from a thread; every figure is taken in the loop, where nothing changes meanwhile."""

    def __init__(
        self,
        port: int,
        loop: asyncio.AbstractEventLoop,
        figures: Callable[[], Mapping[str, Any]],
        host: str = "127.0.0.1",
    ) -> None:
        try:
            prometheus, families = import_module("prometheus_client"), import_module("prometheus_client.core")
        except ImportError:
            raise CannotServe("metrics need prometheus-client; install penstock[live], or drop metrics_port") from None
        self._kinds, self._loop, self._figures = families, loop, figures
        registry = prometheus.CollectorRegistry()
        registry.register(self)
        try:
            self._server, self._thread = prometheus.start_http_server(port, host, registry)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CannotServe(
                    f"metrics port {port} is busy; stop who listens there, or give another port"
                ) from None
            raise CannotServe(f"metrics port {port} cannot be used ({error.strerror}); give another port") from None

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(TIME_LIMIT)

    def describe(self) -> list[Any]:
        """Nothing is known before somebody asks."""
        return []

    def collect(self) -> Iterator[Any]:
        """All figures, as of now."""
        asked: Future[Mapping[str, Any]] = Future()
        self._loop.call_soon_threadsafe(self._answer, asked)
        yield from self._families(asked.result(TIME_LIMIT))

    def _answer(self, asked: Future[Mapping[str, Any]]) -> None:
        try:
            asked.set_result(self._figures())
        except Exception as error:
            asked.set_exception(error)

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
