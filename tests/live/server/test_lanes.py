"""Members of several jobs behind one connection of a node: each is told its own, and ends by itself or with all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.live.server.handshake import House, Peer, Refuse, ServerHandshake
from penstock.wire import messages as wire
from penstock.wire.messages import Ack, Error, Goodbye, InLane, Message, Post, Rate, Register, Registered, Via

from .conftest import Server, until

Make = Callable[..., Server]


class Node:
    """The agent of a node, by hand."""

    def __init__(self, controller: Server) -> None:
        self.link = controller.client(role="node")
        self._kept: list[tuple[int, Message]] = []

    def say(self, lane: int, *messages: Message) -> None:
        self.link.send(*(Via(lane, wire.frame(message)[4:]) for message in messages))

    def hear(self, lane: int, kind: type[Any]) -> Any:
        """The next word of this kind in a lane; what is said in others is kept."""
        while True:
            for place, (where, message) in enumerate(self._kept):
                if (where, type(message)) == (lane, kind):
                    return self._kept.pop(place)[1]
            told = self.link.hear_a(InLane)
            self._kept.append((told.lane, _read(told.body)))


def _read(body: bytes) -> Message:
    try:
        return wire.read_controller(body)
    except wire.BadFrame:
        return wire.read_client(body)  # a Goodbye is said by both


def test_two_jobs_behind_one_connection(server: Make) -> None:
    controller = server()
    controller.start()
    node = Node(controller)
    for lane, job in ((1, "a"), (2, "b")):
        node.say(lane, Register(1, job, 1), Post(2, 1, 1, 1e12))
        assert node.hear(lane, Registered).member == 1
        first = node.hear(lane, Rate)
        node.say(lane, Ack(first.epoch, first.rev))
    lower = node.hear(1, Rate)
    assert lower.rate == 5e8
    node.say(1, Ack(lower.epoch, lower.rev))
    assert node.hear(2, Rate).rate == 5e8
    status = controller.ask("status")
    assert status["applications"] == 2 and controller.ask("server")["connections"] == 2  # this node, and who asks
    node.say(1, Goodbye("done"))
    node.link.send(Via(1))
    assert node.hear(1, Goodbye)
    assert node.hear(2, Rate).rate > 5e8
    node.link.close()
    until(lambda: controller.ask("status")["members"] == {"orphan": 1})


def test_a_member_that_is_sent_away_takes_nobody_with_it(server: Make) -> None:
    controller = server()
    controller.start()
    node = Node(controller)
    node.say(1, Register(1, "a", 1))
    node.hear(1, Registered)
    node.say(2, Register(1, "b", 1))
    node.hear(2, Registered)
    controller.ask("evict", job="a")
    assert node.hear(1, Error).code == "forbidden"
    assert node.hear(1, Goodbye)
    node.say(3, wire.Admin(1, "status"))
    assert "only what members say" in node.hear(3, Error).text
    node.link.send(Via(4, b"\xc1"))
    assert node.hear(4, Error).code == "decode"
    node.say(2, Post(2, 1, 1, 1e9))
    assert node.hear(2, Rate).rate == 1e9


def test_only_a_node_speaks_in_lanes(server: Make) -> None:
    controller = server()
    controller.start()
    client = controller.client()
    client.send(Via(1, wire.frame(Register(1, "a", 1))[4:]))
    assert "a node speaks in lanes, and nobody else does" in client.hear_a(Error).text
    node = controller.client(role="node")
    node.send(Register(1, "a", 1))
    assert node.hear_a(Error).code == "forbidden"


def test_only_root_speaks_for_a_node() -> None:
    house = House(1, "x", 8.0, 2.0, 0.002, kinds=("peer", "munge"), own_uid=500)
    hello = wire.Hello(1, 1, "node", "agent", b"n" * 16, 0, "peer")
    step = ServerHandshake(house, Peer("uid 1000", uid=1000)).received(hello)
    assert isinstance(step, Refuse) and "speaks for a whole node" in step.error.text
    shown = ServerHandshake(house, Peer("10.0.0.1"))
    shown.received(wire.Hello(1, 1, "node", "agent", b"n" * 16, 0, "munge", b"n1"))
    shown.received(wire.Auth(b"credential"))
    step = shown.decoded(1000, shown._nonce + b"n1")
    assert isinstance(step, Refuse) and step.error.code == "forbidden"
