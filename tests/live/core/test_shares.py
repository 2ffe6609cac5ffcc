"""Nobody takes what is not theirs: words of a job about itself, many jobs of one user, jobs that never move."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.core.talk import CAPACITY, Talk
from penstock.live.core import Resource
from penstock.live.core.shares import Share, Tree
from penstock.wire import messages as wire


def hook(talk: Talk, job: str, **known: object) -> None:
    session = talk.connect(role="hook", uid=0)
    talk.say(session, wire.Hook(1, "job_start", job, **{"uid": 1000, "nodes": 1, **known}))  # type: ignore[arg-type]


def busy(talk: Talk, *jobs: tuple[str, int]) -> list[float]:
    """The rates of jobs of these users once all is quiet."""
    peers = [talk.join(job, uid=uid) for job, uid in jobs]
    for peer in peers:
        peer.post(1e9)
    talk.quiet()
    return [peer.rate for peer in peers]


def test_a_job_has_one_node_by_its_own_word() -> None:
    talk = Talk(machine_nodes=10)
    liar = talk.join("liar", nodes=10, trusted=False)
    assert liar.member.nodes == 1.0 and liar.fallback[""] == talk.settings.phi * CAPACITY / 10
    assert sum(member.nodes for member in talk.state.members()) == 1.0


def test_a_liar_that_vanishes_holds_nothing() -> None:
    """It said that it had all nodes, and hung up: half of the capacity was charged until an operator came."""
    talk = Talk(machine_nodes=10)
    liar = talk.join("liar", nodes=10, trusted=False)
    liar.cut()
    talk.sleep(talk.settings.waiting + 0.01)
    assert talk.state.charges.used == [0.0] and not talk.state.members()
    talk.sleep(talk.settings.waiting + 0.01)
    assert not talk.state.apps
    assert busy(talk, ("good", 1001)) == [CAPACITY]


def test_labels_that_shares_go_by_are_not_a_jobs_to_give() -> None:
    talk = Talk()
    peer = talk.join(labels={"account": "rich", "user": "root", "qos": "high", "fs": "x"}, trusted=False)
    assert peer.member.labels == {"fs": "x"} and peer.member.app.account == ""


def test_the_account_comes_from_the_hook_or_the_token() -> None:
    talk = Talk()
    hook(talk, "a", account="physics")
    assert talk.join("a").member.app.account == "physics"
    assert talk.join("b", nodes_proved=1, account="biology").member.app.account == "biology"
    late = talk.join("c")
    hook(talk, "c", account="physics")
    assert late.member.app.account == "physics"


@pytest.mark.parametrize("policy", ["fair-share", "fcfs", "greedy-yield"])
def test_sixty_jobs_of_one_user_leave_the_other_half(policy: str) -> None:
    talk = Talk(policy, shares=())
    *many, one = busy(talk, *((f"m{number}", 1000) for number in range(60)), ("one", 1001))
    assert one >= 0.49 * CAPACITY
    assert sum(many) == pytest.approx(0.5 * CAPACITY)


def test_without_shares_all_jobs_are_equal() -> None:
    assert busy(Talk(), ("a", 1000), ("b", 1000), ("c", 1001)) == pytest.approx([CAPACITY / 3] * 3)


def test_what_a_share_does_not_use_goes_to_the_others() -> None:
    talk = Talk(shares=())
    small = talk.join("small", uid=1000, cap=10.0)
    small.post(1e9)
    assert busy(talk, ("a", 1001)) == [90.0]


def test_accounts_divide_before_their_users() -> None:
    talk = Talk(shares=(Share("physics", None, 3.0), Share("physics", 1001, 2.0)))
    for job, uid, account in (("a", 1000, "physics"), ("b", 1001, "physics"), ("c", 1002, "biology")):
        hook(talk, job, uid=uid, account=account)
    assert busy(talk, ("a", 1000), ("b", 1001), ("c", 1002)) == pytest.approx([25.0, 50.0, 25.0])


def test_a_limit_holds_though_nobody_else_is_there() -> None:
    talk = Talk(shares=(Share("", 1000, 1.0, 30.0),))
    assert sum(busy(talk, ("a", 1000), ("b", 1000))) == pytest.approx(30.0)


def test_a_limit_holds_over_several_rounds() -> None:
    resources = (Resource("x", 100.0, "x"), Resource("y", 20.0, "y"))
    talk = Talk(resources=resources, shares=(Share("", 1000, 1.0, 30.0),))
    both, x, other = (talk.join(name, uid=uid) for name, uid in (("both", 1000), ("x", 1000), ("other", 1001)))
    both.post(1e9, targets=("x", "y"))
    x.post(1e9, targets=("x",))
    other.post(1e9, targets=("x",))
    talk.quiet()
    assert both.rate / 2 + x.rate <= 30.0 + 1e-6
    assert other.rate == pytest.approx(70.0)


owners = st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 3))
amounts = st.dictionaries(owners, st.floats(0.0, 100.0), min_size=1, max_size=8)


@given(amounts, st.floats(0.1, 200.0), st.lists(st.builds(Share, st.sampled_from(["", "a", "b"]), st.none() | st.integers(0, 3), st.floats(0.1, 9.0), st.none() | st.floats(1.0, 50.0)), max_size=5))  # fmt: skip  # noqa: E501
def test_a_division_fits_and_leaves_nothing(
    wanted: dict[tuple[str, int], float], capacity: float, shares: list[Share]
) -> None:
    tree = Tree(shares)
    given = tree.divide(capacity, wanted, {})
    assert all(0.0 <= given[owner] <= wanted[owner] * (1 + 1e-9) for owner in wanted)
    assert sum(given.values()) <= capacity * (1 + 1e-9)
    limits = {(share.account, share.uid): share.limit for share in shares}
    for owner, rate in given.items():
        assert rate <= (limits.get(owner) or math.inf) * (1 + 1e-9)
    if not any(limits.values()):
        assert sum(given.values()) == pytest.approx(min(capacity, sum(wanted.values())))
