"""`penstock run --strict`: the kernel asks a supervisor before programs without the library read or write (`strict.c`).

Whoever starts a command so runs two more things. `python -m penstock.cli.parts.strict start …` puts the filter in
front of itself, hands the listener over, and becomes the command. `… supervise …` answers until the last process with
the filter is gone, whatever becomes of the one that started it: were it killed, their calls would fail with ENOSYS.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from penstock.cli.parts.child_process import Signals, replace_us
from penstock.cli.parts.leave import leave
from penstock.client.shim.library import NoLibrary, library

_WHY = {
    errno.EBUSY: "another supervisor has this process already",
    errno.ENOSYS: "this kernel has no seccomp",
    errno.EINVAL: "this kernel has no seccomp user notification (it takes Linux 5.9)",
    errno.EPERM: "seccomp filters are not permitted here",
    errno.EACCES: "seccomp filters are not permitted here",
}
_LACKS = "this kernel does not let a call go on after a notification (it takes Linux 5.9)"
_REFUSED = 2  # the exit code
# Of a terminal or of who ends a job: the supervisor is needed for as long as any of its processes lives.
_NOT_FOR_US = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGUSR1,
               signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE)  # fmt: skip


Starts = Callable[[Sequence[str], Mapping[str, str], Signals], int]  # a command; its process id


class NotStrict(Exception):
    """Why the kernel cannot be asked to ask; one sentence."""


def strict_start(bucket: Path) -> Starts:
    """How a command is started whose calls are paid for from `bucket`; ends us where that cannot be.

    Tries it with a process that is forked, so it is for one that has no threads yet.
    """
    try:
        path = library()
        _check(path)
    except (NoLibrary, NotStrict, OSError) as reason:
        leave(f"--strict cannot be had: {reason}", _REFUSED)

    def starts(command: Sequence[str], env: Mapping[str, str], signals: Signals) -> int:
        try:
            return _start_with_supervisor(path, command, env, signals, bucket)
        except (NotStrict, OSError) as reason:
            leave(f"--strict cannot be had: {reason}", _REFUSED)

    return starts


def paid_for(bucket: Path) -> dict[str, str]:
    """What programs are told that are paid for: those that would pay by themselves do not, lest they do it twice."""
    return {"PENSTOCK_BUCKET": str(bucket), "PENSTOCK": "off"}


def _check(library: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        child = os.fork()
        if child == 0:
            try:
                if _hand_over(library, theirs):
                    os.write(theirs.fileno(), b"!")
            finally:
                os._exit(0)
        try:
            listener = _received(ours)
            lacks = ctypes.CDLL(str(library)).penstock_try_strict(listener)
            os.close(listener)
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if lacks:
        raise NotStrict(_LACKS)


def _start_with_supervisor(
    library: Path, command: Sequence[str], env: Mapping[str, str], signals: Signals, bucket: Path
) -> int:
    mask = signals.before
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.set_inheritable(True)
        words = _ourselves("start", str(library), str(theirs.fileno()), *command)
        pid = os.posix_spawn(sys.executable, words, dict(env), setsigmask=mask)
        theirs.close()
        try:
            listener = _received(ours)
        except NotStrict:
            os.waitpid(pid, 0)
            raise
        os.set_inheritable(listener, True)
        # Without what a batch system preloads: behind another copy of it the library would do nothing.
        paying = {**env, "PENSTOCK_BUCKET": str(bucket), "PENSTOCK": "", "LD_PRELOAD": ""}
        streams = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in range(3)]
        words = _ourselves("supervise", str(library), str(listener))
        os.posix_spawn(sys.executable, words, paying, file_actions=streams, setsigmask=mask, setsid=True)
        os.close(listener)
    return pid


def _ourselves(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "penstock.cli.parts.strict", *words]


def _hand_over(library: Path, link: socket.socket) -> bool:
    """Put the filter in front of this process, and send the listener, or why there is none; whether there is one."""
    listener: int = ctypes.CDLL(str(library)).penstock_filter()
    if listener < 0:
        link.sendall(str(-listener).encode())
        return False
    socket.send_fds(link, [b"0"], [listener])
    os.close(listener)
    return True


def _received(link: socket.socket) -> int:
    """The listener that was sent."""
    said, found, _, _ = socket.recv_fds(link, 16, 1)
    if found:
        return found[0]
    number = int(said or b"0")
    raise NotStrict(_WHY.get(number, os.strerror(number).lower() if number else "its start failed"))


def _start(library: str, link: str, *command: str) -> None:
    with socket.socket(fileno=int(link)) as theirs:
        if not _hand_over(Path(library), theirs):
            sys.exit(_REFUSED)
    replace_us(command)


def _supervise(library: str, listener: str) -> None:
    for number in _NOT_FOR_US:
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(library).penstock_supervise(int(listener))


if __name__ == "__main__":
    what, *words = sys.argv[1:]
    _start(*words) if what == "start" else _supervise(*words)
