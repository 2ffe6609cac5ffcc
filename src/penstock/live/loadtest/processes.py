"""The processes that a load test of the controller starts, and what the kernel knows about one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.live.loadtest.errors import LoadTestFailed
from penstock.live.loadtest.transports import HOST, KID, Transport, free_port

PATIENCE = 120.0  # seconds to be let in: where that takes long, the test says how long
_CPU_CLOCK = 2  # of all threads together, in the number that the kernel gives to the clock of a process


class Child:
    """A process that says one line when it is ready, and is killed in the end."""

    def __init__(self, *command: str) -> None:
        self._command = (sys.executable, "-m", *command)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """Its number."""
        assert self._process is not None
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it is no more."""
        return self._process is None or self._process.poll() is not None

    def start(self) -> None:
        """Start it, without waiting."""
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ready(self) -> str:
        """The line that it says when it is ready."""
        assert self._process is not None and self._process.stdout is not None and self._process.stderr is not None
        if line := self._process.stdout.readline():
            return line
        said = self._process.stderr.read().strip().splitlines()
        raise LoadTestFailed(f"{self._command[2]} did not start: {said[-1] if said else 'no reason given'}")

    def kill(self) -> None:
        """End it as hard as can be."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.communicate()
            self._process = None


def way_in(folder: Path, transport: str) -> Transport:
    """How clients reach the controller of a folder, with all the papers that it takes."""
    if transport == "unix":
        return Transport(transport, str(_socket_in(folder)))
    way = Transport(transport, port=free_port(), papers=folder, key=os.urandom(32).hex().encode())
    way.make_papers()
    return way


def controller(folder: Path, clients: int, way: Transport) -> Child:
    """A controller of its own, with room for so many clients."""
    config: dict[str, Any] = {
        "capacity": "1 TB/s",
        "machine_nodes": clients,
        "socket": {"path": str(_socket_in(folder))},
        "journal": {"directory": str(folder / "journal")},
        "quotas": {"connections": clients + 100, "authenticate_seconds": PATIENCE},
        "log": {"file": str(folder / "log"), "level": "warning"},
    }
    if way.transport != "unix":
        config |= _tcp(folder, way)
    file = folder / "controller.yaml"
    file.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML, too
    return Child("penstock", "serve", "--json", "--config", str(file))


def _tcp(folder: Path, way: Transport) -> dict[str, Any]:
    """What the configuration says about clients that come over TCP."""
    key = folder / "site.key"
    key.touch(0o600)
    key.write_bytes(way.key)
    shown = {"certificate": str(way.certificate), "key": str(way.certificate_key)}
    tcp = {"listen": f"{HOST}:{way.port}", **({"plain": True} if way.transport == "tcp-plain" else shown)}
    return {"tcp": tcp, "auth": ["peer", "hmac"], "keys": {KID: str(key)}}


def _socket_in(folder: Path) -> Path:
    return folder / "socket"


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has had."""
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


def memory(pid: int) -> float:
    """Memory that a process holds now, in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
