"""Hooks of the batch system: only the end of a node frees, and only what was used there, in this life of the job."""

from __future__ import annotations

from typing import Any

import pytest

from live.core.talk import CAPACITY, Peer, Talk
from penstock.live.core import ControllerState, Stage
from penstock.live.core.snapshots import _unpacked_job
from penstock.wire import messages as wire


def hook(talk: Talk, kind: str, job: str = "a", **known: Any) -> dict[str, Any]:
    session = talk.connect(role="hook", uid=0)
    (answer,) = (each for each in talk.say(session, wire.Hook(1, kind, job, **{"uid": 1000, **known})) if isinstance(each, wire.Answer))  # fmt: skip  # noqa: E501
    return dict(answer.body)


def started(restart: int = 0, names: tuple[str, ...] = ("n1", "n2")) -> tuple[Talk, list[Peer]]:
    """A job on two nodes, a member on each."""
    talk = Talk()
    hook(talk, "job_start", nodes=2, node_names=names, restart=restart)
    peers = [talk.join("a", member=n, labels={"node": f"n{n}"}, trusted=False) for n in (1, 2)]
    for peer in peers:
        peer.post(1e9)
    talk.quiet()
    return talk, peers


def charged(talk: Talk) -> list[float]:
    return [member.charge for member in talk.state.members()]


def test_the_end_of_a_node_frees_what_was_used_there() -> None:
    talk, (first, second) = started()
    assert hook(talk, "job_end", node="n1") == {"ok": True}
    assert [member.number for member in talk.state.members()] == [2]
    talk.quiet_but(first)
    assert second.rate == CAPACITY


def test_with_the_last_node_the_job_is_over() -> None:
    talk, _ = started()
    for node in ("n1", "n2"):
        hook(talk, "job_end", node=node)
    assert not talk.state.members() and not talk.state.jobs and not talk.state.apps


@pytest.mark.parametrize("kind", ["job_ending", "job_end"])
def test_that_a_job_is_ending_frees_nothing(kind: str) -> None:
    """Slurm says so 5 s before the last write. An epilog that names no node says no more."""
    talk, (first, _) = started()
    before = charged(talk)
    hook(talk, kind)
    assert charged(talk) == before
    first.complete(1.0)
    first.post(1e6)
    assert first.errors[-1].code == "draining" and first.stage is Stage.LOST


def test_a_late_epilog_does_not_end_the_next_life() -> None:
    talk, _ = started(restart=1)
    before = charged(talk)
    assert "life 0" in hook(talk, "job_end", node="n1", restart=0)["ignored"]
    assert "life 0" in hook(talk, "job_ending", restart=0)["ignored"]
    assert "life 0" in hook(talk, "job_start", nodes=9, restart=0)["ignored"]
    assert charged(talk) == before and talk.state.jobs["a"].nodes == 2
    assert talk.admin("status")["hooks_ignored"] == 3


def test_a_new_life_has_its_own_nodes() -> None:
    talk, _ = started()
    hook(talk, "job_ending")
    hook(talk, "job_start", nodes=1, node_names=("n7",), restart=1)
    job = talk.state.jobs["a"]
    assert (job.restart, job.names, job.ending) == (1, ("n7",), False)
    assert "never said to begin" in hook(talk, "job_end", node="n7", restart=2)["ignored"]


def test_a_start_that_is_said_again_takes_nothing_back() -> None:
    """Every node says it, and a bridge that lost its memory: the nodes that ended stay ended, and the names known."""
    talk, _ = started()
    hook(talk, "job_end", node="n1")
    hook(talk, "job_ending")
    hook(talk, "job_start", nodes=1)
    job = talk.state.jobs["a"]
    assert (job.nodes, job.names, job.over, job.ending) == (2, ("n1", "n2"), {"n1"}, True)
    hook(talk, "job_end", node="n2")
    assert not talk.state.jobs and not talk.state.members()


def test_what_the_batch_system_said_can_be_asked_by_its_hooks() -> None:
    talk, (_, second) = started()
    hook(talk, "job_end", node="n1")
    answer = talk.admin("batch")
    (job,) = answer["jobs"]
    assert 0.0 < answer["committed"] <= 1.0
    assert (job["job"], job["restart"], job["uid"], job["names"], job["ending"]) == ("a", 0, 1000, ["n2"], False)
    assert job["leased"] and job["charge"] > 0.0
    second.cut()
    talk.sleep(60.0)
    (job,) = talk.admin("batch")["jobs"]
    assert not job["leased"]


@pytest.mark.parametrize(("job", "node"), [("a", "n9"), ("b", "n1")])
def test_a_node_or_a_job_that_nobody_announced(job: str, node: str) -> None:
    talk, _ = started()
    before = charged(talk)
    assert hook(talk, "job_end", job, node=node)["ignored"]
    assert charged(talk) == before


def test_a_member_that_lies_about_its_node_is_not_freed_by_another_jobs_end() -> None:
    talk, _ = started()
    other = talk.join("b", uid=1001, labels={"node": "n1"}, trusted=False)
    other.post(1e6)
    hook(talk, "job_end", node="n1")
    assert other.stage is Stage.POSTED


def test_without_names_only_the_last_node_frees() -> None:
    talk, _ = started(names=())
    hook(talk, "job_end", node="n1")
    assert len(talk.state.members()) == 2
    hook(talk, "job_end", node="n1")
    assert len(talk.state.members()) == 2
    hook(talk, "job_end", node="n2")
    assert not talk.state.members()


def test_a_node_that_is_down_proves_nothing() -> None:
    talk, _ = started()
    before = charged(talk)
    assert "proves nothing" in hook(talk, "node_down", node="n1")["ignored"]
    assert charged(talk) == before


def test_what_hooks_said_outlives_a_restart() -> None:
    talk, _ = started(restart=3)
    hook(talk, "job_end", node="n1", restart=3)
    hook(talk, "job_ending", restart=3)
    again = ControllerState.restore(talk.state.snapshot(), talk.settings)
    assert again.jobs == talk.state.jobs and again.jobs["a"].over == {"n1"}


def test_a_snapshot_of_before_knows_less_of_a_job() -> None:
    job = _unpacked_job(1000, 4, 7.0)
    assert (job.uid, job.nodes, job.ends, job.restart, job.names, job.over) == (1000, 4, 7.0, 0, (), frozenset())
