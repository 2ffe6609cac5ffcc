"""Runs behind a buffer in words and pictures: every number is the result's own, and long scenarios stay readable."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from rich.console import Console
from rich.table import Table

from penstock.model import Scenario
from penstock.report.buffers.plot import (
    _full_shares,
    _levels,
    _means,
    _mixed,
    comparison_figure,
    run_figure,
    sweep_figure,
)
from penstock.report.buffers.table import (
    comparison_lines,
    comparison_table,
    nearly_enough,
    run_lines,
    run_table,
    slowest,
    sweep_lines,
    sweep_table,
)
from penstock.report.parts.theme import WAITING
from penstock.studies.buffers import Buffered, buffer
from penstock.studies.buffers.result import Filling
from penstock.studies.buffers.split import Split, split
from penstock.studies.buffers.sweep import Sweep, compare_buffers, sweep_buffer
from studies.sizing.plans import ONE_EACH, Document, app, document

GIGA = 1e9


def jobs(count: int, rounds: int = 2) -> Document:
    phases = [("compute", 60.0), ("write", 300 * GIGA)] * rounds
    many = (app(f"job {i}", *phases, bandwidth=(5 + i % 7) * GIGA, release=13.0 * i) for i in range(count))
    return document({"bandwidth": 2 * GIGA}, *many)


def divided(plain: Document, partition: str = "static", common: float | None = None) -> Split:
    return split(Scenario.from_document(plain), partition, common)


def run_of(shared: Split, factor: float, **options: object) -> Buffered:
    return buffer(shared.scenario, factor * shared.size, split=shared, **options)  # type: ignore[arg-type]


def swept(shared: Split, *strategies: str) -> Sweep:
    return sweep_buffer(shared.scenario, strategies, split=shared, factors=(0.0, 0.5, 1.0, 3.0))


def text_of(table: Table) -> str:
    file = io.StringIO()
    console = Console(file=file, width=120)
    console.print(table)
    return file.getvalue()


def test_a_long_table_has_the_slowest() -> None:
    shared = divided(jobs(50, 1), "isolated")
    run = run_of(shared, 0.3)
    table = run_table(run, shared.traffic)
    assert table.row_count == 40
    left = sorted(run.stretch)[9]
    assert run_lines(run, shared.size, shared.traffic)[0] == (
        f"… and 10 more with a stretch of at most {left:.4f} (--all)"
    )
    assert slowest([1.0, 3.0, 2.0, 3.0], 2) == [1, 3] and slowest([1.0, 3.0, 2.0], 9) == [0, 1, 2]
    assert run.names[run.stretch.index(run.max_stretch)] in text_of(table)


def test_what_to_do() -> None:
    shared = divided(jobs(3))
    run = run_of(shared, 0.5)
    part, fared, lost, worn, *recommendation = run_lines(run, shared.size, shared.traffic)
    assert f"{run.worst}" in lost and "node-hours are lost" in lost and "drive writes a day" in worn
    assert part == "720 GB are 50.0 % of the 1.44 TB that remove all contention."
    assert f"takes {run.max_stretch:.3f} times as long" in fared and f"the mean is {run.mean_stretch:.3f}." in fared
    assert recommendation == [
        "Whether another strategy does better than fair, --compare shows.",
        "What lies between, --sweep shows.",
    ]
    at_best = replace(run, bound_max_stretch=run.max_stretch)
    assert run_lines(at_best, shared.size, shared.traffic)[4] == "That is the best there is for this capacity."
    enough = replace(run, capacity=2 * shared.size)
    assert "`penstock size-buffer --schedule` writes" in run_lines(enough, shared.size, shared.traffic)[-1]
    calm = replace(run, max_stretch=1.0 + 1e-9)
    assert run_lines(calm, shared.size, shared.traffic)[1].startswith("Everybody ends as if nobody were in the way (")
    alone = divided(jobs(3), "isolated")
    lines = run_lines(run_of(alone, 0.5), alone.size, alone.traffic)
    assert "one application alone needs at most" in lines[0] and "--partition static or dynamic" in lines[-1]


def test_pure_numbers_have_no_unit() -> None:
    plain = document(ONE_EACH, app("a", ("read", 3), ("compute", 2), ("write", 12), bandwidth=4))
    shared = divided(plain)
    line = run_lines(run_of(shared, 0.5), shared.size, shared.traffic)[0]
    assert line == "4.5 are 50.0 % of the 9 that remove all contention, if input may be fetched before time 0."


def test_a_comparison_in_words() -> None:
    shared = divided(jobs(3))
    found = compare_buffers(shared.scenario, 0.4 * shared.size, split=shared)
    first, fair = found.runs[0], next(run for run in found.runs if run.strategy == "fair")
    table = text_of(comparison_table(found, shared.traffic))
    assert all(f"{run.max_stretch:.4f}" in table and f"{run.mean_stretch:.4f}" in table for run in found.runs)
    better = replace(fair, strategy="other", max_stretch=1.1, mean_stretch=1.09)
    slow = replace(fair, max_stretch=1.2, mean_stretch=1.05)
    lines = comparison_lines(replace(found, runs=(better, slow)), shared.traffic)
    assert lines[1] == (
        "Lowest maximum stretch: other (1.100), 50.0 % of the delay less than with fair (1.200); "
        "lowest mean: fair (1.050)."
    )
    lines = comparison_lines(replace(found, runs=(replace(first, max_stretch=1.0),)), shared.traffic)
    assert lines[1] == f"With {first.strategy} everybody ends as if nobody were in the way."


def test_a_sweep_in_words() -> None:
    shared = divided(jobs(3))
    found = swept(shared, "fair", "blocked-first")
    half = found.points[1]
    lines = sweep_lines(found, shared.traffic)
    assert f"somebody takes {half.best.max_stretch:.3f} times" in lines[1]
    assert f"with {half.best.strategy}, the best of these." in lines[1]
    table = text_of(sweep_table(found, shared.traffic))
    assert all(f"{run.max_stretch:.4f}" in table for point in found.points for run in point.runs)
    alone = swept(shared, "fair")
    assert "fair: stretch against capacity, static" in text_of(sweep_table(alone, shared.traffic))
    assert f"{alone.points[1].runs[0].mean_stretch:.4f}" in text_of(sweep_table(alone, shared.traffic))
    assert "the best of these" not in " ".join(sweep_lines(alone, shared.traffic))


def test_nearly_enough_is_from_there_on() -> None:
    found = swept(divided(jobs(3)), "fair")

    def with_stretches(*values: float) -> Sweep:
        points = (
            replace(point, runs=(replace(point.runs[0], max_stretch=value),))
            for point, value in zip(found.points, values, strict=True)
        )
        return replace(found, points=tuple(points))

    assert nearly_enough(with_stretches(1.0, 1.2, 1.005, 1.0)) == with_stretches(1.0, 1.2, 1.005, 1.0).points[2]
    assert nearly_enough(with_stretches(1.0, 1.0, 1.0, 1.2)) is None
    traffic = divided(jobs(3)).traffic
    assert (
        "(100.0 %) nobody takes more than 1.0 % longer." in sweep_lines(with_stretches(2.0, 1.2, 1.0, 1.0), traffic)[-1]
    )
    assert sweep_lines(with_stretches(2.0, 1.2, 1.1, 1.1), traffic)[-1].startswith("Even with the largest of these")


@pytest.mark.parametrize(
    ("partition", "common"), [("static", None), ("static", 0.4), ("isolated", None), ("dynamic", None)]
)
def test_the_picture_of_a_run(partition: str, common: float | None) -> None:
    shared = divided(jobs(12), partition, common)
    run = run_of(shared, 0.5, timeline=True)
    figure = run_figure(run, shared.traffic)
    axes: list[Any] = figure.axes
    upper, aside, lower, bars = axes
    legend = aside.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert "4 others" in labels and "full of output" in labels and len(labels) == 9 + 4
    divisor = 1e12 if run.capacity >= 1e12 else 1e9
    top = max(path.vertices[:, 1].max() for area in upper.collections for path in area.get_paths())
    assert 0.2 * run.capacity / divisor < top
    assert partition == "static" or top <= run.capacity / divisor * (1 + 1e-6)
    assert [text.get_text() for text in lower.get_yticklabels()] == list(run.names)
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([value - 1.0 for value in run.stretch])


def test_a_picture_of_many_has_the_slowest() -> None:
    shared = divided(jobs(40, 1), "isolated")
    figure = run_figure(run_of(shared, 0.2, timeline=True), shared.traffic)
    lower = figure.axes[2]
    assert len(lower.get_yticklabels()) == 32 and lower.get_title(loc="left") == "The 32 of 40 that were held up most"


def test_pictures_without_a_buffer_and_with_plenty() -> None:
    shared = divided(jobs(2))
    for factor in (0.0, 30.0):
        assert len(run_figure(run_of(shared, factor, timeline=True), shared.traffic).axes) == 4
    with pytest.raises(ValueError, match="timeline=True"):
        run_figure(run_of(shared, 0.5), shared.traffic)


def test_means_are_exact_between_events() -> None:
    time, height = np.array([0.0, 2.0, 2.0, 4.0]), np.array([0.0, 2.0, 2.0, 0.0])
    assert _means(time, height, np.array([0.0, 1.0, 3.0, 4.0, 6.0])).tolist() == [0.5, 1.5, 0.5, 0.0]
    full = np.array([False, True, True, True])
    assert _full_shares(time, full, np.array([0.0, 1.0, 3.0, 4.0])).tolist() == [0.0, 0.5, 1.0]


def test_full_of_input_is_not_full_of_output() -> None:
    time = np.array([0.0, 1.0, 2.0, 3.0])
    output = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 0.0], [0.0, 0.0]])
    given = np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0], [0.0, 0.0]])
    shared = divided(jobs(2))
    run = replace(run_of(shared, 0.5), capacity=5.0, shares=(3.0, 2.0), filling=Filling(time, output, given))
    writes, reads = _levels(run, [0, 1], time)
    assert writes.full.tolist() == [0.0, 1.0, 0.0] and reads.full.tolist() == [0.0, 0.0, 0.0]
    assert writes.mean.tolist() == reads.mean.tolist() == [0.5, 1.0, 0.5]
    shade = _mixed(writes, np.zeros(3), np.array([0.0, 0.0, 1.0]))
    assert shade[1].tolist() == pytest.approx([*to_rgb(WAITING), 1.0])
    assert shade[0].tolist() == pytest.approx([0.0, 0.0, 1.0, 0.5])


def test_room_in_the_common_part_is_room() -> None:
    time = np.array([0.0, 1.0, 2.0, 3.0])
    output = np.array([[3.0, 0.0], [3.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    run = run_of(divided(jobs(2), "static", 0.4), 0.5)
    run = replace(run, capacity=5.0, shares=(1.0, 2.0), filling=Filling(time, output, np.zeros_like(output)))
    # The common part has 2; the second fills it up, and the first has no room from then on either.
    first, second = _levels(replace(run, common=0.8), [0, 1], time)
    assert first.full.tolist() == [0.0, 0.0, 1.0] and second.full.tolist() == [0.0, 0.0, 1.0]
    assert first.mean.tolist() == pytest.approx([0.6, 0.6, 0.6])
    everything = replace(run, partition="dynamic", common=1.0, capacity=7.0, shares=(7.0, 7.0))
    assert _levels(everything, [0], time)[0].full.tolist() == [0.0, 0.0, 1.0]


def test_pictures_of_many_runs() -> None:
    shared = divided(jobs(3))
    found = compare_buffers(shared.scenario, 0.4 * shared.size, split=shared)
    [axes] = comparison_figure(found, shared.traffic.limits).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == [run.strategy for run in found.runs]
    sweep = swept(shared, "fair", "earliest-burst")
    figure = sweep_figure(sweep, shared.traffic.limits)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Largest stretch", "Mean stretch"]
    panels: list[Any] = figure.axes
    for axes, what in zip(panels, ("max_stretch", "mean_stretch"), strict=True):
        drawn = [line.get_ydata() for line in axes.lines[:2]]
        assert [list(values) for values in drawn] == [
            [getattr(point.runs[place], what) for point in sweep.points] for place in range(2)
        ]
        [region] = axes.collections
        heights = region.get_paths()[0].vertices[:, 1]
        assert heights.max() == max(getattr(point, f"bound_{what}") for point in sweep.points)
    assert [text.get_text() for text in figure.legends[0].get_texts()][-1] == "impossible under any strategy"
