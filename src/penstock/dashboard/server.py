"""The dashboard as a process: one page, one stream of events for each viewer, and questions to the journal.

Every look at the controller is turned into text once for each kind of viewer (all names, or those of one user), however
many there are. Who reads too slowly is dropped: its browser dials again and begins with the present.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.dashboard import http
from penstock.dashboard.numbering import Numbering
from penstock.dashboard.page import page
from penstock.dashboard.poll import Asks, Poll, Seen
from penstock.dashboard.questions import NoAnswer, Questions
from penstock.dashboard.recent import Recent
from penstock.dashboard.view import shown_name, view
from penstock.dashboard.viewers import Viewer, Viewers
from penstock.policies.sharing.catalogue import known_names

TIME_LIMIT = 5.0  # seconds to send a request, and to read an answer that is no stream
MOST_AT_ONCE = 256  # connections
MOST_UNREAD = 1 << 20  # bytes that a viewer has not read: it is dropped
SPANS = (3600.0, 6 * 3600.0, 86400.0, 7 * 86400.0)  # seconds of history that can be asked for
MOST_DIGITS = 12  # of a number in a request
LOW_PRIORITY = 10  # where it shares a host with the controller, whoever waits for a rate comes first
OWN_HOSTS = ("localhost", "127.0.0.1", "[::1]")


@dataclass
class Watching:
    """One stream of events."""

    viewer: Viewer
    writer: asyncio.StreamWriter
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, data: bytes) -> bool:
        """Whether the viewer keeps up."""
        transport = self.writer.transport
        if transport.is_closing() or transport.get_write_buffer_size() > MOST_UNREAD:
            transport.abort()
            self.gone.set()
            return False
        self.writer.write(data)
        return True


class Dashboard:
    """What viewers are answered, from the looks of a `Poll`."""

    def __init__(self, journals: Sequence[Path], viewers: Viewers, hosts: Sequence[str] = ()) -> None:
        self._viewers, self._hosts = viewers, frozenset((*OWN_HOSTS, *(host.lower() for host in hosts)))
        self._questions = Questions(journals)
        self._seen = Seen(0.0, "nobody has been asked yet")
        self._recent, self._numbering = Recent(), Numbering()
        self._watching: list[Watching] = []
        self._told: dict[Viewer, bytes] = {}  # of the last look
        self._pasts: dict[Viewer, bytes] = {}
        self._talking = 0
        self.dropped = 0

    def heard(self, seen: Seen) -> None:
        """A look at the controller: tell everybody who watches."""
        self._seen = seen = self._numbering.renumbered(seen)
        self._recent.add(seen)
        self._told.clear()
        self._pasts.clear()
        for each in list(self._watching):
            if not each.send(self._event(each.viewer)):
                self._watching.remove(each)
                self.dropped += 1

    def close(self) -> None:
        """Hang up on everybody who watches."""
        for each in self._watching:
            each.gone.set()

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection."""
        self._talking += 1
        try:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._meet(reader, writer)
        finally:
            self._talking -= 1
            writer.close()

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(TIME_LIMIT):
                data = await reader.readuntil(b"\r\n\r\n")
            if self._talking > MOST_AT_ONCE:
                raise http.BadRequest(503, "too many look at once")
            request = http.read(data)
            http.check(request, self._hosts)
            viewer = self._viewers.viewer(*(writer.get_extra_info(name)[:2] for name in ("sockname", "peername")))
            if request.path == "/events":
                await self._watch(reader, writer, viewer)
                return
            told = await self._answer(request, viewer)
        except http.BadRequest as error:
            told = http.refusal(error)
        async with asyncio.timeout(TIME_LIMIT):
            writer.write(told)
            await writer.drain()

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, viewer: Viewer) -> None:
        watching = Watching(viewer, writer)
        watching.send(http.stream())
        if self._seen.time:
            watching.send(self._past(viewer))
            watching.send(self._event(viewer))
        self._watching.append(watching)
        hung_up = asyncio.create_task(reader.read(1))
        gone = asyncio.create_task(watching.gone.wait())
        try:
            await asyncio.wait((hung_up, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (hung_up, gone):
                task.cancel()
            with suppress(ValueError):
                self._watching.remove(watching)

    async def _answer(self, request: http.Request, viewer: Viewer) -> bytes:
        if request.path == "/":
            text, policy = page()
            return http.answer(text, "text/html", policy=policy)
        answers: dict[str, Callable[[http.Request, Viewer], Any]] = {
            "/history": self._history,
            "/job": self._job,
            "/compare": self._compare,
        }
        if request.path not in answers:
            raise http.BadRequest(404, "there is nothing here")
        try:
            told = await answers[request.path](request, viewer)
            return http.as_json({**told, "note": self._questions.note(self._seen.status.get("epoch", 0))})
        except NoAnswer as error:
            return http.as_json({"problem": str(error)})

    def _event(self, viewer: Viewer) -> bytes:
        """The present for one kind of viewer, made once for all of them."""
        if viewer not in self._told:
            sample = self._recent.samples[-1] if self._recent.samples else None
            kept = {"marks": list(self._recent.marks), "capacities": list(self._recent.capacities)}
            told = {**view(self._seen, viewer), "sample": sample, **kept}
            self._told[viewer] = http.event("look", told)
        return self._told[viewer]

    def _past(self, viewer: Viewer) -> bytes:
        """What whoever comes now has missed; made once if many come at once."""
        if viewer not in self._pasts:
            names = {app: shown_name(job, uid, app, viewer) for app, (job, uid) in self._recent.names.items()}
            self._pasts[viewer] = http.event("past", {"samples": list(self._recent.samples), "names": names})
        return self._pasts[viewer]

    async def _history(self, request: http.Request, viewer: Viewer) -> Any:
        found = self._numbering.past(await self._questions.ask("history", f"{_span(request):g}", *_part(request)))
        names = {app: shown_name(job, uid, app, viewer) for app, (job, uid, _) in found.pop("jobs").items()}
        return {**found, "names": names}

    async def _job(self, request: http.Request, viewer: Viewer) -> Any:
        """Why a job waited: of one's own, or of anybody's for those who see all names."""
        known = self._recent.names.get(_number(request.query.get("app", "")))
        if known is None:
            raise NoAnswer("no such job is known here")
        name, uid = known
        if not viewer.may_see(uid):
            raise NoAnswer("this is a job of another user: only its owner and operators see why it waited")
        return await self._questions.ask("explain", name, str(-1 if viewer.all_names else viewer.uid))

    async def _compare(self, request: http.Request, viewer: Viewer) -> Any:
        """What another policy would have given; who fared how only for those who see all names."""
        policy = request.query.get("policy", "")
        if policy not in known_names():
            raise NoAnswer("there is no such policy")
        found = await self._questions.ask("compare", policy, f"{_span(request):g}")
        if viewer.all_names:
            return found
        return {**found, "real": _totals(found["real"]), "would": [_totals(each) for each in found["would"]]}


def _span(request: http.Request) -> float:
    asked = float(_number(request.query.get("seconds", "")))
    if asked not in SPANS:
        raise NoAnswer(f"seconds is one of {', '.join(f'{span:g}' for span in SPANS)}")
    return asked


def _part(request: http.Request) -> tuple[str, ...]:
    """From when to when, in seconds since 1970, if only a part of the span is asked for: then in finer pieces."""
    if "begin" not in request.query and "end" not in request.query:
        return ()
    begin, end = (_number(request.query.get(name, "")) for name in ("begin", "end"))
    if not 0 <= begin < end <= begin + SPANS[-1]:
        raise NoAnswer("begin and end are whole seconds since 1970, at most 7 days apart")
    return str(begin), str(end)


def _number(text: str) -> int:
    """A whole number; -1 for what is none, as other scripts' digits and numbers without end."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS else -1


def _totals(account: dict[str, Any]) -> dict[str, Any]:
    return {**account, "jobs": []}


async def run(
    dashboard: Dashboard, bound: socket.socket, dial: Callable[[], Asks], ready: Callable[[int], None]
) -> None:
    """Show it until somebody says stop; `ready` is told the port."""
    os.nice(LOW_PRIORITY)
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)

    def heard(seen: Seen) -> None:
        with suppress(RuntimeError):  # the loop is gone
            loop.call_soon_threadsafe(dashboard.heard, seen)

    poll = Poll(dial, heard)
    server = await asyncio.start_server(dashboard.meet, sock=bound, limit=http.MOST_REQUEST)
    poll.start()
    ready(bound.getsockname()[1])
    await stopped.wait()
    server.close()
    dashboard.close()
    await asyncio.to_thread(poll.stop)
