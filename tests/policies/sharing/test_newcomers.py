"""No policy of ours starves a job because it is young (models, jobs that come and go)."""

from __future__ import annotations

import pytest

from penstock import Scenario, decide, generate, simulate
from penstock.policies.sharing.catalogue import NAMES, find

OURS = [name for name in NAMES if find(name).source == "ours"]


def test_there_are_policies_of_ours() -> None:
    assert {"credited-yield", "loss-capped-srpt", "reserve-credit", "reserve-srpt"} <= set(OURS)


@pytest.mark.parametrize("sharing", OURS)
def test_a_newcomer_among_old_jobs_has_at_least_its_fair_share(sharing: str) -> None:
    for m in range(2, 21):
        # P1's Example 1: all post one operation as long as the window, and fair-share gives each 1/m of it.
        assert simulate(generate("example-1", m=m), sharing).min_yield >= 1 / m, m


def among_checkpoints(minutes: float) -> Scenario:
    """A job that begins with a read of 600 s among twenty that write checkpoints of 45 s four times an hour."""
    old = [
        {"name": f"old-{i}", "phases": [{"compute": 43 * (i + 1)}, {"repeat": "forever", "phases": checkpoint}]}
        for i, checkpoint in enumerate([[{"write": 45}, {"compute": 900}]] * 20)
    ]
    new = {"name": "new", "release": 20_000, "phases": [{"read": 600}, {"compute": 9_000}]}
    window = {"begin": 0, "end": 20_000 + 60 * minutes}
    document = {"version": 1, "platform": {"bandwidth": 1}, "window": window, "applications": [*old, new]}
    return Scenario.from_document(document)


@pytest.mark.parametrize("sharing", OURS)
def test_a_newcomer_that_reads_for_long_is_served_among_checkpoints(sharing: str) -> None:
    scenario = among_checkpoints(minutes=20)
    newcomer = {name: simulate(scenario, name).applications[-1].yield_ for name in (sharing, "greedy-yield")}
    # greedy-yield has 0.98; without a guard ours had 0.04 to 0.46.
    assert newcomer[sharing] > newcomer["greedy-yield"] - 0.2


@pytest.mark.parametrize("sharing", ["loss-capped-srpt", "reserve-srpt"])
@pytest.mark.parametrize("end", [None, 2_000])
def test_a_newcomer_goes_before_shorter_ones_where_all_lose_much(sharing: str, end: float | None) -> None:
    old = {"name": "old", "bandwidth": 1, "remaining": 5, "posted": 990, "release": 0, "progress": 200}
    new = {"name": "new", "bandwidth": 1, "remaining": 300, "posted": 900, "release": 900, "progress": 0}
    # The old one has lost 0.8 of its age, as have others that compute. With a quarter of its age counted, the newcomer
    # has lost 0.75, less than the average.
    others = [{"release": 0, "progress": 200}] * 5
    moment = {"capacity": 1, "now": 1_000, "end": end, "active": [old, new], "computing": others}
    assert decide(moment, sharing).rates == {"old": 0.0, "new": 1.0}
