"""Two metrics against each other: who is on the line, what is far away, and labels that can be read."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.campaign import Entry
from penstock.campaign.statistics import Interval
from penstock.report.campaign.labels import along, boxes, shared
from penstock.report.campaign.pareto import limits, pareto_figure, unbeaten

NAMES = ["fair-share", "greedy-yield", "greedy-com", "lookahead-greedy-yield", "periodic-greedy-yield", "set-10"]


def entry(metric: str, plan: str, mean: float, group: dict[str, float] | None = None, width: float = 0.001) -> Entry:
    interval = Interval(mean, mean - width, mean + width)
    return Entry(metric, group or {}, plan, NAMES[0], 9, 0, 0, interval, {}, None, None)


def figure_of(points: dict[str, tuple[float, float]], groups: int = 1, best: tuple[int, int] = (1, 1)):
    """A figure with the same (x, y) in every panel."""
    every = [{"pressure": float(number)} for number in range(groups)]
    entries = [entry("min_yield", plan, y, group) for group in every for plan, (_, y) in points.items()]
    entries += [entry("efficiency", plan, x, group) for group in every for plan, (x, _) in points.items()]
    return pareto_figure(entries, best)


coordinates = st.integers(0, 6).map(float)


@settings(deadline=None)
@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=8), st.sampled_from([-1, 1]))
def test_the_line_joins_those_that_nobody_beats(points, best):
    chosen = unbeaten(points, (best, 1))
    for i, (x, y) in enumerate(points):
        beaten = any(a >= x and best * b >= best * y and (a, b) != (x, y) for a, b in points)
        assert (i in chosen) == (not beaten)
    assert [points[i][0] for i in chosen] == sorted(points[i][0] for i in chosen)


def known(*means: float, width: float = 0.0) -> list[Interval]:
    return [Interval(mean, mean - width, mean + width) for mean in means]


def test_far_values_do_not_stretch_the_axis():
    near = [0.92, 0.925, 0.926, 0.93]
    low, high = limits(known(*near, 0.4))
    assert 0.9 < low < 0.92
    assert 0.93 < high < 0.94
    low, high = limits(known(0.5, 0.5, 0.5))
    assert low < 0.5 < high
    low, high = limits(known(0.5, 0.5, 0.5, 0.9))  # most are equal: nothing says what is far
    assert (low < 0.5, high > 0.9) == (True, True)


def test_an_axis_holds_the_intervals_unless_they_would_squeeze_the_means():
    low, high = limits(known(0.92, 0.925, 0.93, width=0.004))
    assert low < 0.916
    assert high > 0.934
    low, high = limits(known(0.92, 0.925, 0.93, width=0.5))
    assert 0.9 < low < 0.91
    assert 0.94 < high < 0.95
    low, high = limits(known(0.5, width=0.3))  # alone, it is all there is to see
    assert low < 0.2
    assert high > 0.8
    nan = float("nan")
    assert limits([Interval(0.5, nan, nan), Interval(0.6, nan, nan)]) == pytest.approx((0.492, 0.608))


def test_a_panel_for_each_group_with_points_bars_and_the_line():
    points = dict(
        zip(NAMES, [(0.93, 0.90), (0.92, 0.925), (0.97, 0.91), (0.93, 0.926), (0.92, 0.926), (0.94, 0.90)], strict=True)
    )
    figure = figure_of(points, groups=3)
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in panels] == ["pressure 0.0", "pressure 1.0", "pressure 2.0"]
    for axes in panels:
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("efficiency", "min yield")
        assert {text.get_text() for text in axes.texts} == set(NAMES)
        assert len(axes.containers) == len(NAMES)
        assert axes.lines[0].get_xydata().tolist() == [[0.93, 0.926], [0.97, 0.91]]


def test_without_a_better_side_there_is_no_line():
    points = {"a": (1.0, 2.0), "b": (2.0, 1.0)}
    one, none = (figure_of(points, best=best).axes[0] for best in ((1, -1), (1, 0)))
    assert len(one.lines) == len(none.lines) + 1


def test_who_is_far_away_stands_at_the_edge_with_its_values():
    points = dict(zip("abcde", [(0.93, 0.92), (0.931, 0.925), (0.932, 0.926), (0.934, 0.93), (0.5, 0.2)], strict=True))
    [axes] = figure_of(points).axes
    assert "e (0.5, 0.2)" in {text.get_text() for text in axes.texts}
    assert axes.get_ylim()[0] > 0.9
    [mark] = [line for line in axes.lines if line.get_marker() == "v"]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (axes.get_xlim()[0], axes.get_ylim()[0])


@pytest.mark.parametrize("groups", [1, 4])
def test_labels_of_a_crowd_do_not_overlap(groups):
    draw = np.random.default_rng(3)
    names = [*NAMES, *(f"my-own-policy-{i}" for i in range(8))]
    points = {name: tuple(draw.normal([0.93, 0.92], [0.01, 0.01])) for name in names}
    figure = figure_of(points, groups)
    for axes in figure.axes:
        extents = [text.get_window_extent() for text in axes.texts]
        assert len(extents) == len(names)
        assert not any(one.overlaps(other) for one, other in combinations(extents, 2))
        frame = axes.get_window_extent()
        assert all(frame.x0 <= e.x0 and e.x1 <= frame.x1 and frame.y0 <= e.y0 and e.y1 <= frame.y1 for e in extents)


def test_the_marks_are_explained_where_there_are_such():
    close = {"a": (1.0, 2.0), "b": (2.0, 1.0), "c": (1.5, 1.5)}
    far = {**close, "d": (1.1, 1.9), "e": (900.0, 1.4)}
    assert figure_of(close, best=(1, 0)).get_supxlabel() == "mean and 95 % interval of each plan"
    assert "line: no other" in figure_of(close).get_supxlabel() and "arrow" not in figure_of(close).get_supxlabel()
    assert "arrow: further out" in figure_of(far, groups=2).get_supxlabel()


def test_a_plan_without_a_metric_has_no_point():
    points = {"a": (1.0, 2.0), "b": (2.0, 1.0), "c": (float("nan"), 1.0)}
    [axes] = figure_of(points).axes
    assert {text.get_text() for text in axes.texts} == {"a", "b"}
    [empty] = figure_of({"c": (float("nan"), 1.0)}).axes
    assert not empty.texts


def test_areas_in_common():
    [unit] = boxes(np.array([[0.5, 0.5]]), 0.5)
    assert shared(unit[None], np.array([[0.5, 0.0, 1.5, 1.0], [2.0, 2.0, 3.0, 3.0], [0.0, 0.0, 1.0, 1.0]])) == [1.5]
    assert along(np.array([[0.0, 0.0], [12.0, 0.0]]), 0.5).tolist() == [[-0.5, -0.5, 12.5, 0.5]]
    assert along(np.array([[0.0, 0.0], [12.0, 12.0]]), 0.5)[0].tolist() == [-0.5, -0.5, 1.5, 1.5]
    assert len(along(np.array([[1.0, 1.0]]), 0.5)) == 0
