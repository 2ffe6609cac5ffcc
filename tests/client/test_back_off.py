"""Whoever is refused comes again later and later, up to a minute, and not together with the others."""

from __future__ import annotations

from itertools import pairwise

import pytest

from client.test_member import dialling, only, welcome
from penstock.client.events import Dial, LinkDown, Received
from penstock.wire.messages import Error, Registered


def pauses(seed: int, tries: int) -> list[float]:
    """Between tries of a member that is let in and refused as a member each time."""
    member, found, t = dialling(seed=seed), [], 0.0
    for _ in range(tries):
        member.step(t, welcome())
        (dial,) = only(member.step(t, Received(Error(1, "quota", "full", fatal=True))), Dial)
        found.append(dial.after)
        t += dial.after
    return found


def test_refusals_back_off_up_to_a_minute() -> None:
    found = [pauses(seed, 12) for seed in range(200)]
    means = [sum(column) / len(found) for column in zip(*found, strict=True)]
    assert means[0] == pytest.approx(0.5, abs=0.01) and means[-1] > 25.0
    assert all(one < two * 1.2 for one, two in pairwise(means))
    assert max(map(max, found)) <= 60.0


def test_nobody_comes_again_together_with_all_others() -> None:
    late = sorted(pauses(seed, 10)[-1] for seed in range(200))
    assert max(two - one for one, two in pairwise(late)) < 6.0
    assert late[0] < 10.0 and late[-1] > 50.0


def test_who_was_taken_begins_anew() -> None:
    member = dialling(seed=1)
    for t in range(8):
        member.step(float(t), LinkDown("no"))
    member.step(10.0, welcome())
    member.step(10.0, Received(Registered(1, 9, member.member, {"": 4.0}, 1.0)))
    member.step(11.0, LinkDown())
    (dial,) = only(member.step(12.0, LinkDown()), Dial)
    assert dial.after <= 1.0


def test_the_time_asked_for_is_kept_and_spread() -> None:
    found = set()
    for seed in range(50):
        member = dialling(seed=seed)
        member.step(0.0, welcome())
        (dial,) = only(member.step(1.0, Received(Error(0, "quota", "x", fatal=True, retry_after=40.0))), Dial)
        found.add(dial.after)
    assert len(found) == 50 and min(found) >= 40.0 and max(found) <= 52.0
