"""The command that `penstock run` stands in for: whoever started us meets its signals and its end as if they were ours.

Signals that somebody sends to us are passed on. Those of a terminal are not: the terminal sends them to the command
itself, which is in our process group. When the command stops, so do we, so that the shell notices; when we are
continued, so is the command.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from penstock.cli.parts.leave import leave

PASSED_ON = frozenset(
    {
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGTSTP,
        signal.SIGCONT,
        signal.SIGWINCH,
        signal.SIGALRM,
    }
)
ENDING = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
# What Python ignores and other programs do not expect to be ignored.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_NOT_FOUND, _NOT_RUNNABLE = 127, 126


class Signals:
    """From here on, signals wait until somebody asks for them. Made before any thread is."""

    def __init__(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self.before = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON | {signal.SIGCHLD})

    def next(self, seconds: float) -> signal.struct_siginfo | None:
        """The next one within so many seconds."""
        return signal.sigtimedwait(PASSED_ON | {signal.SIGCHLD}, seconds)

    def die(self, number: int) -> None:
        """End as a process that the signal killed; a core dump of us would help nobody."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
        os.kill(os.getpid(), number)
        sys.exit(128 + number)  # nearly all of them kill


def replace_us(command: Sequence[str]) -> NoReturn:
    """Become the command."""
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], list(command))
    except OSError as error:
        cannot_run(command[0], error)


def start(command: Sequence[str], env: Mapping[str, str], signals: Signals) -> int:
    """Start the command with our streams, and with the signals that we were started with; its process id."""
    try:
        return os.posix_spawnp(
            command[0], list(command), dict(env), setsigmask=signals.before, setsigdef=_IGNORED_BY_PYTHON
        )
    except OSError as error:
        cannot_run(command[0], error)
        raise


def attend(pid: int, signals: Signals, now_and_then: Callable[[], None], every: float) -> int:
    """Stand in for the command until it ends; its exit code, or the number of the signal that killed it, negative."""
    while True:
        told = signals.next(every)
        if told is not None and told.si_signo != signal.SIGCHLD and told.si_code <= 0:  # 0 or less: by a process
            os.kill(pid, told.si_signo)
        ended, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if ended and os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)
            os.kill(pid, signal.SIGCONT)
        elif ended:
            return os.waitstatus_to_exitcode(status)
        now_and_then()


def cannot_run(command: str, error: OSError) -> NoReturn:
    """Leave with the code that shells use for a command that cannot be run."""
    found = not isinstance(error, FileNotFoundError)
    leave(f"{command}: {(error.strerror or str(error)).lower()}", _NOT_RUNNABLE if found else _NOT_FOUND)
