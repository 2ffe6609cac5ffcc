from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.client import config
from penstock.client.amounts import parse_amount
from penstock.client.config import Address, from_environment, parse_address
from penstock.errors import InvalidOption


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/run/p.sock", Address(path="/run/p.sock")),
        ("/run/p.sock", Address(path="/run/p.sock")),
        ("tcp://io.example.org:7070", Address(host="io.example.org", port=7070)),
        ("tcp://[::1]:7070", Address(host="::1", port=7070)),
        ("tcp-plain://h:1", Address(host="h", port=1, tls=False)),
    ],
)
def test_addresses(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text", ["", "run/p.sock", "tcp://h", "tcp://h:0", "tcp://:1", "tcp://h:x", "http://h:1", "tcp://h:99999"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InvalidOption, match="PENSTOCK_ADDRESS is"):
        parse_address(text)


def test_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "SYSTEM_SOCKET", tmp_path / "system.sock")
    found = from_environment({"TMPDIR": str(tmp_path)})
    assert found.address is None and found.settings.off
    assert found.settings.job.endswith(f".{os.getsid(0)}")
    assert (found.settings.nodes, found.settings.cap, found.settings.timeout) == (1, None, 2.0)


def test_the_usual_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "SYSTEM_SOCKET", tmp_path / "system.sock")
    env = {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    (tmp_path / "system.sock").touch()
    assert from_environment(env).address == Address(path=str(tmp_path / "system.sock"))
    (tmp_path / "penstock.sock").touch()
    assert from_environment(env).address == Address(path=str(tmp_path / "penstock.sock"))
    assert from_environment({**env, "PENSTOCK_ADDRESS": "/x"}).address == Address(path="/x")
    off = from_environment({**env, "PENSTOCK": "off", "PENSTOCK_BUCKET": "/b"})
    assert off.address is None and off.bucket is None


def test_all_of_the_environment(tmp_path: Path) -> None:
    found = from_environment(
        {
            "TMPDIR": str(tmp_path),
            "PENSTOCK_ADDRESS": "tcp://h:1",
            "PENSTOCK_CA": "/ca",
            "PENSTOCK_NODES": "4",
            "PENSTOCK_CAP": "2GB/s",
            "PENSTOCK_FALLBACK": "100 MB/s",
            "PENSTOCK_TIMEOUT": "0.5",
            "SLURM_JOB_ID": "77",
            "SLURM_JOB_ACCOUNT": "physics",
        }
    )
    settings = found.settings
    assert (settings.job, settings.nodes, settings.cap, settings.fallbacks) == ("77", 4, 2e9, {"": 1e8})
    assert (settings.timeout, settings.labels["account"], found.ca) == (0.5, "physics", "/ca")
    assert settings.labels["node"] == os.uname().nodename.partition(".")[0]
    assert from_environment({"SLURMD_NODENAME": "n17"}).settings.labels == {"node": "n17"}


def test_the_job_of_penstock_comes_first(tmp_path: Path) -> None:
    env = {"TMPDIR": str(tmp_path), "SLURM_JOB_ID": "77", "PENSTOCK_JOB": "mine"}
    assert from_environment(env).settings.job == "mine"


@pytest.mark.parametrize(
    ("text", "amount"),
    [("10GB", 1e10), ("1.5 GiB", 1.5 * 2**30), ("7", 7), (7, 7), ("1e3 kB", 1e6), ("2 MB/s", 2e6), ("1_000", 1000)],
)
def test_amounts(text: object, amount: float) -> None:
    assert parse_amount(text, "it") == amount


@pytest.mark.parametrize("text", ["", "GB", "10Gb", "-1", "1 XB", "nan", None, [], 1e19, float("inf")])
def test_what_is_no_amount(text: object) -> None:
    with pytest.raises(InvalidOption, match="it is"):
        parse_amount(text, "it")


HEAVY = ("numpy", "numba", "pydantic", "yaml", "rich", "typer", "asyncio", "ssl", "hashlib", "ctypes", "subprocess")


def test_nothing_heavy_is_imported() -> None:
    script = f"import sys, penstock.client; print([name for name in {HEAVY!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_importing_takes_less_than_a_tenth_of_a_second() -> None:
    """On a slow machine, no more than four times what it takes to import the libraries: now it is twice that."""
    ours, libraries = "penstock.client", "msgspec, logging, selectors, struct, threading, pathlib"
    assert best_import(ours) < max(0.1, 4 * best_import(libraries))


def best_import(modules: str) -> float:
    """Seconds of processor time, the best of five."""
    script = f"import time; t = time.process_time(); import {modules}; print(time.process_time() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in range(5)
    ]
    return min(float(run.stdout) for run in runs)
