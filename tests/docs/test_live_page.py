"""The page that shows the controller in ten minutes, followed to the letter: every terminal is a shell of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cli.controlled import PATIENCE, until
from cli.user import environment
from penstock.client.config import parse_address
from penstock.live.admin import NoController, ask

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```console title="(terminals? [^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
STEPS = [
    (terminal, re.findall(r"^\$ (.*)$", text, re.MULTILINE))
    for terminal, text in BLOCK.findall((ROOT / "docs" / "guide" / "live.md").read_text())
]
ALL = 60e6  # bytes/s


class Newcomer:
    """Somebody with an empty home, who types what the page says."""

    def __init__(self, home: Path) -> None:
        self.home = home
        tools = home / "bin"
        tools.mkdir()
        (tools / "penstock").write_text(f'#!/bin/sh\nexec {sys.executable} -m penstock "$@"\n')
        (tools / "penstock").chmod(0o755)
        odd = ("PENSTOCK_", "SLURM_", "XDG_RUNTIME")
        mine = {name: value for name, value in environment().items() if not name.startswith(odd)}
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        self._env = {**mine, "HOME": str(home), "PATH": f"{tools}:{mine['PATH']}", "XDG_CACHE_HOME": cache}
        self._export = ""
        self.open: dict[str, subprocess.Popen[str]] = {}

    def type(self, terminal: str, lines: list[str]) -> str:
        """What the terminal shows; in those that are kept busy, nothing yet."""
        if terminal.startswith("terminals"):
            [self._export] = lines
            return ""
        busy = terminal in ("terminal 1", "terminal 2", "terminal 3", "terminal 4")
        script = "\n".join(lines if terminal == "terminal 1" else [self._export, *lines])
        shell = subprocess.Popen(
            ["bash", "--norc", "-c", script],
            env=self._env,
            cwd=self.home / "live" if (self.home / "live").exists() else self.home,
            stdout=subprocess.DEVNULL if busy else subprocess.PIPE,
            stderr=subprocess.DEVNULL if busy else subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        if busy:
            self.open[terminal] = shell
            return ""
        shown, _ = shell.communicate(timeout=PATIENCE)
        assert shell.returncode == 0, (script, shown)
        return shown

    def interrupt(self, terminal: str) -> int:
        """Press Ctrl-C; how the shell ended."""
        shell = self.open.pop(terminal)
        os.killpg(shell.pid, signal.SIGINT)
        return shell.wait(PATIENCE)

    def jobs(self) -> dict[str, float]:
        """Who is granted what, as soon as the controller answers."""
        address = parse_address(f"unix:{self.home / 'live' / 'p.sock'}")
        with suppress(NoController):
            return {job["job"]: job["rate"] for job in ask(address, "top", count=10)}
        return {}

    def sees(self, **rates: float) -> None:
        """Wait until the controller grants this, within a small part."""
        until(lambda: _close(self.jobs(), rates))
        assert all(shell.poll() is None for shell in self.open.values()), "somebody stopped"

    def leave(self) -> None:
        for shell in self.open.values():
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait(PATIENCE)


def _close(found: dict[str, float], wanted: dict[str, float]) -> bool:
    return found.keys() == wanted.keys() and all(abs(found[job] - rate) <= 0.03 * ALL for job, rate in wanted.items())


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Newcomer]:
    found = Newcomer(tmp_path)
    yield found
    found.leave()


@pytest.mark.slow
def test_the_page_works_the_first_time(newcomer: Newcomer) -> None:
    step: Iterator[tuple[str, list[str]]] = iter(STEPS)

    def typed() -> str:
        return newcomer.type(*next(step))

    shared = {"climate": ALL / 3, "fusion": ALL / 3, "ocean": ALL / 3}
    typed()  # the controller
    until((newcomer.home / "live" / "p.sock").exists)
    typed()  # where it is
    typed()
    newcomer.sees(climate=ALL)
    typed()
    newcomer.sees(climate=ALL / 2, fusion=ALL / 2)
    typed()
    newcomer.sees(**shared)
    assert "3 of 3 jobs active" in typed()  # top
    assert "fcfs" in typed()
    newcomer.sees(climate=ALL, fusion=0.0, ocean=0.0)
    assert "fair-share" in typed()
    newcomer.sees(**shared)
    typed()  # kill -9
    newcomer.sees(**shared)
    assert newcomer.interrupt("terminal 1") == 0
    typed()  # the controller again
    newcomer.sees(**shared)
    history = typed()
    assert all(word in history for word in ("job fusion", "limited in the last", "every one is the same again"))
    for writer in ("terminal 2", "terminal 3", "terminal 4"):
        newcomer.interrupt(writer)
    assert "greedy-yield" in typed()
    assert next(step, None) is None
