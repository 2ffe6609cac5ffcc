"""Tests in several processes, forked from one that has found and loaded all of them.

Workers that each start an interpreter find nine thousand tests each: with five of them that was a minute of processor
time before the first test ran. Here it is done once. `--workers N` runs the tests in N forks; whoever is free takes the
next piece, and pieces are taken in the order of the tests. What shares a fixture with others of its file, or has the
same marker `crowd`, is one piece. Every report goes to the process that was started, which counts and prints as it
does without workers. A test that nobody reports, because its worker died, has failed.
"""

from __future__ import annotations

import atexit
import gc
import itertools
import multiprocessing
import os
import pickle
import struct
import sys
import warnings
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Literal

import pytest
from _pytest.config import Config

MOST = (
    8  # tests of one file in a piece, where they share nothing: enough that few pieces are left to wait for at the end
)
LOST = "the worker that had this test ended in it, or before it came to it"
_NUMBER = struct.Struct("=I")
_FORK = multiprocessing.get_context("fork")


class Workers:
    """The process that others are forked from: hands out pieces, and takes the reports of all."""

    def __init__(self, config: Config, count: int) -> None:
        self.config, self.count = config, count

    def pytest_runtestloop(self, session: pytest.Session) -> Literal[True] | None:
        if session.testsfailed or self.config.option.collectonly or not session.items:
            return None
        pieces = list(in_pieces(session.items))
        ours, theirs = os.pipe()
        # All numbers fit into the pipe. Whoever reads one has it alone, and where it ends there is no more work.
        os.write(theirs, b"".join(_NUMBER.pack(number) for number in range(len(pieces))))
        os.close(theirs)
        self.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # made once, and not by each of them
        gc.freeze()  # a collection in a worker would copy all of it
        workers = [self._start(session, number, ours, pieces) for number in range(self.count)]
        os.close(ours)
        try:
            self._listen(session, dict(workers))
        finally:
            for _, process in workers:
                process.terminate()
                process.join()
        if not session.testsfailed and any(process.exitcode for _, process in workers):
            raise session.Failed("a worker ended with an error after its tests")
        return True

    def _start(
        self, session: pytest.Session, number: int, queue: int, pieces: list[list[pytest.Item]]
    ) -> tuple[Connection, BaseProcess]:
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_work, args=(session, number, queue, pieces, theirs), daemon=False)
        process.start()
        theirs.close()
        return ours, process

    def _listen(self, session: pytest.Session, workers: dict[Connection, BaseProcess]) -> None:
        left = {item.nodeid: item for item in session.items}
        while workers:
            for connection in wait(list(workers)):
                assert isinstance(connection, Connection)
                try:
                    hook, arguments = pickle.loads(connection.recv_bytes())
                except EOFError:
                    del workers[connection]
                    continue
                self._pass_on(hook, arguments)
                if hook == "pytest_runtest_logfinish":
                    del left[arguments["nodeid"]]
                if session.shouldfail:
                    raise session.Failed(session.shouldfail)
                if session.shouldstop:
                    raise session.Interrupted(session.shouldstop)
        for item in left.values():
            lost = pytest.TestReport(item.nodeid, item.location, {}, "failed", LOST, "call")
            self.config.hook.pytest_runtest_logreport(report=lost)

    def _pass_on(self, hook: str, arguments: dict[str, Any]) -> None:
        """To what counts and prints in this process."""
        if hook == "pytest_runtest_logreport":
            report = self.config.hook.pytest_report_from_serializable(config=self.config, **arguments)
            arguments = {"report": report}
        call = getattr(self.config.hook, hook)
        if call.is_historic():
            call.call_historic(kwargs=arguments)
        else:
            call(**arguments)


def in_pieces(items: list[pytest.Item]) -> Iterator[list[pytest.Item]]:
    """Neighbours that one worker runs, in their order."""
    crowds: dict[str, list[pytest.Item]] = {}
    for item in items:
        if crowd := item.get_closest_marker("crowd"):
            crowds.setdefault(crowd.args[0], []).append(item)
    yield from crowds.values()
    rest = [item for item in items if item.get_closest_marker("crowd") is None]
    for _, found in itertools.groupby(rest, key=lambda item: item.path):
        yield from _of_a_file(list(found))


def _of_a_file(items: list[pytest.Item]) -> Iterator[list[pytest.Item]]:
    """Those that share a fixture first, even if others stand between them: it is made once."""
    for most, found in itertools.groupby(sorted(items, key=_most, reverse=True), key=_most):
        alike = list(found)
        yield from (alike[first : first + most] for first in range(0, len(alike), most))


def _most(item: pytest.Item) -> int:
    """How many tests like this one make a piece."""
    fixtures = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    # Of those that serve more than one test, the ones that pytest brings or that all rooms have cost nothing.
    shared = (each for found in fixtures.values() for each in found if each.scope != "function")
    if any(each.baseid not in ("", "tests") for each in shared):
        return sys.maxsize
    return 1 if item.get_closest_marker("long") or item.get_closest_marker("timing") else MOST


def _work(session: pytest.Session, number: int, queue: int, pieces: list[list[pytest.Item]], to: Connection) -> None:
    """In a fork: run a piece after the other, until there are none."""
    config = session.config
    _on_its_own(config, number)
    config.pluginmanager.register(_Reports(config, to))
    for plugin in config.pluginmanager.get_plugins():
        if hasattr(plugin, "forked"):
            plugin.forked()
    while taken := os.read(queue, _NUMBER.size):
        (place,) = _NUMBER.unpack(taken)
        # What follows is not known yet; of what was set up, that of the session is kept.
        for item, after in itertools.pairwise([*pieces[place], session]):
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    session._setupstate.teardown_exact(None)
    atexit._run_exitfuncs()


def _on_its_own(config: Config, number: int) -> None:
    """What forks must not share: where output is caught, and the folder of temporary folders."""
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()  # as between tests
    temporary = config._tmp_path_factory  # type: ignore[attr-defined]
    temporary._basetemp = temporary.getbasetemp() / f"worker-{number}"
    temporary._basetemp.mkdir()
    config.pluginmanager.unregister(name="terminalreporter")


class _Reports:
    """In a worker: sends what pytest would print."""

    def __init__(self, config: Config, to: Connection) -> None:
        self.config, self.to = config, to

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self._send("pytest_runtest_logreport", data=data)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self._send("pytest_runtest_logfinish", nodeid=nodeid, location=location)

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        said = {"when": when, "nodeid": nodeid, "location": location}
        try:
            self._send("pytest_warning_recorded", warning_message=warning_message, **said)
        except (pickle.PicklingError, TypeError, AttributeError):
            plain = warnings.WarningMessage(
                str(warning_message.message), UserWarning, warning_message.filename, warning_message.lineno
            )
            self._send("pytest_warning_recorded", warning_message=plain, **said)

    def _send(self, hook: str, **arguments: Any) -> None:
        self.to.send_bytes(pickle.dumps((hook, arguments)))
