"""Any number of members: the limit of a job follows its nodes."""

from __future__ import annotations

import pytest

from live.core.talk import Talk
from penstock.live.core.dispatch import Dispatch
from penstock.wire import messages as wire


def joined(talk: Talk, count: int, **who: int) -> int:
    """How many of so many members are taken."""
    peers = [talk.join("a", member=number, **who) for number in range(count)]
    return sum(not peer.errors for peer in peers)


def test_eighty_members_of_eighty_nodes_are_all_taken() -> None:
    assert joined(Talk(machine_nodes=100), 80, nodes_proved=80) == 80


def test_the_batch_systems_word_counts_as_well() -> None:
    talk = Talk(machine_nodes=200)
    talk.say(talk.connect(role="hook", uid=0), wire.Hook(1, "job_start", "a", uid=1000, nodes=50))
    assert joined(talk, 120) == 100


def test_without_proof_the_limit_is_that_of_the_configuration() -> None:
    assert joined(Talk(members_per_job=5), 9) == 5


def test_two_thousand_members_share_the_fallback_of_their_nodes() -> None:
    talk = Talk(machine_nodes=4000)
    session = talk.connect(role="hook", uid=0)
    talk.say(session, wire.Hook(1, "job_start", "a", uid=1000, nodes=3))
    assert joined(talk, 64) == 64
    assert sum(member.nodes for member in talk.state.members()) == pytest.approx(3 + 61 * 3 / 64)


def test_a_thousand_beats_divide_a_rate_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each member is renewed at its own beat; dividing a rate among all of them at each would take most of a core."""
    talk = Talk(machine_nodes=100)
    peers = [talk.join("a", member=number, nodes_proved=40) for number in range(40)]
    for peer in peers:
        peer.post(1e9)
    divided = []
    split = Dispatch._split
    monkeypatch.setattr(Dispatch, "_split", lambda self, row: divided.append(row) or split(self, row))  # type: ignore[func-returns-value]
    for second in range(1, 4):
        talk.sleep(1.0)
        for peer in peers:
            peer.beat(done=peer.rate * second)
    assert 1 <= len(divided) <= 12
