"""The walks on the architecture page are those that calls really take."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from client.controller import Controller
from docs.walks import followed, out_of_order, rooms, told
from live.server.virtual import SETTINGS, World
from penstock.cli.group import app
from penstock.client import io_phase
from penstock.live.journal import Header, JournalWriter, Lock, boot_id
from penstock.wire.messages import Post, Rate, Register, frame

pytest_plugins = ["client.conftest"]

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/develop/architecture.md").read_text()


def compare() -> None:
    app(["compare", str(ROOT / "examples/two-jobs.yaml"), "--sharing", "fcfs,greedy-yield"], standalone_mode=False)


def test_a_comparison_walks_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    compare()  # the first call imports
    with followed() as entered:
        compare()
    assert out_of_order(told(PAGE, "## The walk of a comparison", "## The walk of a post"), entered) is None
    assert [room for room in rooms(entered) if room != "files.py"] == [
        "cli", "policies", "model", "kernels", "studies", "engine", "metrics", "report",
    ]  # fmt: skip


def test_a_post_becomes_a_rate_on_the_way_that_is_told(tmp_path: Path) -> None:
    world = World(SETTINGS)
    header = Header(
        epoch=5, first=1, boot_id=boot_id(), offset=0.0, wall=0.0, time=world.loop.now, boot=world.loop.now, warm=True,
        settings=dataclasses.asdict(SETTINGS),
    )  # fmt: skip
    lock = Lock(tmp_path)
    world.shell.pen = JournalWriter(tmp_path, header)
    peer = world.peer()
    peer.say(Register(1, "job", 0, 1))
    post = frame(Post(2, 1, 1, 1e12))
    with followed() as entered:
        peer.raw(post)
        world.loop.run(0.01)
    lock.close()
    assert isinstance(peer.transport.inbox[-1], Rate)
    expected = told(PAGE, "In the controller:", "Back in the job")
    assert out_of_order(expected, entered) is None


def test_a_phase_is_announced_on_the_way_that_is_told(controller: Controller) -> None:
    with followed() as entered, io_phase("1MB") as phase:
        phase.acquire(1000)
    expected = told(PAGE, "In the job:", "In the controller:")
    assert not set(expected) - set(entered)
    assert entered.index("client/phases.py") < entered.index("client/link.py") < entered.index("client/bucket.py")
