"""A real controller in a process of its own, started by the command, and jobs under it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from cli.user import command, environment
from forked import Forked
from penstock.client.config import parse_address
from penstock.live.admin import ask

RATE = 20_000_000.0  # bytes/s: what the controller shares
LEASE, BEAT = 6.0, 0.5
PATIENCE = 90.0  # seconds: a busy machine takes long to start a process
# A job does not wait for more than a second or two for its controller, and goes on without; that is tested elsewhere.
PATIENT = f"from penstock.client import link; link.CONNECT_LIMIT = link.HELLO_LIMIT = link.LEAVE_LIMIT = {PATIENCE}; "


def until(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """What is true at last."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
    return found


def patient(*arguments: str) -> list[str]:
    """The command, with more time than usual for a controller to answer."""
    return [sys.executable, "-c", f"{PATIENT}from penstock.cli import main; main()", *arguments]


class Controller:
    """`penstock serve` in a folder: socket, journal and log are in it."""

    def __init__(self, folder: Path, *options: str, **config: Any) -> None:
        self.folder, self.socket, self.journal = folder, folder / "p.sock", folder / "journal"
        file = folder / "controller.yaml"
        file.write_text(yaml.safe_dump({"capacity": RATE, "machine_nodes": 2, "lease": LEASE, "beat": BEAT, **config}))
        self._options = ["--config", str(file), "--socket", str(self.socket), "--journal", str(self.journal), *options]
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"unix:{self.socket}"

    @property
    def process(self) -> subprocess.Popen[str]:
        """Its process."""
        assert self._process is not None
        return self._process

    def start(self) -> dict[str, Any]:
        """What it says once it listens."""
        self.begin_to_start()
        return self.listening()

    def begin_to_start(self) -> None:
        """Start it, and do not wait: one that stands by may listen much later."""
        self._process = Forked(
            command("serve", *self._options, "--log", str(self.folder / "log"), "--json"),
            env=environment(PENSTOCK_QUIET="1"),
            stdout=subprocess.PIPE,
            text=True,
        )

    def listening(self) -> dict[str, Any]:
        """What it says once it listens."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def stop(self, number: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        assert self._process is not None and self._process.stdout is not None
        self._process.send_signal(number)
        code = self._process.wait(PATIENCE)
        self._process.stdout.close()
        self._process = None
        return code

    def ask(self, verb: str, **args: Any) -> Any:
        """An operator's question."""
        return ask(parse_address(self.address), verb, timeout=PATIENCE, **args)

    def jobs(self) -> dict[str, dict[str, Any]]:
        """The active jobs by name."""
        return {job["job"]: job for job in self.ask("top", count=100)}

    def known(self, job: str) -> dict[str, Any] | None:
        """A job, active or not."""
        return next((each for each in self.ask("snapshot")["applications"] if each["job"] == job), None)

    def user(self, job: str, **changes: str) -> dict[str, str]:
        """The environment of a job that knows the controller."""
        own = {"PENSTOCK_ADDRESS": self.address, "PENSTOCK_JOB": job, "TMPDIR": str(self.folder)}
        return environment(PENSTOCK_QUIET="1", PENSTOCK_TIMEOUT=f"{PATIENCE:g}", **{**own, **changes})

    def begin(self, job: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
        """Start a command as a job."""
        return subprocess.Popen(patient(*arguments), env=self.user(job), **streams)

    @contextmanager
    def holding(self, job: str, volume: str = "1GB") -> Iterator[subprocess.Popen[bytes]]:
        """A job that has announced a volume and moves nothing of it."""
        pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
        process = self.begin(job, "pace", "--volume", volume, **pipe)
        try:
            until(lambda: job in self.jobs())
            yield process
        finally:
            process.communicate(timeout=PATIENCE)
            until(lambda: job not in self.jobs())

    def __enter__(self) -> Controller:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.stop(signal.SIGKILL)


def no_controller() -> dict[str, str]:
    """The environment of a job that knows of none."""
    odd = ("PENSTOCK", "XDG_RUNTIME_DIR", "SLURM_")
    return {name: value for name, value in environment().items() if not name.startswith(odd)} | {"PENSTOCK": "off"}


def stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def ended(process: subprocess.Popen[bytes], seconds: float = PATIENCE) -> int:
    """Its exit code; a process that hangs is killed, and the test fails."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        raise
