"""Tests against a change, each in a forked process that has everything imported and collected already.

pytest collects the tests once. Where it would run them, every mutant gets a fork of that process, in which the changed
function is given its new code. No file is written, so a run that is stopped leaves nothing behind. First the tests run
without a change: those that pass and are quick enough try the mutants, quickest first. What a module computed when it
was imported stays as it was.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import NoReturn

import pytest
from hypothesis import Phase, settings

from scripts.mutate.mutants import Mutant

PROFILE = "mutate"  # of hypothesis
_MEMORY = 4 << 30  # bytes; a loop that no longer ends may fill a list
_AGAIN = 1.0  # seconds after which a test that goes on although it takes too long is told so again
_SLOWER = 10.0  # times that a test may take what it takes without a mutant, and a second


@dataclass
class Result:
    """What became of the tests: seconds of each that passed, and what stopped them, if something did."""

    seconds: dict[str, float] = field(default_factory=dict)
    stopped: str = ""


Tell = Callable[[Path, Mutant, Result], None]


class Trials:
    """A pytest plugin that tries `mutants`, pairs of a module's path and a change, for so many `seconds`."""

    def __init__(self, mutants: Sequence[tuple[Path, Mutant]], seconds: float, longest: float, tell: Tell) -> None:
        self._mutants, self._seconds, self._longest, self._tell = mutants, seconds, longest, tell

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run every test for each mutant instead of once."""
        whole = forked(lambda: _ran(session.items, lambda name: self._longest, stop=False), limit=3600.0)
        if not whole.seconds:
            pytest.exit(f"no test passes without a change: {whole.stopped}")
        quick = {name: seconds for name, seconds in whole.seconds.items() if seconds <= self._longest}
        items = sorted((item for item in session.items if item.nodeid in quick), key=lambda item: quick[item.nodeid])
        functions = _functions({path for path, _ in self._mutants})
        gc.freeze()  # so that no fork looks at, and copies, what all of them share
        print(f"{len(items)} of {len(session.items)} tests, {sum(quick.values()):.1f} s", flush=True)
        until = time.monotonic() + self._seconds
        for path, mutant in self._mutants:
            if time.monotonic() > until:
                break
            changed = functions.get((path, mutant.outermost), [])
            result = forked(partial(_ran_changed, items, quick, path, mutant, changed), _most(sum(quick.values())))
            # Who noticed one mutant notices the next one likely, too.
            items.sort(key=lambda item: item.nodeid != result.stopped)
            self._tell(path, mutant, result)
        return True


def register_profile() -> None:
    """As many examples as in `make test`, the same every time, and when one fails, no search for a smaller one."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(PROFILE, max_examples=10, derandomize=True, deadline=None, database=None, phases=phases)


def _most(seconds: float) -> float:
    """How long something may take with a mutant that takes so many seconds without."""
    return 1.0 + _SLOWER * seconds


def _ran_changed(
    items: list[pytest.Item], seconds: dict[str, float], path: Path, mutant: Mutant, functions: list[FunctionType]
) -> Result:
    if not functions:
        return Result(stopped="nothing: it is not there once the module is imported")
    codes = _codes(compile(mutant.tree(), str(path), "exec", dont_inherit=True))
    new = {code.co_firstlineno: code for code in codes if code.co_qualname == mutant.outermost}
    for function in functions:
        function.__code__ = new[function.__code__.co_firstlineno]
    return _ran(items, lambda name: _most(seconds[name]), stop=True)


def _functions(paths: set[Path]) -> dict[tuple[Path, str], list[FunctionType]]:
    """All functions that these files define, by file and name."""
    found: dict[tuple[Path, str], list[FunctionType]] = {}
    names = {str(path): path for path in paths}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename in names:
            path = names[each.__code__.co_filename]
            found.setdefault((path, each.__code__.co_qualname), []).append(each)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _ran(items: list[pytest.Item], longest: Callable[[str], float], stop: bool) -> Result:
    """Run tests; one that takes the `longest` for its name fails. `stop` at the first that does."""
    result = Result()
    watcher = _Watcher(result, longest)
    items[0].config.pluginmanager.register(watcher)
    for item, after in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if stop and result.stopped:
            break
    return result


def _too_long(number: int, frame: object) -> NoReturn:
    pytest.fail("it takes too long")


class _Watcher:
    """Notes how tests go."""

    def __init__(self, result: Result, longest: Callable[[str], float]) -> None:
        self._result, self._longest = result, longest
        signal.signal(signal.SIGALRM, _too_long)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_REAL, self._longest(item.nodeid), _AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._result.stopped = self._result.stopped or report.nodeid
            self._result.seconds.pop(report.nodeid, None)
        elif report.when == "call" and report.passed:
            self._result.seconds[report.nodeid] = report.duration


def forked(work: Callable[[], Result], limit: float) -> Result:
    """What `work` gives in a process of its own that may take `limit` seconds."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _in_child(work, writing)
    os.close(writing)
    in_time = _ended(child, limit)
    with open(reading, encoding="utf-8") as pipe:
        told = pipe.read() if in_time else ""
    if told:
        return Result(**json.loads(told))
    return Result(stopped="an end without a word" if in_time else "the time limit")


def _in_child(work: Callable[[], Result], writing: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    try:
        told = json.dumps(vars(work()))
        with open(writing, "w", encoding="utf-8") as pipe:
            pipe.write(told)
    finally:
        os._exit(0)


def _ended(child: int, limit: float) -> bool:
    """Wait for a process; end it when its time is over, and whatever it started in any case."""
    until = time.monotonic() + limit
    in_time = False
    while not in_time and time.monotonic() < until:
        time.sleep(0.01)
        in_time = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return in_time
