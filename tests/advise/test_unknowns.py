"""What is swept, and what a change of it does to the answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from penstock.advise.policies import answer
from penstock.advise.sample import Sample
from penstock.advise.sensitivity import SweptCorners, words
from penstock.advise.unknowns import Corner, Unknown, corners, star, taken

B = Unknown("bandwidth", 1.0, 0.75, 1.25)
CAPS = Unknown("caps", 1.0, 1.0, 2.0)
SLACK = Unknown("slack", "compute", "compute", "contention")


def gains(gain: float, noise: float = 0.0) -> Sample:
    """Seven days on which `new` loses so much less than `now`."""
    lost = np.column_stack([np.full(7, 100.0), 100.0 - gain + noise * np.array([1, -1, 1, -1, 1, -1, 0.0])])
    return Sample(
        ("now", "new"), np.ones((7, 2)), lost, {"min-yield": np.ones(2), "node-hours": -lost.mean(axis=0)}, True
    )


def swept(base: Sample, others: dict[tuple[float, str], Sample]) -> SweptCorners:
    at: list[tuple[Corner, Sample]] = [
        ({"bandwidth": bandwidth, "slack": slack}, sample) for (bandwidth, slack), sample in others.items()
    ]
    return SweptCorners(answer(base, "now", "node-hours", True), at, 100.0)


def test_one_at_a_time_and_all_together():
    assert [(unknown.name, end) for unknown, end, _ in star([B, CAPS])] == [
        ("bandwidth", 0.75),
        ("bandwidth", 1.25),
        ("caps", 2.0),
    ]
    assert {tuple(each.items()) for each in corners([B, CAPS])} == {
        (("bandwidth", b), ("caps", c)) for b in (0.75, 1.25) for c in (1.0, 2.0)
    }


def test_nothing_unknown_has_one_corner():
    assert corners([]) == [{}]


@given(st.lists(st.sampled_from([B, CAPS, SLACK]), unique=True))
def test_corners_are_at_ends(unknowns):
    for corner in corners(unknowns):
        assert all(corner[each.name] in (each.low, each.high) for each in unknowns)
    for unknown, end, corner in star(unknowns):
        assert words(corner, unknowns) == [unknown.name]
        assert corner == taken(unknowns) | {unknown.name: end}


def test_a_verdict_must_hold_at_every_corner():
    base = {(1.0, "compute"): gains(5.0), (0.75, "compute"): gains(9.0), (1.25, "compute"): gains(4.0)}
    holds = swept(gains(5.0), base | {(1.25, "contention"): gains(1.0)})
    assert holds.breaking() == []
    fails = swept(gains(5.0), base | {(1.25, "contention"): gains(1.0, noise=4.0)})
    assert fails.breaking() == [{"bandwidth": 1.25, "slack": "contention"}]


def test_a_change_of_sign_changes_the_answer():
    found = swept(gains(5.0), {(0.75, "compute"): gains(9.0), (1.25, "compute"): gains(-1.0)})
    (row,) = found.sensitivities([B], {"bandwidth": 1.0, "slack": "compute"})
    assert row.changes_answer
    assert (row.start, row.end) == (75.0, 125.0)
    assert row.to_dict()["gain_to"] == {"value": -1.0, "low": -1.0, "high": -1.0}


def test_bandwidth_may_move_the_figure_and_readings_may_not():
    base, other = gains(5.0, noise=1.0), gains(9.0, noise=1.0)
    found = swept(
        base, {(0.75, "compute"): other, (1.25, "compute"): base, (1.0, "compute"): base, (1.0, "contention"): other}
    )
    bandwidth, slack = found.sensitivities([B, SLACK], {"bandwidth": 1.0, "slack": "compute"})
    assert not bandwidth.changes_answer
    assert slack.changes_answer


def test_no_evidence_breaks_nowhere():
    assert swept(gains(0.0), {(0.75, "compute"): gains(-5.0)}).breaking() == []
