"""One decision of best-next-event on random Views, judged by linear programs and by the slow reference."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.best_next_event import _best_completion, _binding, _height, best_next_event
from penstock.policies.sharing.view import View, empty_view, shut
from reference import decide
from reference.lp import best_min_yield
from reference.next_event import best_next_event as next_event_of

Moment = dict[str, Any]


@st.composite
def moments(draw: DrawFn, most: int = 12, aged: float = 1e6) -> Moment:
    """A moment as `decide` takes it: 2 to 12 transfers that together could use more than there is, or not."""
    capacity = draw(st.sampled_from([1.0, 3.0, 160e9]))
    now = draw(st.sampled_from([0.0, 10.0, 2e6]))
    active = []
    for index in range(draw(st.integers(2, most))):
        limit = capacity * draw(st.sampled_from([1.0, 0.5]) | st.floats(0.01, 1.0))
        seconds = draw(st.sampled_from([1.0, 2.0]) | st.floats(0.01, 100.0))
        age = draw(st.sampled_from([0.0, 5.0]) | st.floats(0.0, aged))
        active.append(
            {
                "name": f"a{index}",
                "bandwidth": limit,
                "remaining": limit * seconds,
                "posted": now,
                "release": now - age,
                "progress": age * draw(st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.0, 1.0)),
            }
        )
    end = draw(st.none() | st.floats(0.01, 300.0).map(lambda room: now + room))
    return {"capacity": capacity, "now": now, "end": end, "active": active}


def view_of(moment: Moment) -> View:
    """The same moment as the engine shows it."""
    active = moment["active"]
    view = empty_view(len(active), np.zeros(0), np.zeros(0))
    view = view._replace(now=moment["now"], capacity=moment["capacity"])
    view = view._replace(end=math.inf if moment["end"] is None else moment["end"])
    view.application[:] = np.arange(len(active))
    view.limit[:] = [flow["bandwidth"] for flow in active]
    for name in ("remaining", "posted", "release", "progress"):
        getattr(view, name)[:] = [flow[name] for flow in active]
    return view


def decided(view: View) -> Floats:
    rates = np.zeros(view.limit.size)
    best_next_event.decide(shut(view), rates)
    return rates


def next_event(view: View, rates: Floats) -> float:
    """Seconds to the first completion, or to the end of the window."""
    with np.errstate(divide="ignore"):
        return float(min(np.min(view.remaining / rates), view.end - view.now))


def min_yield(view: View, rates: Floats, u: float) -> float:
    ages = view.now - view.release + u
    return float(np.min((view.progress + rates * u / view.limit) / ages))


@given(moments())
def test_it_is_as_good_as_the_reference(moment: Moment) -> None:
    view = view_of(moment)
    rates = decided(view)
    u = next_event(view, rates)
    # A yield has 53 bits: after an age of weeks they leave this share of the rates for a near event undecided.
    undecided = 4 * np.finfo(float).eps * float(view.limit @ (view.now - view.release)) / (view.capacity * u)
    assert min_yield(view, rates, u) >= decide(moment, "best-next-event")["min_yield"] - 1e-9 - undecided


@given(moments())
def test_it_stays_within_the_capacity_and_the_caps(moment: Moment) -> None:
    view = view_of(moment)
    rates = decided(view)
    assert (rates >= 0.0).all()
    assert (rates <= view.limit * (1 + 1e-12)).all()
    assert rates.sum() <= view.capacity * (1 + 1e-12)


@given(moments(aged=1e3))
def test_no_linear_program_does_better_at_the_event_it_chose(moment: Moment) -> None:
    view = view_of(moment)
    rates = decided(view)
    u = next_event(view, rates)
    reached = min_yield(view, rates, u)
    completing = [moment["active"][row]["name"] for row in np.flatnonzero(view.remaining <= rates * u * (1 + 1e-12))]
    best = best_min_yield(unscaled(moment), u, completing[0] if completing else None)
    assert reached == pytest.approx(best, abs=1e-6)


@given(moments(most=4, aged=1e2), st.floats(0.0, 1.0))
def test_no_other_event_would_have_been_better(moment: Moment, where: float) -> None:
    view = view_of(moment)
    assume(view.limit.sum() > view.capacity)
    rates = decided(view)
    reached = min_yield(view, rates, next_event(view, rates))
    last = min(view.end - view.now, view.remaining.sum() / view.capacity + np.max(view.remaining / view.limit))
    for flow in moment["active"]:
        first = flow["remaining"] / flow["bandwidth"]
        if first <= last:
            u = first + where * (last - first)
            assert best_min_yield(unscaled(moment), u, flow["name"]) <= reached + 1e-6


def unscaled(moment: Moment) -> Moment:
    """The same with capacity 1: a linear program has absolute tolerances."""
    active = [
        flow | {key: flow[key] / moment["capacity"] for key in ("bandwidth", "remaining")} for flow in moment["active"]
    ]
    return moment | {"capacity": 1.0, "active": active}


@given(moments(), st.randoms())
def test_the_order_of_rows_does_not_matter(moment: Moment, shuffle: Any) -> None:
    view = view_of(moment)
    order = np.array(shuffle.sample(range(view.limit.size), view.limit.size))
    columns = ("application", "limit", "bandwidth", "remaining", "posted", "release", "progress")
    other = view._replace(**{name: getattr(view, name)[order] for name in columns})
    one, permuted = decided(view), decided(other)
    u, v = next_event(view, one), next_event(other, permuted)
    assert min_yield(other, permuted, v) == pytest.approx(min_yield(view, one, u), rel=1e-9, abs=1e-9)


def crowd(draw: np.random.Generator) -> View:
    """Thirty transfers, with yields that are all the same, nearly so, or not at all."""
    view = empty_view(30, np.zeros(0), np.zeros(0))
    view = view._replace(now=100.0, capacity=1.0, end=draw.choice([110.0, 150.0, math.inf]))
    view.application[:] = draw.permutation(30)
    view.limit[:] = draw.choice([1.0, 0.3, 0.1]) * draw.uniform(draw.choice([0.5, 1.0]), 1.0, 30)
    view.remaining[:] = view.limit * draw.uniform(1.0, draw.choice([1.1, 50.0]), 30)
    view.release[:] = 100.0 - draw.uniform(draw.choice([5.0, 90.0]), 90.0, 30)
    view.progress[:] = (100.0 - view.release) * draw.uniform(0.05, draw.choice([0.05, 0.051, 0.1, 1.0]), 30)
    return view


def best_of_all(view: View) -> float:
    """The best minimum yield at any event, everyone looked at in full."""
    everyone = view.limit.size
    view.rows[:] = np.arange(everyone)
    shown = shut(view)
    found = [_best_completion(shown, everyone, k, -1.0)[0] for k in range(everyone)]
    if view.end < math.inf:
        found.append(_height(_binding(shown, everyone, -1, view.end - view.now), view.end - view.now))
    return max(found)


def test_nobody_is_passed_over_who_matters() -> None:
    draw = np.random.default_rng(1)
    for _ in range(300):
        view = crowd(draw)
        rates = decided(view)
        assert min_yield(view, rates, next_event(view, rates)) == pytest.approx(best_of_all(view), rel=2e-9)


def test_it_leaves_bandwidth_idle_where_that_is_best() -> None:
    # Whoever has yield 1 may only lose by an event that comes soon; waiting costs the late one nothing it could keep.
    flows = [
        {"name": "done-soon", "bandwidth": 1.0, "remaining": 0.1, "posted": 0.0, "release": 0.0, "progress": 10.0},
        {"name": "late", "bandwidth": 0.5, "remaining": 5.0, "posted": 0.0, "release": 0.0, "progress": 2.0},
    ]
    moment: Moment = {"capacity": 1.0, "now": 10.0, "end": None, "active": flows}
    view = view_of(moment)
    rates = decided(view)
    assert rates.sum() < 0.9
    assert min_yield(view, rates, next_event(view, rates)) > min_yield(view, np.array([0.5, 0.5]), 0.2)


# Interference leaves less than anybody's cap. If b completes next, c, who shares what b leaves, has a yield of 1/12
# whenever that is, from 8 s on; the others have more.
ANY_TIME = {
    "a": {"bandwidth": 1.5, "remaining": 3.395, "release": 0.1, "progress": 0.9},
    "b": {"bandwidth": 1.0, "remaining": 2.0, "release": 0.0, "progress": 0.9},
    "c": {"bandwidth": 3.0, "remaining": 4.0, "release": 0.0, "progress": 0.75},
    "d": {"bandwidth": 0.5, "remaining": 4.0, "release": 0.0, "progress": 0.99},
}


@pytest.mark.parametrize("noise", [0.0, 1e-14, -1e-14, 3e-13, -3e-13])
def test_of_equally_good_times_the_earliest_is_taken_whatever_rounding_says(noise: float) -> None:
    active = [{"name": name, "posted": 1.0, **flow} for name, flow in ANY_TIME.items()]
    active[1] |= {"remaining": 2.0 * (1.0 + noise)}
    moment = {"capacity": 0.25, "now": 1.0, "end": None, "active": active}
    rates = decided(view_of(moment))
    assert rates.tolist() == pytest.approx([0.0, 0.25, 0.0, 0.0], abs=1e-9)
    slow = next_event_of(moment)
    assert [slow.get(name, 0.0) for name in ANY_TIME] == pytest.approx(rates.tolist(), abs=1e-9)
