"""A real controller, a real dashboard, and a real browser that looks at it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.controlled import PATIENCE, Controller
from cli.user import command, environment
from forked import Forked

WRITER = """
import sys
from penstock.client import io_phase
with io_phase(int(float(sys.argv[1]))) as phase:
    while True:
        phase.acquire(100_000)
"""


class Screen:
    """`penstock dashboard` of a controller."""

    def __init__(self, controller: Controller, *options: str) -> None:
        told = ("--address", controller.address, "--journal", str(controller.journal), "--listen", "127.0.0.1:0")
        self._process = Forked(
            command("dashboard", *told, *options, "--json"), env=environment(), stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.url: str = json.loads(self._process.stdout.readline())["url"]

    def stop(self) -> int:
        self._process.terminate()
        code = self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code


@contextmanager
def writing(controller: Controller, *jobs: str, volume: str = "1e9") -> Iterator[None]:
    """Jobs that move bytes, as fast as they may, until the end."""
    started = [subprocess.Popen([sys.executable, "-c", WRITER, volume], env=controller.user(job)) for job in jobs]
    try:
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait(PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    quiet = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--no-first-run", *quiet]
        )
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def controller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Controller]:
    folder: Path = tmp_path_factory.mktemp("controller")
    with Controller(folder, sharing="fcfs", lease=6.0) as controller:
        yield controller


@pytest.fixture(scope="module")
def screen(controller: Controller) -> Iterator[Screen]:
    screen = Screen(controller)
    yield screen
    assert screen.stop() == 0
