"""Processes of penstock that start in milliseconds: forked from one that has loaded everything and done nothing yet.

A controller is a second of processor time for its libraries before it does anything, and tests start some hundred of
them. `Forked` is a `subprocess.Popen` for what a test would start as `python -m penstock …` or `python -c …`: a process
of its own, with its own arguments, environment, folder and streams, and a child of whoever started it. What is about
the start itself, or about a variable that is read while libraries are loaded, takes a new interpreter.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

LOADED = ("penstock.cli.group", "penstock.cli.commands.serve", "penstock.live.server.serve", "penstock.studies.share")
# What an interpreter, Numba, our cache of kernels or a library for terminals reads when it is loaded.
_AT_START = ("PYTHON", "NUMBA_", "LC_", "LANG", "LD_", "XDG_CACHE_HOME", "HOME", "COLUMNS", "NO_COLOR", "FORCE_COLOR")
_PR_SET_CHILD_SUBREAPER = 36
_STREAMS = 3


class Forked(subprocess.Popen[Any]):
    """A process of penstock that needs no start of an interpreter, where that makes no difference."""

    def _execute_child(self, args: Sequence[Any], *rest: Any) -> None:
        """In the place of `fork` and `exec`; the order of arguments is that of Python 3.11 to 3.14."""
        _, _, _, _, cwd, env, _, _, _, *streams = rest[:15]
        words = [os.fspath(word) for word in args]
        theirs = dict(os.environ if env is None else env)
        if words[0] != sys.executable or words[1] not in ("-c", "-m") or _at_start(theirs) != _at_start(os.environ):
            super()._execute_child(args, *rest)  # type: ignore[misc]
            return
        p2cread, _, _, c2pwrite, _, errwrite = streams
        descriptors = [own if own != -1 else usual for usual, own in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _loaded().fork(words[1:], os.fspath(cwd or os.getcwd()), theirs, descriptors)
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_AT_START)}


class _Loaded:
    """The process that has everything loaded, as seen from the tests."""

    def __init__(self) -> None:
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        atexit.register(self._end)

    def fork(self, words: list[str], folder: str, env: dict[str, str], descriptors: list[int]) -> int:
        """The number of a new process, which is our child."""
        with tempfile.TemporaryFile() as told, _adopting():
            told.write(json.dumps([words, folder, env]).encode())
            told.seek(0)
            socket.send_fds(self._link, [b"!"], [*descriptors, told.fileno()])
            answer = self._link.recv(100)
        assert answer, "the process that others are forked from has ended"
        return int(answer)

    def _end(self) -> None:
        self._process.terminate()
        self._process.wait()


@contextmanager
def _adopting() -> Iterator[None]:
    """Processes whose parent ends become children of this one, for as long as it takes."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@cache
def _loaded() -> _Loaded:
    return _Loaded()


def serve_forks(link: socket.socket) -> list[str]:
    """Fork for whoever asks; returns in a new process, with the words of its command."""
    while True:
        said, descriptors, _, _ = socket.recv_fds(link, 1, _STREAMS + 1)
        if not said:
            os._exit(0)
        ours, theirs = os.pipe()
        between = os.fork()  # it ends at once, so that its child is adopted by those who asked
        if between == 0:
            parent = os.getpid()
            if child := os.fork():
                os.write(theirs, str(child).encode())
                os._exit(0)
            for each in (ours, theirs):
                os.close(each)
            link.close()
            while os.getppid() == parent:
                time.sleep(0.001)
            return become(*descriptors)
        os.waitpid(between, 0)
        link.send(os.read(ours, 100))
        for each in (ours, theirs, *descriptors):
            os.close(each)


def become(stdin: int, stdout: int, stderr: int, told: int) -> list[str]:
    """Take on streams, folder and environment, as a new interpreter would find them; the words of the command."""
    with open(told, "rb", buffering=0) as file:
        words, folder, env = json.loads(os.pread(told, os.fstat(file.fileno()).st_size, 0))
    for place, each in enumerate((stdin, stdout, stderr)):
        os.dup2(each, place)
        os.close(each)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    tempfile.tempdir = None
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115 - for good
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    found: list[str] = words
    return found


def run(kind: str, what: str, *arguments: str) -> None:
    """As `python -c CODE …` or `python -m MODULE …` does."""
    sys.argv = ["-c" if kind == "-c" else what, *arguments]
    sys.path[0] = "" if kind == "-c" else os.getcwd()
    importlib.invalidate_caches()
    if kind == "-c":
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    for name in LOADED:
        importlib.import_module(name)
    gc.freeze()  # a collection in a new process would copy all of it
    run(*serve_forks(socket.socket(fileno=int(sys.argv[1]))))
