"""The controller's figures for Prometheus, on a port of its host only."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import version
from typing import Any

from penstock.live.core.state import FENCED, GRACE, MONITOR, PAUSED, RUN
from penstock.live.server.capacity_watch import CURRENT
from penstock.live.server.errors import CannotServe
from penstock.live.server.listeners import bound_socket
from penstock.live.server.tally import Tally

TIME_LIMIT = 2.0  # seconds to ask and to read the answer
MOST_AT_ONCE = 16  # connections; more are closed at once
MOST_REQUEST = 8192  # bytes
CONTENT = "text/plain; version=0.0.4; charset=utf-8"
MODES = (RUN, MONITOR, PAUSED, GRACE, FENCED)
# By Prometheus' guide: base units, `_total` for what only rises, no label with values without end, as jobs would be.
COUNTERS = {
    "admitted": ("connections_admitted", "Connections that were let in."),
    "refused": ("connections_refused", "Connections that were refused."),
    "frames": ("frames", "Messages from clients."),
    "rates": ("rates", "Rates that were sent."),
    "errors": ("errors", "Errors that were sent."),
    "records": ("records", "Records that were journalled."),
    "decisions": ("decisions", "Decisions of the policy, also by controllers before this one."),
    "policy_failures": ("policy_failures", "Decisions that fair-share took, since the policy failed."),
    "turns": ("turns", "Turns of the controller's loop."),
    "turn_seconds": ("turn_seconds", "Time spent in turns of the loop."),
}
GAUGES = {
    "epoch": ("epoch", "Rises with every start of a controller."),
    "connections": ("connections", "Connections at this moment."),
    "unauthenticated": ("unauthenticated_connections", "Connections that are not let in yet."),
    "longest_turn": ("longest_turn_seconds", "The longest turn of the loop since the start."),
    "applications": ("applications", "Jobs that are known."),
    "active": ("active_applications", "Jobs with I/O under way."),
    "waiting": ("waiting_applications", "Jobs with I/O under way that are granted nothing at this moment."),
    "draining": ("draining", "1 while new announcements are not answered."),
}
RESOURCES = {
    "capacity": ("capacity_bytes_per_second", "What a resource can move."),
    "charged": ("charged_bytes_per_second", "What is spoken for: granted, or not yet known to be given back."),
    "granted": ("granted_bytes_per_second", "What jobs are told to use at this moment."),
    "in_service": ("resource_in_service", "0 while an operator has taken the resource out of service."),
}
ON_NAMES = {  # of resources that are operations on names: open, stat, unlink, create
    "capacity": ("capacity_operations_per_second", "Operations on names to share."),
    "charged": ("charged_operations_per_second", "Operations on names that jobs may be doing."),
    "granted": ("granted_operations_per_second", "Operations on names that jobs were told they may do."),
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
        self._prometheus.ProcessCollector(registry=self._registry)
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
        kinds, tally, times = self._kinds, figures["tally"], figures["post_times"]
        build = {"version": version("penstock"), "python": platform.python_version()}
        yield kinds.InfoMetricFamily("penstock_build", "The program that runs.", build)
        for key, (name, text) in COUNTERS.items():
            yield kinds.CounterMetricFamily(f"penstock_{name}", text, figures[key])
        for key, (name, text) in GAUGES.items():
            yield kinds.GaugeMetricFamily(f"penstock_{name}", text, float(figures[key]))
        began = time.time() - figures["uptime"]
        yield kinds.GaugeMetricFamily("penstock_start_time_seconds", "When it started, since 1970.", began)
        yield from self._journal(figures["journal"])
        yield self._labelled("mode", "1 for the mode in force.", {mode: mode == figures["mode"] for mode in MODES})
        yield self._labelled("members", "Processes of jobs by stage.", figures["members"], "stage")
        leader = figures["leader"]
        expected = "1 if it leads by a lease in a folder: then another one should stand by."
        yield kinds.GaugeMetricFamily("penstock_standby_expected", expected, float(leader is not None))
        there = len(leader["standbys"]) if leader is not None else 0
        yield kinds.GaugeMetricFamily("penstock_standbys", "Controllers that stand by to take over.", there)
        warnings = len(figures["warnings"])
        yield kinds.GaugeMetricFamily("penstock_warnings", "Warnings that `penstock status` shows.", warnings)
        yield from self._resources(figures["resources"], tally)
        doubtful = {each["resource"] for each in figures["capacity_doubts"] if each["age"] <= CURRENT}
        about = "1 while jobs move less than 0.9 of what they are granted although all of it is granted."
        doubts = {resource: resource in doubtful for resource in figures["resources"]}
        yield self._labelled("capacity_doubtful", about, doubts, "resource")
        lost = "Nodes times the part of their I/O time that jobs were held back from."
        yield kinds.CounterMetricFamily("penstock_lost_node_seconds", lost, tally.lost)
        with_io = "Nodes times the time that their jobs had I/O under way."
        yield kinds.CounterMetricFamily("penstock_io_node_seconds", with_io, tally.with_io)
        for name, text, found in (
            ("answer_seconds", "From an announcement to the first word about it.", times.answers),
            ("rate_wait_seconds", "From an announcement to the first rate above 0.", times.waits),
        ):
            yield kinds.HistogramMetricFamily(f"penstock_{name}", text, found.buckets(), found.sum)

    def _journal(self, journal: Mapping[str, Any]) -> Iterator[Any]:
        failing, behind = journal["problem"] is not None, journal["seq"] - journal["synced"]
        gauge = self._kinds.GaugeMetricFamily
        yield gauge("penstock_journal_failing", "1 while the disk refuses records; then no rate is raised.", failing)
        yield gauge("penstock_journal_behind_records", "Records that are written and not yet on the disk.", behind)

    def _resources(self, resources: Mapping[str, Mapping[str, float]], tally: Tally) -> Iterator[Any]:
        for key, (name, text) in RESOURCES.items():
            counted = {name: each for name, each in resources.items() if key == "in_service" or not each["operations"]}
            yield self._labelled(name, text, {resource: each[key] for resource, each in counted.items()}, "resource")
        on_names = {resource: each for resource, each in resources.items() if each["operations"]}
        for key, (name, text) in ON_NAMES.items() if on_names else ():
            yield self._labelled(name, text, {resource: each[key] for resource, each in on_names.items()}, "resource")
        for name, text, totals in (
            ("granted_bytes", "Bytes that jobs were told that they might move.", tally.granted),
            ("achieved_bytes", "Bytes that jobs reported to have moved.", tally.achieved),
        ):
            family = self._kinds.CounterMetricFamily(f"penstock_{name}", text, labels=["resource"])
            for (resource, each), total in zip(resources.items(), totals, strict=True):
                if not each["operations"]:
                    family.add_metric([resource], total)
            yield family

    def _labelled(self, name: str, text: str, amounts: Mapping[str, float], label: str = "mode") -> Any:
        family = self._kinds.GaugeMetricFamily(f"penstock_{name}", text, labels=[label])
        for each, amount in amounts.items():
            family.add_metric([each], float(amount))
        return family
