"""What steady-reserve remembers, by hand; tests/engine compares whole runs with its witness."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import decide, generate, simulate

JOB = {"bandwidth": 1, "posted": 100, "release": 0, "remaining": 1}


def first(**jobs: dict[str, Any]) -> str:
    """Who gets the bandwidth when nothing is remembered."""
    active = [JOB | {"name": name} | job for name, job in jobs.items()]
    rates = decide({"capacity": 1, "now": 100, "active": active}, "steady-reserve").rates
    [served] = [name for name, rate in rates.items() if rate]
    return served


@pytest.mark.parametrize(("behind", "served"), [(17, "large"), (15, "small")])
def test_before_an_iteration_has_ended_it_is_credited_yield(behind: float, served: str) -> None:
    # Twice 9 s and twice 1 s.
    assert first(large={"remaining": 9, "progress": 84 - behind}, small={"progress": 84}) == served


@pytest.mark.parametrize(("behind", "served"), [(5.4, "large"), (5.2, "small")])
def test_the_backlog_counts_by_what_is_lost_in_an_iteration(behind: float, served: str) -> None:
    # Iterations take 40 s, a quarter of the age is 25, and the mean loss is 0.16 + behind/200. Of the backlog 0.9 and
    # 0.1 differ by 0.8 · 25 · loss, and twice 0.9 s and 0.1 s by 1.6: together 4.8 + behind/10.
    large = {"remaining": 0.9, "progress": 84 - behind, "omega": 40}
    assert first(large=large, small={"remaining": 0.1, "progress": 84, "omega": 40}) == served


def test_who_is_always_the_reserve_is_not_behind_for_good() -> None:
    scenario = generate("synthetic", 5, applications=12, small=6, medium=3, horizon=5e5)
    by_share, by_memory = (simulate(scenario, name, evenness=True) for name in ("reserve-credit", "steady-reserve"))
    assert by_memory.even_yield is not None
    assert by_share.even_yield is not None
    assert by_memory.even_yield > by_share.even_yield
