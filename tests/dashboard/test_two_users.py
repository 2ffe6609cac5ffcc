"""A second user of the host looks: by the kernel's word it is that user, and sees the names of its own jobs only."""

from __future__ import annotations

import json
import pwd
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from cli.controlled import PATIENCE, Controller, until
from dashboard.conftest import Screen
from machine import can_be_others, open_to_all

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not can_be_others(), reason="only root can be another user"),
]
NOBODY = pwd.getpwnam("nobody")
# Everything is imported before: another user need not be able to read this checkout.
BECOME = """
import encodings.idna, json, os, socket, sys, time
from urllib.parse import urlsplit
from penstock.wire import messages as wire
uid, gid = int(sys.argv[1]), int(sys.argv[2])
if uid:
    os.setgroups([]); os.setgid(gid); os.setuid(uid)
"""
# A job with an operation under way; it lives until its input ends.
JOB = """
link = socket.socket(socket.AF_UNIX)
link.settimeout(float(sys.argv[5]))
link.connect(sys.argv[3])
hello = wire.Hello(1, 1, "client", "user", b"n" * 16, 0, "peer")
words = [hello, wire.Auth(b""), wire.Register(1, sys.argv[4], 0), wire.Post(2, 1, 1, 1e15)]
link.sendall(b"".join(map(wire.frame, words)))
sys.stdin.read()
"""
# Prints all events from the first one that knows two jobs; gives up in time, whatever comes.
LOOK = """
deadline = time.monotonic() + float(sys.argv[4])
address = urlsplit(sys.argv[3])
link = socket.create_connection((address.hostname, address.port), 5.0)
link.sendall(b"GET /events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
text = b""
while time.monotonic() < deadline:
    link.settimeout(max(0.1, deadline - time.monotonic()))
    text += link.recv(65536)
    *events, rest = text.split(b"\\n\\n")
    told = [json.loads(each.partition(b"data: ")[2]) for each in events if b"data: " in each]
    if any(len(each.get("jobs", ())) >= 2 for each in told):
        print(json.dumps(told))
        break
"""


def arguments(script: str, uid: int, *more: str) -> list[str]:
    return [sys.executable, "-c", BECOME + script, str(uid), str(NOBODY.pw_gid), *more]


def seen_by(uid: int, screen: Screen) -> list[dict[str, Any]]:
    """What this user is told."""
    asked = arguments(LOOK, uid, screen.url, f"{PATIENCE:g}")
    run = subprocess.run(asked, check=False, capture_output=True, text=True, timeout=PATIENCE + 30.0)
    assert run.returncode == 0 and run.stdout, run.stderr or "two jobs were never shown"
    told: list[dict[str, Any]] = json.loads(run.stdout)
    return told


@pytest.fixture
def jobs(controller: Controller) -> Iterator[None]:
    """One of root, one of nobody."""
    open_to_all(controller.folder)
    started = [
        subprocess.Popen(
            arguments(JOB, uid, str(controller.socket), name, f"{PATIENCE:g}"), stdin=subprocess.PIPE, text=True
        )
        for uid, name in ((0, "secret-of-root"), (NOBODY.pw_uid, "own-of-nobody"))
    ]
    try:
        until(lambda: controller.jobs().keys() >= {"secret-of-root", "own-of-nobody"})
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate(timeout=PATIENCE)


def test_a_user_sees_its_own_names_and_others_as_numbers_and_an_operator_sees_all(
    controller: Controller, screen: Screen, jobs: None
) -> None:
    theirs = seen_by(NOBODY.pw_uid, screen)
    assert "secret-of-root" not in json.dumps(theirs)
    shown = {each["name"]: each for each in theirs[-1]["jobs"]}
    own = shown.pop("own-of-nobody")
    assert own["open"] and own["user"] == "nobody"
    ((masked, other),) = shown.items()
    assert masked.startswith("job ") and masked.endswith("(another user's)")
    assert not other["open"] and other["user"] == "" and other["state"] in ("moving", "waiting", "slowed")
    all_names = {each["name"] for each in seen_by(0, screen)[-1]["jobs"]}
    assert all_names == {"secret-of-root", "own-of-nobody"}
