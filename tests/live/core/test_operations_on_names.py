"""The other kind of resource: operations on names, shared by the same rules and never mixed with bytes."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import InvalidOption
from penstock.live.core import ControllerSettings, ControllerState, Resource
from penstock.wire import messages as wire

from .talk import Peer, Talk

BOTH = (Resource("all", 100.0), Resource("names", 60.0, kind="operations"))


def talk_of(**given: Any) -> Talk:
    return Talk(resources=BOTH, **given)


def on_names(talk: Talk, job: str = "a", **given: Any) -> Peer:
    return talk.join(job, kind="operations", member=5, **given)


def test_they_are_shared_beside_bytes() -> None:
    talk = talk_of()
    mover, doer, other = talk.join("a"), on_names(talk), on_names(talk, "b", uid=1001)
    mover.say(wire.Post(1, 1, 1, 1e6))
    for peer in (doer, other):
        peer.say(wire.Post(1, 1, 1, 1e6, "metadata"))
    talk.quiet()
    assert [peer.told[-1].rate for peer in (mover, doer, other)] == [100.0, 30.0, 30.0]
    assert talk.state.charges.used == [100.0, 60.0]
    assert mover.app != doer.app  # a job's bytes and what it does on names are two applications


def test_their_fallback_is_a_part_of_theirs() -> None:
    talk = talk_of()
    assert talk.join("a").fallback == {"": 5.0} and on_names(talk).fallback == {"": 3.0}
    told = [message for said in talk.said.values() for message in said if isinstance(message, wire.Registered)]
    assert [each.operations for each in told] == [3.0, 0.0]


def test_who_is_lost_counts_with_its_own_kind_only() -> None:
    """Twenty lost nodes of bytes must not make room among operations, nor the other way round."""
    talk = talk_of()
    for number in range(20):
        peer = talk.join(f"j{number}", nodes=1)
        peer.say(wire.Post(1, 1, 1, 1e6))
    doer = on_names(talk)
    doer.say(wire.Post(1, 1, 1, 1e6, "metadata"))
    talk.sleep(3 * talk.settings.waiting)
    assert talk.state.charges.used == pytest.approx([50.0, 3.0])  # ten nodes at most, and one


def test_a_member_does_what_it_registered_for() -> None:
    talk = talk_of()
    mover, doer = talk.join("a"), on_names(talk)
    mover.say(wire.Post(1, 1, 1, 1e6, "metadata"))
    doer.say(wire.Post(1, 1, 1, 1e6, "write"))
    assert "paced by bytes" in mover.errors[-1].text and "paced by operations" in doer.errors[-1].text
    plain = Talk()
    refused = plain.join("a", kind="operations")
    assert "nothing is shared here" in refused.errors[-1].text


def test_the_end_of_a_node_frees_both_and_so_does_an_eviction() -> None:
    talk = talk_of()
    talk.say(talk.connect(role="hook", uid=0), wire.Hook(1, "job_start", "a", uid=1000, node_names=("n1",)))
    peers = [talk.join("a", labels={"node": "n1"}), on_names(talk, labels={"node": "n1"})]
    for peer, way in zip(peers, ("write", "metadata"), strict=True):
        peer.say(wire.Post(1, 1, 1, 1e6, way))
    talk.say(talk.connect(role="hook", uid=0), wire.Hook(1, "job_end", "a", "n1"))
    assert not talk.state.members() and talk.state.charges.used == [0.0, 0.0]
    talk.join("b"), on_names(talk, "b")
    assert talk.admin("evict", job="b")["job"] == "b"
    assert all(app.evicted for app in talk.state.apps.values() if app.job == "b")


def test_it_comes_back_from_a_snapshot() -> None:
    talk = talk_of()
    doer = on_names(talk)
    doer.say(wire.Post(1, 1, 1, 1e6, "metadata"))
    found = ControllerState.restore(talk.state.snapshot(), talk.settings)
    assert found.on_names.keys() == talk.state.on_names.keys() != set()
    assert found.charges.used == talk.state.charges.used


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ((*BOTH, Resource("x", 1.0, kind="files")), "accepted are bytes and operations"),
        ((*BOTH, Resource("x", 1.0, target="t", kind="operations")), "have no target"),
        ((Resource("x", 1.0, kind="operations"),), "nothing to share"),
    ],
)
def test_what_is_refused(resources: tuple[Resource, ...], words: str) -> None:
    with pytest.raises(InvalidOption, match=words):
        ControllerSettings(resources=resources)
