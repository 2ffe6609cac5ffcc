from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from client.controller import Controller
from penstock.client import config, process


@pytest.fixture
def socket_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where a controller may listen; this process, and those it starts, look for it there."""
    for name in [name for name in os.environ if name.startswith(("PENSTOCK", "SLURM_"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(config, "SYSTEM_SOCKET", tmp_path / "nowhere")
    path = tmp_path / "p.sock"
    monkeypatch.setenv("PENSTOCK_ADDRESS", f"unix:{path}")
    monkeypatch.setenv("PENSTOCK_JOB", "test")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    process.reset()
    yield path
    process.reset()


@pytest.fixture
def controller(socket_path: Path) -> Iterator[Controller]:
    with Controller(socket_path) as running:
        yield running
