"""The link, the controller, and the processes that meet on them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
APPLICATION = Path(__file__).with_name("application.py")
ADDRESSES = 16
START, STOP = 1.0, 15.0  # seconds


def obstacle() -> str | None:
    """Why there can be no link on this machine, or None if there can."""
    if os.geteuid() != 0:
        return "a link of one's own needs root"
    missing = [program for program in ("ip", "tc", "nginx") if shutil.which(program) is None]
    if missing:
        return f"{', '.join(missing)} not on the PATH (Debian: iproute2, nginx-light)"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return None if tried.returncode == 0 else "this machine lets nobody make a network namespace"


@contextmanager
def link_up(megabytes: int = 50) -> Iterator[Link]:
    """A link of so many MB/s, headers included, for as long as the block takes."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="penstock-link-", dir=memory if os.access(memory, os.W_OK) else None))
    try:
        subprocess.run([SCRIPTS / "link-up.sh", folder, str(megabytes), str(ADDRESSES)], check=True)
        yield Link(folder)
    finally:
        subprocess.run([SCRIPTS / "link-down.sh", folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


class Link:
    """Jobs on one side, a file server on the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._jobs = (folder / "jobs").read_text().strip()

    def run(self, told: Sequence[dict[str, Any]], environments: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
        """Run one application for each thing told, all from the same moment on; what they have to say."""
        with ExitStack() as stack:
            running = []
            for place, (each, environment) in enumerate(zip(told, environments, strict=True)):
                address = {"source": f"198.18.0.{11 + place}"}
                running.append(stack.enter_context(self._start({**address, **each}, environment)))
            for process in running:
                if process.stdout.readline() != "ready\n":
                    raise RuntimeError(f"an application did not start; {self.folder} may say why")
            begin = time.monotonic() + START
            for process in running:
                process.stdin.write(f"{begin!r}\n")
                process.stdin.flush()
            return [json.loads(process.stdout.readline()) for process in running]

    @contextmanager
    def _start(self, told: dict[str, Any], environment: dict[str, str]) -> Iterator[Any]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("PENSTOCK", "SLURM"))}
        command = ["ip", "netns", "exec", self._jobs, sys.executable, str(APPLICATION), json.dumps(told)]
        where = {"PENSTOCK_JOB": told["name"], "TMPDIR": str(self.folder), **environment}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, text=True, env={**own, **where}, stdin=pipe, stdout=pipe) as process:
            try:
                yield process
            finally:
                stop(process, signal.SIGKILL if sys.exc_info()[0] else None)

    @contextmanager
    def controller(self, sharing: str, capacity: float) -> Iterator[dict[str, str]]:
        """`penstock serve`; gives what the environment of its jobs needs."""
        folder = Path(tempfile.mkdtemp(prefix=f"{sharing}-", dir=self.folder))
        command = [sys.executable, "-m", "penstock", "serve", "--json", "--capacity", f"{capacity:.0f}"]
        command += ["--sharing", sharing, "--nodes", str(ADDRESSES), "--socket", str(folder / "socket")]
        command += ["--journal", str(folder / "journal"), "--log", str(folder / "log")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                said = process.stdout.readline() if process.stdout else ""
                if not said:
                    raise RuntimeError("the controller did not start")
                yield dict([json.loads(said)["environment"].split("=", 1)])
            finally:
                stop(process, signal.SIGTERM)


def stop(process: subprocess.Popen[str], number: int | None) -> None:
    """Wait for a process, after a signal if there is one to send; it does not get for ever."""
    if number is not None:
        process.send_signal(number)
    try:
        process.wait(STOP)
    except subprocess.TimeoutExpired:
        process.kill()
