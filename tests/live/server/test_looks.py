"""Looks are answered between turns, a piece at a time; whoever posts meanwhile does not wait for them."""

from __future__ import annotations

from itertools import count

import pytest

from penstock.live.server import looks as looking
from penstock.wire.messages import Admin, Answer, Beat, Error, Notice, Post, Rate, Register

from .virtual import Peer, World


@pytest.fixture
def world() -> World:
    world = World()
    for number in range(60):
        peer = world.peer(1000)
        peer.say(Register(1, f"job-{number}", 0))
        peer.say(Post(2, 1, 1, 1e12))
    world.loop.run(1.0)
    return world


def operator(world: World) -> Peer:
    return world.peer(0, role="admin")


def test_a_post_that_comes_amid_a_look_is_answered_before_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "PAUSE", 1.0)  # so that the look takes a minute
    late = world.peer(1000)
    late.say(Register(1, "late", 0))
    looker = operator(world)
    assert looker.say(Admin(1, "top", {"count": 100})) == []
    late.say(Post(2, 1, 1, 1e12))
    world.loop.run(0.1)
    assert any(isinstance(each, Rate) for each in late.transport.inbox)
    assert not any(isinstance(each, Answer) for each in looker.transport.inbox)
    world.loop.run(60.0)
    (answer,) = (each for each in looker.transport.inbox if isinstance(each, Answer))
    assert len(answer.body) == 61


def test_looks_are_answered_in_order_and_only_a_few_of_one_connection_wait(world: World) -> None:
    looker = operator(world)
    heard = looker.say(*(Admin(number, "status") for number in range(1, 8)))
    world.loop.run(1.0)
    assert [(each.req, each.code) for each in heard if isinstance(each, Error)] == [(n, "busy") for n in (5, 6, 7)]
    assert [each.req for each in looker.transport.inbox if isinstance(each, Answer)] == [1, 2, 3, 4]
    assert not looker.transport.closed


def test_what_is_refused_is_refused_by_the_core_and_who_has_left_is_not_answered(world: World) -> None:
    user, looker = world.peer(1000), operator(world)
    looker.say(Admin(1, "top", {"count": 0}))
    user.say(Admin(1, "status"))
    gone = operator(world)
    gone.raw(b"")
    gone.say(Admin(1, "status"))
    gone.transport.abort()
    world.loop.run(1.0)
    (error,) = (each for each in looker.transport.inbox if isinstance(each, Error))
    assert error.code == "value" and "count is 0" in error.text
    (error,) = (each for each in user.transport.inbox if isinstance(each, Error))
    assert error.code == "forbidden" and user.transport.closed
    assert not any(isinstance(each, Answer) for each in gone.transport.inbox)


def test_who_waits_is_told_so_between_turns_and_a_failure_of_that_harms_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    world.shell.core.contact = "help@site"
    world.shell.order("policy", name="fcfs")
    peers = [world.peer(1000) for _ in range(2)]
    for number, peer in enumerate(peers):
        peer.say(Register(1, f"job-{number}", 0))
        peer.say(Post(2, 1, 1, 1e13))
        world.loop.run(0.1)

    beats = count(2)

    def beat(seconds: float) -> list[str]:
        for _ in range(round(seconds)):
            number = next(beats)
            for peer in peers:
                rate = [each for each in peer.transport.inbox if isinstance(each, Rate)][-1]
                peer.say(Beat(number, rate.epoch, rate.rev, rate.rate * number))
            world.loop.run(1.0)
        return [each.text for each in peers[1].transport.inbox if isinstance(each, Notice)]

    (text,) = beat(14.0)
    assert text.startswith("this job has waited for 1") and "behind job-0" in text and "help@site" in text

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("penstock.live.core.notices.waiting_words", fail)
    assert len(beat(70.0)) == 1
    assert not peers[1].transport.closed and not world.log.events("internal")
