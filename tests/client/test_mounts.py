"""Where the bytes of a phase go: the site says what is mounted where, the kernel which device a file is on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from client.controller import Controller
from penstock.client import io_phase
from penstock.client.events import Begin, LinkUp, Received, SeenOn, SendTo
from penstock.client.member import Member, MemberSettings
from penstock.client.mounts import device_of, devices_of
from penstock.wire.messages import Beat, Rate, Registered, Welcome

TABLE = """\
22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
90 22 0:50 / /scratch rw shared:1 - lustre mds@tcp:/scratch rw
91 90 0:51 / /scratch/fast\\040lane rw - nfs4 server:/fast rw
92 22 0:52 / /hidden rw - nfs4 server:/old rw
93 22 0:53 / /hidden rw - nfs4 server:/new rw
"""


def test_a_target_is_on_the_innermost_mount_above_its_path():
    paths = {"scratch": "/scratch/users", "fast": "/scratch/fast lane", "root": "/scratchy", "new": "/hidden"}
    devices = {"scratch": (0, 50), "fast": (0, 51), "root": (8, 1), "new": (0, 53)}
    assert devices_of(paths, TABLE) == {os.makedev(*device): name for name, device in devices.items()}


def test_a_device_of_two_targets_tells_nothing():
    assert devices_of({"a": "/scratch/a", "b": "/scratch/b", "c": "/"}, TABLE) == {os.makedev(8, 1): "c"}


def test_what_is_no_file_is_on_no_device(tmp_path: Path):
    with open(tmp_path / "file", "wb") as file:
        assert device_of(file) == device_of(file.fileno()) == os.stat(tmp_path).st_dev
    assert [device_of(each) for each in (file, object(), -1, None)] == [0, 0, 0, 0]


def sent(outputs):
    return [each.message for each in outputs if isinstance(each, SendTo)]


def paced_member(*targets: str) -> Member:
    member = Member(MemberSettings(member=1, seed=1))
    member.step(0.0, LinkUp(Welcome(1, 1, 8.0, 2.0, 0.002)))
    member.step(0.0, Received(Registered(1, 1, 1, {"": 1.0}, 1.0, ("x", "y"))))
    member.step(0.0, Begin(1000.0, "write", targets))
    member.step(0.0, Received(Rate(1, 1, 1, 10.0, 1)))
    return member


def test_news_of_where_the_bytes_go_are_told_at_once_and_with_every_beat():
    member = paced_member()
    (beat,) = sent(member.step(1.0, SeenOn(("x",))))
    assert isinstance(beat, Beat) and beat.seen == ("x",)
    assert sent(member.step(1.1, SeenOn(("x",)))) == sent(member.step(1.2, SeenOn(()))) == []
    (beat,) = sent(member.step(1.3, SeenOn(("y",))))
    assert beat.seen == ("x", "y")


def test_one_that_names_its_targets_says_nothing_of_others():
    assert sent(paced_member("x").step(1.0, SeenOn(("y",)))) == []


@pytest.mark.parametrize("by_number", [False, True])
def test_the_file_that_is_written_shows_the_target(controller: Controller, tmp_path: Path, by_number: bool):
    mount = tmp_path
    while not os.path.ismount(mount):
        mount = mount.parent
    controller.paths = {"scratch": str(mount), "other": "/proc"}
    with open(tmp_path / "file", "wb", buffering=0) as file, io_phase("1MB") as phase:
        phase.write(file.fileno() if by_number else file, bytes(1000))
        beat = controller.wait_for(Beat)
    assert isinstance(beat, Beat) and beat.seen == ("scratch",)
