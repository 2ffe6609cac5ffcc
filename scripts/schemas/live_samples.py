"""Answers of the commands that need a controller: one is started in a folder, and a job moves some bytes under it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.schemas.samples import printed

PATIENCE = 60.0  # seconds
ENOUGH = 4_000_000  # bytes: some tenths of a second
ORDERS = (
    ("status", "status --all"),
    ("status", "top"),
    ("monitoring", "monitoring rules"),
    ("policy", "policy"),
    ("policy", "policy fcfs"),
    ("capacity", "capacity"),
    ("capacity-suggest", "capacity --suggest"),
    ("mode", "mode monitor"),
    ("mode", "pause"),
    ("mode", "resume"),
    ("drain", "drain on"),
    ("drain", "drain off"),
    ("status-mine", "status --mine"),
    ("hook", "hook start --job batch --uid 1000 --names n1"),
    ("hook", "hook end --job batch --node n9"),
    ("tbf", "tbf --servers 2"),
    ("mmqos", "mmqos --device fs1 --classes physics=phys"),
    ("slurm-bridge", "slurm bridge --once --spool spool"),
    ("exempt", "exempt other"),
    ("exempt", "exempt other --remove"),
    ("policy", "policy fair-share"),
)


def live_samples(folder: Path) -> Iterator[tuple[str, Any]]:
    """Every document and an answer of its kind."""
    with contextlib.chdir(folder), _controller(folder) as (address, told):
        yield "serve", told
        os.environ["PENSTOCK_ADDRESS"] = address
        with _busy("held"):
            _until(lambda: json.loads(printed("status --json"))["jobs"])
            yield "dashboard", _dashboard()
            for document, words in ORDERS:
                yield document, json.loads(printed(f"{words} --json"))
            (folder / "bytes").write_bytes(bytes(ENOUGH))  # beside the other job, so that it is held back
            yield "pace", json.loads(_error_stream("pace", "--job", "p", "--json", "--in", "bytes", "--out", "copy"))
        yield "node", _agent(folder)
        yield "node-check", json.loads(printed(f"node --check --spool {folder} --json"))
        yield "run", json.loads(_error_stream("run", "--job", "r", "--volume", "1MB", "--json", "--", "true"))
        with _busy("unwanted"):
            _until(lambda: json.loads(printed("status --json"))["jobs"])
            yield "evict", json.loads(printed("evict unwanted --json"))
    del os.environ["PENSTOCK_ADDRESS"]
    yield from _with_a_standby(folder)
    with contextlib.chdir(folder):
        yield "limited", json.loads(printed("limited --journal journal --json"))
        yield "explain", json.loads(printed("explain p --journal journal --json"))
        yield "explain-policy", json.loads(printed("explain --policy fcfs --journal journal --json"))
        yield "explain-both", json.loads(printed("explain p --policy fcfs --journal journal --json"))
        yield "replay", json.loads(printed("replay journal --json"))
        yield "loadtest", json.loads(printed("loadtest --clients 20 --active 5 --seconds 1 --rate 20 --json"))
        yield "loadtest-agents", json.loads(printed("loadtest --agents 4 --real 2 --cycles 1 --json"))
        yield "pause-host", _host_switch(folder)


def _with_a_standby(folder: Path) -> Iterator[tuple[str, Any]]:
    """One controller leads, the other stands by and is then promoted."""
    places = [folder / name for name in ("shared", "first", "second")]
    for place in places:
        place.mkdir()
    shared, first, second = places
    with _controller(first, "--standby", str(shared)) as (address, _):
        status = f"status --address {address} --json"
        with _controller(second, "--standby", str(shared), waits=False):
            _until(lambda: json.loads(printed(status))["server"]["leader"]["standbys"])
            yield "status", json.loads(printed(status))
            yield "promote", json.loads(printed(f"promote {shared} --json"))


@contextlib.contextmanager
def _controller(folder: Path, *options: str, waits: bool = True) -> Iterator[tuple[str, Any]]:
    place = ["--socket", str(folder / "p.sock"), "--journal", str(folder / "journal"), "--log", str(folder / "log")]
    words = _command("serve", "--capacity", "20MB/s", *place, *options, "--json")
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline()) if waits else None
        yield f"unix:{folder / 'p.sock'}", told
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def _dashboard() -> Any:
    """What a dashboard says once it listens."""
    words = _command("dashboard", "--listen", "127.0.0.1:0", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        process.terminate()
    return told


@contextlib.contextmanager
def _busy(job: str) -> Iterator[None]:
    """A job that has announced a volume and moves nothing."""
    words = _command("pace", "--job", job, "--volume", "1GB")
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.communicate(timeout=PATIENCE)


def _agent(folder: Path) -> Any:
    """The first line of an agent."""
    words = _command("node", "--node", "n1", "--spool", str(folder / "spool"), "--state", str(folder / "node.json"))
    process = subprocess.Popen([*words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    process.terminate()
    process.communicate(timeout=PATIENCE)
    return told


def _error_stream(*words: str) -> str:
    return subprocess.run(_command(*words), capture_output=True, text=True, check=True, timeout=PATIENCE).stderr


def _host_switch(folder: Path) -> Any:
    """As for root, with a file of our own instead of the host's."""
    file = folder / "etc" / "off"
    code = "from pathlib import Path; from penstock.client import config; config.OFF_FILE = Path({!r}); "
    run = "import sys; sys.argv[1:] = ['pause', '--host', '--json']; from penstock.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code.format(str(file)) + run], capture_output=True, check=True)
    shutil.rmtree(file.parent)
    return json.loads(done.stdout)


def _command(*words: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *words]


def _until(true: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
