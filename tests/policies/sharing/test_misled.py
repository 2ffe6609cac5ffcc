"""A policy that is told something wrong: what it sees, and that the run goes by the truth."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from penstock import generate, simulate
from penstock.errors import PenstockError
from penstock.policies.parameters import split_misled
from penstock.policies.sharing import find
from penstock.policies.sharing.catalogue import check, from_function
from penstock.policies.sharing.misled import misled
from penstock.wire.guesses import guess

SMALL = generate("synthetic", 3, applications=6, small=2, horizon=2e5)


class Shown(NamedTuple):
    """What a policy saw at one decision."""

    now: float
    end: float
    application: Any
    remaining: Any
    progress: Any
    posted: Any


def watched(told: dict[str, float]) -> list[Shown]:
    """What fcfs is shown at every decision of a run when it is told this."""
    shown: list[Shown] = []

    def watching(view: Any, rates: Any) -> None:
        columns = (view.application, view.remaining, view.progress, view.posted)
        shown.append(Shown(view.now, view.end, *(column.copy() for column in columns)))
        find("fcfs").decide(view, rates)

    result = simulate(SMALL, misled(from_function(watching), told))
    # It looks at nothing that it is told wrong.
    assert result.applications == simulate(SMALL, "fcfs").applications
    return shown


@pytest.mark.parametrize("text", ["misled(reserve-credit,end=0.8)", "misled(credited-yield(g=3),volumes=2,late=60)"])
def test_its_label_finds_it_again(text: str) -> None:
    assert find(text).label == find(find(text).label).label == text


def test_parameters_of_the_policy_are_its_own() -> None:
    assert split_misled("misled(reserve-credit(k=2,ahead=1),end=0.8)") == ("reserve-credit(k=2,ahead=1)", {"end": 0.8})
    assert split_misled("misled(reserve-credit(k=2,ahead=1))") == ("reserve-credit(k=2,ahead=1)", {})
    for name in ("misled(reserve-credit,end=0.8)", "misled( reserve-credit(k=2),end=0.8 )"):
        check(name)  # what a command line does before it loads anything
    with pytest.raises(PenstockError, match="no sharing policy named 'nobody'"):
        check("misled(nobody,end=0.8)")
    assert find("misled(credited-yield(g=3),end=2)").settings == {"g": 3.0}


def test_who_is_told_the_truth_decides_alike() -> None:
    for policy in ("reserve-credit", "steady-reserve"):
        told = simulate(SMALL, f"misled({policy},volumes=1.0000000001,late=1e-6)")
        assert told.min_yield == pytest.approx(simulate(SMALL, policy).min_yield, rel=1e-6)


def test_an_end_that_is_wrong() -> None:
    assert watched({"end": 0.8})[0].end == pytest.approx(0.8 * watched({})[0].end)
    assert simulate(SMALL, "misled(reserve-credit,end=3)").end == simulate(SMALL, "reserve-credit").end


def test_volumes_that_are_wrong() -> None:
    true, wrong = watched({}), watched({"volumes": 2})
    factors = np.concatenate([one.remaining / other.remaining for one, other in zip(wrong, true, strict=True)])
    assert 0.5 <= factors.min() < 0.6
    assert 1.7 < factors.max() <= 2.0
    # One factor for each operation, however often it is looked at.
    operations = {operation for one in true for operation in zip(one.application, one.posted, strict=True)}
    assert len(np.unique(factors.round(9))) <= len(operations)


def test_progress_that_comes_late() -> None:
    late = watched({"late": 5_000})
    for one, other in zip(watched({}), late, strict=True):
        assert (other.progress <= one.progress + 1e-6).all()
    reports = {report for one in late for report in zip(one.application, one.progress, strict=True)}
    # At most one in 5,000 s of each of the six, and the first.
    assert len(reports) <= 6 * (late[-1].now / 5_000 + 2)
    lossy = watched({"late": 5_000, "lost": 0.9})
    assert len({report for one in lossy for report in one.progress}) < len(reports) / 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("misled(fcfs,end=0)", "end is 0; accepted is a number above 0"),
        ("misled(fcfs,volumes=0.5)", "volumes is 0.5; accepted is a number from 1 on"),
        ("misled(fcfs,lost=0.1)", "lost is given without late"),
        ("misled(fcfs,late=1,lost=1)", "lost is 1; accepted is a number from 0 to below 1"),
        ("misled(fcfs,start=1)", "has no parameter 'start'; it has: end, volumes, late, lost"),
        ("misled(list-johnson,end=1)", "plans with all that jobs will do"),
        ("misled(nobody,end=1)", "no sharing policy named 'nobody'"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, says: str) -> None:
    with pytest.raises(PenstockError, match=says):
        find(text)


def test_volumes_that_nobody_announced_are_guessed_as_an_agent_does() -> None:
    """64 MiB, as much again whenever more was moved, and from the fourth on the median of the last three."""
    seen: dict[int, list[tuple[float, float, float, float]]] = {}

    def watching(view: Any, rates: Any) -> None:
        for row in range(rates.size):
            told = float(view.remaining[row]), float(view.confidence[row])
            seen.setdefault(int(view.application[row]), []).append((float(view.posted[row]), view.now, *told))
        find("fcfs").decide(view, rates)

    simulate(SMALL, misled(from_function(watching), {"unannounced": 1.0}))
    truth = watched({"volumes": 1.0})
    for application, decisions in seen.items():
        posted = list(dict.fromkeys(each[0] for each in decisions))
        volumes: list[float] = []
        for number, start in enumerate(posted):
            true = max(
                float(shown.remaining[row])
                for shown in truth
                for row in np.flatnonzero((shown.application == application) & (shown.posted == start))
            )
            first = next(each for each in decisions if each[0] == start)
            expected = guess(volumes)
            assert first[2:] == pytest.approx(expected), (application, number)
            volumes.append(true)
        assert all(each[2] > 0.0 for each in decisions)


def test_half_of_the_applications_announce() -> None:
    sure: dict[int, set[bool]] = {}

    def watching(view: Any, rates: Any) -> None:
        for row in range(rates.size):
            sure.setdefault(int(view.application[row]), set()).add(bool(view.confidence[row] == 1.0))
        find("fcfs").decide(view, rates)

    result = simulate(SMALL, misled(from_function(watching), {"unannounced": 0.5}))
    assert result.applications == simulate(SMALL, "fcfs").applications
    assert {len(each) for each in sure.values()} == {1} and {True, False} == set().union(*sure.values())
    with pytest.raises(PenstockError, match="from 0 to 1"):
        find("misled(fcfs,unannounced=2)")
