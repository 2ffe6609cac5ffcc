"""The command as its users meet it: inside this process (quick), as a process of its own, and on a terminal."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.user import SCENARIO, STATE, TO_COMPLETION, Outcome, command, environment
from forked import Forked
from penstock.cli import main

Run = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with a windowed scenario, one without a window, and a state."""
    monkeypatch.chdir(tmp_path)
    Path("jobs.yaml").write_text(SCENARIO)
    Path("all.yaml").write_text(TO_COMPLETION)
    Path("state.json").write_text(STATE)
    return tmp_path


@pytest.fixture
def penstock(folder, monkeypatch, capsys) -> Run:
    """Run a command in this process."""
    monkeypatch.setenv("PENSTOCK_QUIET", "1")

    def run(*arguments: str, stdin: str | None = "") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["penstock", *arguments])
        monkeypatch.setattr(sys, "stdin", None if stdin is None else io.StringIO(stdin))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        code: Any = left.value.code
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def process(folder) -> Run:
    """Run a command as a process of its own."""

    def run(*arguments: str, stdin: bytes = b"", **changes: str) -> Outcome:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with Forked(command(*arguments), env=environment(PENSTOCK_QUIET="1", **changes), **pipes) as child:
            out, err = child.communicate(stdin)
        return Outcome(child.returncode, out.decode(), err.decode())

    return run


@pytest.fixture
def terminal(folder) -> Run:
    """Run a command whose streams named in `on` are a terminal; what appears there comes back in place of them."""

    def run(*arguments: str, on: str, **changes: str) -> Outcome:
        ours, theirs = pty.openpty()
        streams: dict[str, Any] = {
            name: theirs if name in on.split() else subprocess.PIPE for name in ("stdout", "stderr")
        }
        child = Forked(
            command(*arguments),
            stdin=subprocess.DEVNULL,
            env=environment(PENSTOCK_QUIET="1", TERM="xterm-256color", **changes),
            **streams,
        )
        os.close(theirs)
        seen = _all_of(ours)
        out, err = (stream.decode() if stream is not None else seen for stream in child.communicate())
        return Outcome(child.returncode, out, err)

    return run


def _all_of(descriptor: int) -> str:
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # how Linux says that nobody holds the other end any more
            piece = b""
        if not piece:
            os.close(descriptor)
            return b"".join(pieces).decode()
        pieces.append(piece)
