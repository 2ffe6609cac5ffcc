"""Who speaks for a node: whose jobs are, what a new agent ends, and what the agent of a node may say beside that."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.live.core.events import Frame
from penstock.wire import messages as wire

from .talk import Peer, Talk

LABELS = {"node": "n1", "restart": "0"}


def behind(talk: Talk, connection: int, job: str = "a", uid: int = 1000, **given: Any) -> Peer:
    """A member in a lane of an agent's connection."""
    session = talk.connect(uid=0, trusted=True, for_node=True, connection=connection)
    peer = Peer(talk, session, job)
    peer.say(wire.Register(peer.ask(), job, **{"member": connection, "labels": LABELS, "uid": uid, **given}))
    return peer


def test_a_job_belongs_to_whom_its_agent_says() -> None:
    talk = Talk()
    assert behind(talk, 1, uid=1234).member.app.uid == 1234
    with_hook = talk.connect(role="hook", uid=0)
    talk.say(with_hook, wire.Hook(1, "job_start", "b", uid=77))
    assert behind(talk, 1, "b", uid=77).member.app.uid == 77
    refused = behind(talk, 1, "b", uid=1234)
    assert refused.errors[-1].code == "forbidden"  # the batch system's word counts for more


def test_nobody_else_says_whose_a_job_is() -> None:
    talk = Talk()
    peer = talk.join("a", uid=1000)
    assert peer.member.app.uid == 1000
    liar = Peer(talk, talk.connect(uid=1001), "a")
    liar.say(wire.Register(1, "a", 1, uid=1000))
    assert "only the agent of a node" in liar.errors[-1].text


@pytest.mark.parametrize("cut_off", [False, True])
def test_a_new_agent_ends_what_the_one_before_it_held(cut_off: bool) -> None:
    talk = Talk()
    old = behind(talk, 1)
    old.say(wire.Post(1, 1, 1, 1e6))
    talk.quiet()
    assert talk.state.charges.used == [100.0]
    if cut_off:
        talk.core.closed(old.session)
        talk.step()
    behind(talk, 2)
    assert talk.state.charges.used == [0.0] and len(talk.state.members()) == 1


def test_a_late_word_of_a_dead_agent_ends_nothing() -> None:
    talk = Talk()
    late = talk.connect(uid=0, trusted=True, for_node=True, connection=1)
    new = behind(talk, 2)
    new.say(wire.Post(1, 1, 1, 1e6))
    talk.quiet()
    talk.step(Frame(late, wire.Register(1, "a", 1, labels=LABELS, uid=1000)))
    assert new.member.charge == 100.0
    talk.core.closed(new.session)  # cut off for a moment, with its lease
    talk.step(Frame(late, wire.Register(2, "a", 9, labels=LABELS, uid=1000)))
    assert talk.state.charges.used == [100.0]


def test_another_life_or_node_of_the_job_is_left_alone() -> None:
    talk = Talk()
    first = behind(talk, 1)
    behind(talk, 2, labels={"node": "n1", "restart": "1"})
    behind(talk, 2, labels={"node": "n2", "restart": "0"}, member=7)
    assert first.member in talk.state.members() and len(talk.state.members()) == 3


def test_an_agent_says_that_a_job_has_ended_on_its_node_and_nothing_else() -> None:
    talk = Talk()
    talk.say(talk.connect(role="hook", uid=0), wire.Hook(1, "job_start", "a", uid=1000, node_names=("n1", "n2")))
    agent = talk.connect(role="node", uid=0, trusted=True, node="n1")
    behind(talk, agent)
    assert talk.say(agent, wire.Hook(1, "job_end", "a", "n1")) == [wire.Answer(1, {"ok": True})]
    assert not talk.state.members()
    for wrong in (
        wire.Hook(2, "job_end", "a", "n2"),
        wire.Hook(3, "job_start", "b", uid=5),
        wire.Hook(4, "job_end", "a"),
    ):
        [answer] = talk.say(agent, wrong)
        assert isinstance(answer, wire.Error) and answer.code == "value"


def test_one_that_nothing_can_pace_counts_with_its_cap_and_is_named() -> None:
    talk = Talk()
    free = behind(talk, 1, labels={**LABELS, "unpaced": "no library for riscv64"}, cap=30.0)
    free.say(wire.Post(1, 1, 1, 1e9))
    paced = behind(talk, 1, "b", uid=1001, labels={"node": "n1", "restart": "0"})
    paced.say(wire.Post(1, 1, 1, 1e9))
    talk.quiet()
    assert free.told[-1].flags & wire.FREE and free.member.charge == 30.0
    assert paced.rate == 70.0
    [named] = talk.admin("status")["outside"]
    assert (named["job"], named["bytes"], named["by"]) == ("a", 0.0, ["no library for riscv64"])
    # Nobody takes bandwidth by saying so of itself.
    liar = Peer(talk, talk.connect(uid=1002), "c")
    liar.say(wire.Register(1, "c", 1, labels={"unpaced": "me"}))
    assert "unpaced" not in liar.member.labels
