"""Frames bent at random: no crash, bounded memory, and only the guilty connection is closed."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock.wire import messages as wire
from penstock.wire.messages import (
    Ack,
    Admin,
    Beat,
    Cancel,
    Complete,
    Error,
    Extend,
    Goodbye,
    Hook,
    Message,
    OpenOp,
    Post,
    Rate,
    Register,
    Resync,
)

from .virtual import Peer, World

NUMBERS = [
    0,
    1,
    -1,
    2**31,
    2**63 - 1,
    2**64 - 1,
    0.0,
    -1.0,
    0.5,
    1e9,
    1e18,
    1e30,
    float("nan"),
    float("inf"),
    float("-inf"),
]
TEXTS = ["", "job", "write", "read", "x" * 300, "\0", "mode", "status", "…", "job_start"]


def some_message(chance: random.Random) -> Message:
    """A message that a client might send, with numbers that it might not."""
    number: Callable[[], Any] = lambda: chance.choice(NUMBERS[: 2 if chance.random() < 0.9 else 6])  # noqa: E731
    amount = lambda: float(chance.choice(NUMBERS))  # noqa: E731
    text = lambda: chance.choice(TEXTS)  # noqa: E731
    op = OpenOp(number(), amount(), amount(), text(), (text(),) * chance.randrange(3), amount())
    common = [
        lambda: Post(number(), number(), number(), amount(), text(), (text(),) * chance.randrange(3), amount()),
        lambda: Extend(number(), amount()),
        lambda: Ack(number(), number()),
        lambda: Beat(number(), number(), number(), amount()),
        lambda: Complete(number(), amount(), text()),
        lambda: Cancel(number(), amount(), text()),
        lambda: Register(number(), text(), number(), number(), amount(), amount(), amount(), {text(): text()}),
    ]
    rare = [
        lambda: Resync(
            number(), number(), number(), number(), number(), amount(), amount(), number(), op, text(), number()
        ),
        lambda: Goodbye(text()),
        lambda: Admin(number(), text(), {text(): text()}),
        lambda: Hook(number(), text(), text(), text(), number(), number(), amount()),
    ]
    return chance.choice(common if chance.random() < 0.9 else rare)()


def bent(chance: random.Random, frame: bytes) -> bytes:
    """A frame with something wrong with it, now and then."""
    kind = chance.randrange(80)
    data = bytearray(frame)
    if kind < 3 or kind > 7:
        return frame
    if kind == 3:
        for _ in range(chance.randrange(1, 4)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 4:
        place = chance.randrange(4, len(data))
        data[place:place] = chance.randbytes(chance.randrange(1, 9))
        data[:4] = (len(data) - 4).to_bytes(4, "big")
    elif kind == 5:
        del data[chance.randrange(5, len(data) + 1) :]
        data[:4] = (len(data) - 4).to_bytes(4, "big")
    elif kind == 6:
        body = chance.randbytes(chance.randrange(1, 60))
        return len(body).to_bytes(4, "big") + body
    else:
        tag = chance.choice([0, 14, 63, 64, 67, 255])
        body = msgspec.msgpack.encode([tag, *(chance.choice(NUMBERS + TEXTS) for _ in range(chance.randrange(9)))])  # type: ignore[operator]
        return len(body).to_bytes(4, "big") + body
    return bytes(data)


def fuzz(frames: int, seed: int) -> dict[str, int]:
    """Feed so many frames to a controller with an innocent client; what came of them."""
    chance = random.Random(seed)
    world = World(
        bad_frames=10**9, connections=10**6, connections_per_uid=10**6, frames_per_second=1e9, frames_burst=1e9
    )
    innocent = world.peer(uid=5)
    innocent.say(Register(1, "innocent", 0, 1))
    innocent.say(Post(2, 1, 1, 1e15))
    pool = [bent(chance, wire.frame(some_message(chance))) for _ in range(min(frames, 50_000))]
    count = {"frames": 0, "closed": 0, "held": 0, "answered": 0}
    peer: Peer | None = None
    beat = 2
    while count["frames"] < frames:
        if peer is None or peer.transport.closed:
            count["closed"] += peer is not None
            peer = Peer(world, uid=1000 + chance.randrange(3))
            if chance.random() < 0.95:
                peer.admitted()
                peer.say(Register(1, f"job {chance.randrange(100)}", 0, 1))
        data = b"".join(chance.choices(pool, k=chance.randrange(1, 20)))
        cut = chance.randrange(len(data) + 1)
        before = len(peer.transport.inbox)
        for part in (data[:cut], data[cut:]):
            if not peer.transport.closed:
                peer.raw(part)
                count["held"] = max(count["held"], peer.connection.held())
        world.loop.run(0.001)
        count["frames"] = world.shell.counters.frames + count["closed"]
        count["answered"] += len(peer.transport.inbox) - before
        peer.transport.inbox.clear()
        world.pen.log.clear()
        world.log.lines.clear()
        if chance.random() < 0.02:
            world.loop.run(0.05)
            rate = [message for message in innocent.transport.inbox if isinstance(message, Rate)][-1]
            innocent.transport.inbox.clear()
            innocent.say(Beat(beat, rate.epoch, rate.rev, 0.0))
            world.loop.run(0.01)
            assert any(isinstance(message, Rate) and message.anchor == beat for message in innocent.transport.inbox)
            beat += 1
        assert not innocent.transport.closed and world.ended == []
    assert not any(isinstance(message, Error) for message in innocent.transport.inbox)
    count["connections"] = len(world.shell.connections)
    return count


def test_ten_thousand_bent_frames() -> None:
    count = fuzz(10_000, seed=1)
    assert count["closed"] > 300 and count["answered"] > 1000
    assert count["held"] <= wire.MOST_FROM_CLIENT + 4
    assert count["connections"] <= 2


MANY = """
import json, pathlib, re, sys
sys.path[:0] = sys.argv[2:]
from live.server.test_fuzz import fuzz

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])

fuzz(20_000, seed=2)
before = peak()
count = fuzz(int(sys.argv[1]), seed=4)
print(json.dumps(count | {"grown": peak() - before}))
"""


@pytest.mark.slow
@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize(
    ("frames", "most"), [(30_000, 20_000), pytest.param(1_000_000, 50_000, marks=pytest.mark.soak)]
)
def test_many_bent_frames_take_little_memory(frames: int, most: int) -> None:
    """In a process of its own: beside thousands of tests, Python lets garbage grow to a quarter of what is alive."""
    folders = [str(Path(__file__).parents[2]), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(frames), *folders], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    count = json.loads(done.stdout)
    assert count["grown"] < most, f"{count['grown']} kB for {frames} frames"
    assert count["frames"] >= frames
    assert count["held"] <= wire.MOST_FROM_CLIENT + 4


def test_a_valid_stream_split_at_every_byte() -> None:
    world = World()
    words = [Register(1, "1", 0, 1), Post(2, 1, 1, 1e12), Ack(5, 1), Beat(2, 5, 1, 1.0), Complete(1, 2.0)]
    stream = b"".join(wire.frame(word) for word in words)
    outcomes = set()
    for cut in range(len(stream) + 1):
        peer = world.peer()
        before = len(peer.transport.inbox)
        peer.raw(stream[:cut])
        peer.raw(stream[cut:])
        world.loop.run(0.01)
        kinds = tuple(type(message).__name__ for message in peer.transport.inbox[before:])
        outcomes.add(kinds)
        peer.say(Goodbye())
        peer.transport.close()
        world.loop.run(0.01)
    assert outcomes == {("Registered",)} or all(kinds[0] == "Registered" and "Error" not in kinds for kinds in outcomes)
