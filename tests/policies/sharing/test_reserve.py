"""What the reserve policies weigh: a share of the backlog against what can still be made good, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import decide

JOB = {"bandwidth": 1, "posted": 90, "release": 0}


def first(policy: str, *active: dict[str, Any], end: float | None, now: float = 100) -> str:
    """Who gets the bandwidth."""
    named = [JOB | {"name": name} | job for name, job in zip("abc", active, strict=False)]
    decision = decide({"capacity": 1, "now": now, "begin": 0, "end": end, "active": named}, policy)
    [served] = [name for name, rate in decision.rates.items() if rate == 1.0]
    return served


LARGE, SMALL = {"remaining": 0.9, "progress": 80}, {"remaining": 0.1, "progress": 84}


def test_what_is_most_of_the_backlog_waits_while_that_can_be_made_good() -> None:
    # The mean loss is 0.18, and the shares are 0.9 and 0.1: with k = 1 the large one has 0.8 · 0.18 · left more credit.
    for left, served in [(200, "b"), (28, "b"), (27, "a"), (1, "a")]:
        assert first("reserve-credit(k=1)", LARGE, SMALL, end=100 + left) == served, left


def test_one_of_many_large_ones_is_no_reserve() -> None:
    another = {"remaining": 9, "progress": 99}
    # The shares are 0.09 and 0.01, and the mean loss 37/300: 0.08 · 37/300 · 200 s are less than the 4 s between them.
    assert first("reserve-credit(k=1)", LARGE, SMALL, end=300) == "b"
    assert first("reserve-credit(k=1)", LARGE, SMALL, another, end=300) == "a"


def test_near_the_end_only_the_operation_itself_is_credited() -> None:
    # 0.9 s and 0.1 s: the large one is behind by more than these 0.8 s, or by less.
    for behind, served in [(0.9, "a"), (0.7, "b")]:
        assert first("reserve-credit", LARGE | {"progress": 84 - behind}, SMALL, end=100 + 1e-9) == served


def test_no_credit_is_above_a_quarter_of_the_age() -> None:
    # By their shares the large one would have some 360 s and the small one 40; both have 25.
    assert first("reserve-credit", LARGE | {"progress": 59}, SMALL | {"progress": 60}, end=1000) == "a"
    assert first("reserve-credit", LARGE | {"progress": 61}, SMALL | {"progress": 60}, end=1000) == "b"


def test_without_a_window_it_must_be_made_good_in_a_tenth_of_the_age() -> None:
    # 0.8 · 0.18 · 100 s · ahead against 4 s.
    assert first("reserve-credit(k=1)", LARGE, SMALL, end=None) == "a"
    assert first("reserve-credit(k=1,ahead=0.27)", LARGE, SMALL, end=None) == "a"
    assert first("reserve-credit(k=1,ahead=0.28)", LARGE, SMALL, end=None) == "b"


@pytest.mark.parametrize(("left", "served"), [(0.1, "a"), (5, "a"), (6.5, "b"), (400, "b")])
def test_a_cap_is_higher_for_the_reserve(left: float, served: str) -> None:
    # The mean loss is 0.24. With its operation done the large one has lost 29 s; it may lose 0.24 · (110 + 0.9 · left).
    # It goes first while (29/allowed)^16 is above ln 9: below 27.6 s. The small one has lost 9 s, far from its cap.
    large, small = {"remaining": 9, "progress": 62}, {"remaining": 1, "progress": 90}
    assert first("reserve-srpt", large, small, end=100 + left) == served


def test_without_a_window_the_cap_is_that_of_loss_capped_srpt() -> None:
    large, small = {"remaining": 9, "progress": 62}, {"remaining": 1, "progress": 90}
    assert first("reserve-srpt", large, small, end=None) == "a"
    assert first("reserve-srpt(c=1.2)", large, small, end=None) == "b"
