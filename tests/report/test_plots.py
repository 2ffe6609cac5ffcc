from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from typing import Any

import pytest
from matplotlib.text import Text

from penstock.errors import InvalidOption
from penstock.report.parts.theme import label
from penstock.report.plots import comparison_figure, run_figure, save_figure
from report.samples import POLICIES, big, eight_big, run, toy


def legend(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_small_run_shows_every_application_in_both_panels():
    figure = run_figure(toy())
    upper, lower = figure.axes
    assert len(upper.collections[0].get_paths()) == 2
    assert [tick.get_text() for tick in lower.get_yticklabels()] == ["a", "b"]
    computing, waiting, moving = (len(collection.get_paths()) for collection in lower.collections)
    assert (computing, waiting, moving) == (2, 1, 2)
    assert lower.collections[1].get_hatch() == "////"
    assert legend(figure) == ["computing", "waiting for I/O", "a", "b"]
    assert upper.get_title(loc="left") == "fcfs: min yield 0.8000, 0.008333 node-hours (15.0 %) lost"


def test_units_are_named_unless_numbers_are_pure():
    pure, bytes_ = run_figure(toy()), run_figure(big())
    assert pure.axes[0].get_ylabel() == "bandwidth"
    assert pure.axes[1].get_xlabel() == "time (s)"
    assert [text.get_text() for text in pure.axes[0].texts] == ["capacity 1"]
    assert bytes_.axes[0].get_ylabel() == "bandwidth (GB/s)"
    assert bytes_.axes[1].get_xlabel() == "time (d)"
    assert [text.get_text() for text in bytes_.axes[0].texts] == ["capacity 160 GB/s"]


def test_a_big_run_is_summed_up():
    figure = run_figure(big())
    upper, lower = figure.axes
    assert len(upper.collections[0].get_paths()) == 9
    assert len(legend(figure)) == 2 + 9
    assert legend(figure)[-1] == "52 others"
    assert not lower.collections and len(lower.images) == 1
    assert 20 <= len(lower.get_yticklabels()) <= 32


def test_the_stack_never_leaves_the_axes_of_a_full_link():
    axes: Any = run_figure(toy()).axes[0]
    heights = [path.vertices[:, 1].max() for path in axes.collections[0].get_paths()]
    assert max(heights) == pytest.approx(1.0)
    assert axes.get_ylim()[1] > 1.0


@pytest.mark.parametrize("size", [{}, {"applications": 14, "segments": 600}, {"applications": 2, "segments": 5000}])
def test_an_svg_stays_small(tmp_path, size):
    save_figure(run_figure(big(**size)), tmp_path / "run.svg")
    assert (tmp_path / "run.svg").stat().st_size < 2_000_000


def test_a_run_without_timeline_cannot_be_drawn():
    with pytest.raises(InvalidOption, match="fcfs has no timeline"):
        run_figure(run())


def test_a_comparison_shows_every_yield_the_boxes_and_the_bound():
    axes: list[Any] = comparison_figure(eight_big(timeline=False)).axes
    left, right = axes
    assert [tick.get_text() for tick in left.get_yticklabels()] == list(POLICIES)
    assert [len(dots.get_offsets()) for dots in left.collections] == [60] * 8
    assert left.texts[0].get_text() == "bound on the minimum 0.9500"
    assert any(list(line.get_xdata()) == [0.95, 0.95] for line in left.lines)
    assert len(right.collections[0].get_offsets()) == 8
    assert "↖ better" in [text.get_text() for text in right.texts]


def test_a_comparison_without_window_has_a_bound_too():
    figure = comparison_figure([run("fcfs", windowed=False, finished=True)])
    assert all(any("0.9500" in text.get_text() for text in axes.texts) for axes in figure.axes)


def test_a_bound_far_above_the_points_is_told_instead_of_drawn():
    near = comparison_figure([run("a", (0.90, 0.95)), run("b", (0.92, 0.93))]).axes[1]
    far = comparison_figure([run("a", (0.50, 0.95)), run("b", (0.51, 0.93))]).axes[1]
    assert near.lines and not far.lines
    assert "bound 0.9500, above this range" in [text.get_text() for text in far.texts]


@pytest.mark.parametrize("spread", [0.0, 1e-4, 0.002, 0.03])
def test_names_of_points_do_not_overlap(spread):
    runs = [run(name, (0.7 + spread * (i % 3), 0.8 + spread * (i % 4))) for i, name in enumerate(POLICIES)]
    figure = comparison_figure(runs)
    figure.draw_without_rendering()
    texts = figure.axes[1].texts
    named = "\n".join(text.get_text() for text in texts).split("\n")
    assert all(name in named for name in POLICIES)
    boxes = [Text.get_window_extent(text) for text in texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf", "SVG"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(run_figure(toy()), tmp_path / f"{name}.{suffix}")
    first = (tmp_path / f"one.{suffix}").read_bytes()
    assert first == (tmp_path / f"two.{suffix}").read_bytes()
    assert first[:5] == {"png": b"\x89PNG\r", "svg": b"<?xml", "pdf": b"%PDF-"}[suffix.lower()]


@pytest.mark.parametrize(("name", "found"), [("plot.gif", r"ends in \.gif"), ("plot", "has no suffix")])
def test_other_kinds_are_refused(tmp_path, name, found):
    with pytest.raises(InvalidOption, match=rf"{found}; a plot is saved as \.png, \.svg or \.pdf"):
        save_figure(run_figure(toy()), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    figure = comparison_figure([toy()])
    with pytest.raises(InvalidOption, match="cannot be written"):
        save_figure(figure, tmp_path / "missing" / "plot.png")
    (tmp_path / "dir.png").mkdir()
    with pytest.raises(InvalidOption, match="is a directory; give the name of a file"):
        save_figure(figure, tmp_path / "dir.png")
    assert [path.name for path in tmp_path.iterdir()] == ["dir.png"]


def test_names_stay_plain_text(tmp_path):
    save_figure(run_figure(toy(names=("$x^2$", "<b>"))), tmp_path / "run.svg")
    assert run_figure(toy(names=("$x^2$", "b"))).axes[1].get_yticklabels()[0].get_text() == r"\$x^2\$"
    assert label("a" * 100) == "a" * 13 + "…" + "a" * 12


def test_plotting_code_loads_matplotlib_only_to_draw():
    modules = "penstock.report.comparison.page, penstock.report.comparison.table"
    code = f"import sys, {modules}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
