from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.controller import PATIENCE, Controller, until
from penstock.client import config, link, process


@pytest.fixture
def socket_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a controller may listen; this process, and those it starts, look for it there.

    A job that waits for an answer gives up after a second or two, and a busy machine may take that long. Only tests of
    the limits themselves have short ones.
    """
    for name in [name for name in os.environ if name.startswith(("PENSTOCK", "SLURM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(config, "SYSTEM_SOCKET", tmp_path / "nowhere")
    path = tmp_path / "p.sock"
    monkeypatch.setenv("PENSTOCK_ADDRESS", f"unix:{path}")
    monkeypatch.setenv("PENSTOCK_JOB", "test")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PENSTOCK_TIMEOUT", f"{PATIENCE:g}")
    for limit in ("CONNECT_LIMIT", "HELLO_LIMIT", "LEAVE_LIMIT"):
        monkeypatch.setattr(link, limit, PATIENCE)
    process.reset()
    yield path
    process.reset()
    until(lambda: "penstock-link" not in [thread.name for thread in threading.enumerate()])


@pytest.fixture
def controller(socket_path: Path) -> Iterator[Controller]:
    with Controller(socket_path) as running:
        yield running
