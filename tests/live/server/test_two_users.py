"""Two real users of one controller: what one of them registers, claims and leaves idle takes nothing of the other's."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from machine import can_be_others, open_to_all

from .conftest import PATIENCE, Server, until

Make = Callable[..., Server]
pytestmark = pytest.mark.skipif(not can_be_others(), reason="only root can be other users")
USER = """
import json, os, selectors, socket, sys
from penstock.wire import messages as wire
uid, path, jobs, nodes = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.setgroups([]); os.setgid(uid); os.setuid(uid)
looking, rates, known = selectors.DefaultSelector(), {}, {}
for number in range(jobs):
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    frames = wire.Frames(wire.MOST_FROM_CONTROLLER)
    hello = wire.Hello(1, 1, "client", "user", b"n" * 16, 0, "peer")
    words = [hello, wire.Auth(b""), wire.Register(1, f"{uid}-{number}", 0, nodes), wire.Post(2, 1, 1, 1e15)]
    link.sendall(b"".join(map(wire.frame, words)))
    looking.register(link, selectors.EVENT_READ, (number, frames))
looking.register(sys.stdin, selectors.EVENT_READ, None)
while True:
    for key, _ in looking.select():
        if key.data is None:
            if not sys.stdin.readline():
                sys.exit()
            print(json.dumps({"rate": sum(rates.values()), "fallback": sum(known.values())}), flush=True)
            continue
        number, frames = key.data
        for body in frames.feed(key.fileobj.recv(65536)):
            word = wire.read_controller(body)
            if isinstance(word, wire.Registered):
                known[number] = word.fallback[""]
            if isinstance(word, wire.Rate):
                rates[number] = word.rate
                key.fileobj.sendall(wire.frame(wire.Ack(word.epoch, word.rev)))
"""


class User:
    """Some jobs of one user, each with an operation that it never moves a byte of."""

    def __init__(self, controller: Server, uid: int, jobs: int, nodes: int = 1) -> None:
        words = (str(uid), str(controller.path), str(jobs), str(nodes))
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def look(self) -> dict[str, float]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found: dict[str, float] = json.loads(self.process.stdout.readline())
        return found

    def leave(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def test_sixty_idle_jobs_of_one_user_leave_the_other_half(server: Make) -> None:
    controller = server(shares={}, machine_nodes=100)
    controller.start()
    open_to_all(controller.folder)
    many, one = User(controller, 65533, 60, nodes=100), User(controller, 65532, 1)
    try:
        until(lambda: one.look()["rate"] >= 0.49e9 and many.look()["rate"] >= 0.49e9)
        # A hundred nodes were claimed for each of the sixty jobs; they count as one each.
        until(lambda: many.look()["fallback"] == pytest.approx(60 * 0.5 * 1e9 / 100))
    finally:
        many.leave()
        one.leave()


def test_a_user_learns_why_its_own_job_waited_and_nothing_of_who_the_others_are(server: Make) -> None:
    controller = server()
    controller.start()
    open_to_all(controller.folder)
    theirs, ours = User(controller, 65533, 1), User(controller, 65532, 1)
    try:
        until(lambda: ours.look()["rate"] == theirs.look()["rate"] == 0.5e9)
        time.sleep(0.1)
        controller.ask("drain", on=False)  # the journal has something of a time when one held the other back
        asked = [
            subprocess.run(
                [sys.executable, "-c", AS_USER, uid, str(controller.path), job],
                capture_output=True, text=True, timeout=PATIENCE, check=False,
            )
            for uid, job in (("65532", "65532-0"), ("65532", "65533-0"))
        ]  # fmt: skip
    finally:
        theirs.leave()
        ours.leave()
    assert not asked[0].stderr
    told = json.loads(asked[0].stdout)
    assert told["job"] == "65532-0" and told["operations"]
    assert {each["job"] for each in told["held_by"]} == {"a job of another user"}
    assert "65533" not in asked[0].stdout
    assert asked[1].returncode == 1 and "no job '65533-0' of yours did any I/O" in asked[1].stderr


AS_USER = """
import json, os, sys
from penstock.client.config import Address
from penstock.live.admin import CommandRefused, Line
uid, path, job = sys.argv[1:]
os.setgroups([]); os.setgid(int(uid)); os.setuid(int(uid))
try:
    with Line(Address(path=path), role="client") as line:
        print(json.dumps(line.ask("explain", job=job)))
except CommandRefused as error:
    sys.exit(str(error))
"""
