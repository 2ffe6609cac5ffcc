"""Runs behind a burst buffer as tables for the terminal, and in words: who still waits, and what more would give."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.parts.breakable import Breakable
from penstock.report.parts.quantities import duration, fixed, percent, rate_scale, significant, time_scale
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines, titled_table
from penstock.report.sizing.table import bytes_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.studies.buffers import Buffered
    from penstock.studies.buffers.sweep import CapacityPoint, StrategyComparison, Sweep
    from penstock.studies.sizing.traffic import Traffic

_BEST = "bold green"
_WORST = "bold red"
_NOBODY = 1.0 + 1e-6  # up to this stretch, nobody waits: the rest is rounding
_LITTLE = 1.01
_DIGITS = 3
_SETTLED = 1e-6  # relative: closer to the bound than this is at the bound


def run_table(run: Buffered, traffic: Traffic, most: int | None = MOST_ROWS) -> Table:
    """One row per application, the largest stretch standing out; of very many, those with the largest."""
    own = run.partition != "dynamic"
    table = titled_table(f"{_volume(run.capacity, traffic)}, {_whose(run)}, {run.strategy}: {_stretches(run)}")
    table.add_column("application", overflow="fold", min_width=12)
    for heading in [*(["own part"] if own else []), "completion", "stretch", "C/C_min (P5)"]:
        table.add_column(heading, justify="right", no_wrap=True)
    parts, ends = bytes_scale(traffic.limits, max(run.shares)), time_scale(run.end)
    for place in slowest(run.stretch, most):
        stretch = run.stretch[place]
        worst = len(run.names) > 1 and stretch == run.max_stretch > _NOBODY
        table.add_row(
            Breakable(Text(run.names[place])),
            *([parts.show(run.shares[place])] if own else []),
            "cut off" if run.cut[place] else ends.show(run.completion[place]),
            Text("" if run.cut[place] else fixed(stretch), style=_WORST if worst else ""),
            "" if run.cut[place] else fixed(run.stretch_p5[place]),
        )
    return table


def slowest(stretch: Sequence[float], most: int | None) -> list[int]:
    """Who is shown: everybody, or so many that were stretched most, in the order of the scenario."""
    order = sorted(range(len(stretch)), key=lambda place: -stretch[place] if stretch[place] >= 0.0 else -math.inf)
    return sorted(order[:most])


def run_lines(run: Buffered, size: float, traffic: Traffic, most: int | None = MOST_ROWS) -> list[str]:
    """How much of the smallest buffer that is, how the applications fared, and what to do."""
    return [
        *_cut_line(run, most),
        *_lead_lines(run),
        _part_line(run, size, traffic),
        _fared_line(run),
        _lost_line(run),
        *_worn_line(run, traffic),
        *_worse_lines(run),
        *_recommendation(run, size, traffic),
    ]


def _lead_lines(run: Buffered) -> list[str]:
    """Where the parts come from, if with the lead asked for there are none."""
    if run.infeasible is None:
        return []
    late = run.infeasible
    if late.port is not None:
        scale = rate_scale(late.port)
        return [
            f"No buffer is large enough with so little bandwidth of its own (from {duration(late.instant)} on, with "
            f"{late.application!r}, {scale.show(late.port)} would have to go in and out), so the parts are those of "
            "one that has more."
        ]
    return [
        f"With this lead no buffer is large enough ({late.application!r} cannot have its input by "
        f"{duration(late.instant)}; the least possible stretch is {fixed(late.stretch, _DIGITS)}), so the parts are "
        "those of --lead forever."
    ]


def _lost_line(run: Buffered) -> str:
    share = "" if run.lost_share is None else f" ({percent(run.lost_share)} of {significant(run.node_hours_used)})"
    worst = "" if run.worst is None else f"; the lowest yield is that of {run.worst}"
    late = f"; {run.unfinished:,} did not finish" if run.unfinished else ""
    return f"{significant(run.node_hours_lost)} node-hours are lost{share}{worst}{late}."


def _worn_line(run: Buffered, traffic: Traffic) -> list[str]:
    """What the drives have to endure."""
    if run.drive_writes_per_day is None:
        return []
    return [
        f"{_volume(run.through_buffer, traffic)} go through the buffer, {significant(run.drive_writes_per_day)} drive "
        f"writes a day; at its fullest it holds {_volume(run.peak, traffic)}."
    ]


def _worse_lines(run: Buffered) -> list[str]:
    """Say so if no buffer at all would be better."""
    if run.without is None or not run.worse:
        return []
    words = {
        "max_stretch": f"the largest stretch would be {fixed(run.without.max_stretch, _DIGITS)}",
        "mean_stretch": f"the mean {fixed(run.without.mean_stretch, _DIGITS)}",
        "node_hours_lost": f"{significant(run.without.node_hours_lost)} node-hours would be lost",
    }
    found = ", ".join(words[name] for name in run.worse)
    return [f"This buffer is worse than none, under this strategy: without it {found}."]


def _cut_line(run: Buffered, most: int | None) -> list[str]:
    rest = 0 if most is None else len(run.names) - most
    if rest <= 0:
        return []
    return rest_lines(len(run.names), f" with a stretch of at most {fixed(sorted(run.stretch)[rest - 1])}")


def _part_line(run: Buffered, size: float, traffic: Traffic) -> str:
    if size <= 0.0:
        return "The file system keeps up with all applications without any buffer."
    whole = _volume(size, traffic)
    least = f"{whole} that {_meaning(run.partition, traffic)}"
    if run.capacity <= 0.0:
        return f"This is without a buffer, not with the {least}."
    return f"{_volume(run.capacity, traffic)} are {_part(run.capacity / size)} of the {least}."


def _meaning(partition: str, traffic: Traffic) -> str:
    """What S_opt is good for; runs start with an empty buffer, and sizing lets input be there before."""
    if partition == "isolated":
        return "one application alone needs at most"
    early = bool(traffic.reading.any()) and math.isinf(traffic.lead)
    return f"remove all contention{', if input may be fetched before time 0' if early else ''}"


def _fared_line(run: Buffered) -> str:
    if math.isnan(run.max_stretch):
        return "Nobody finished: all were cut off by their walltimes."
    if run.max_stretch <= _NOBODY:
        return f"Everybody ends as if nobody were in the way ({run.events:,} events, {duration(run.seconds)})."
    place = run.stretch.index(run.max_stretch)
    return (
        f"{run.names[place]} takes {fixed(run.max_stretch, _DIGITS)} times as long as it would without contention; "
        f"the mean is {fixed(run.mean_stretch, _DIGITS)}. {_bound_words(run)}"
    )


def _bound_words(run: Buffered | CapacityPoint) -> str:
    return (
        f"Under no strategy is the largest below {fixed(run.bound_max_stretch, _DIGITS)}, "
        f"nor the mean below {fixed(run.bound_mean_stretch, _DIGITS)}."
    )


def _recommendation(run: Buffered, size: float, traffic: Traffic) -> list[str]:
    if not run.max_stretch > _NOBODY:
        return []
    if run.max_stretch <= run.bound_max_stretch * (1.0 + _SETTLED):
        lines = ["That is the best there is for this capacity."]
    else:
        lines = [f"Whether another strategy does better than {run.strategy}, --compare shows."]
    if run.partition == "isolated":
        return [*lines, "A size that removes all contention is what --partition static or dynamic goes by."]
    if run.capacity < size:
        return [*lines, "What lies between, --sweep shows."]
    return [
        *lines,
        "The capacity is enough for a schedule in which nobody waits, which `penstock size-buffer --schedule` writes; "
        "it knows all bursts beforehand, and may fetch input before time 0.",
    ]


def comparison_table(comparison: StrategyComparison, traffic: Traffic) -> Table:
    """One row per strategy, the lowest maximum stretch first, the bound last; the best of each column stands out."""
    first = comparison.runs[0]
    table = titled_table(f"{_volume(first.capacity, traffic)}, {_whose(first)}: {len(comparison.runs)} strategies")
    table.add_column("strategy", no_wrap=True)
    for heading in ("max\nstretch", "above\nbound", "mean\nstretch", "above\nbound", "node-hours\nlost"):
        table.add_column(heading, justify="right", no_wrap=True)
    best = [min(getattr(run, name) for run in comparison.runs) for name in ("max_stretch", "mean_stretch")]
    for run in comparison.runs:
        cells: list[Text | str] = []
        for value, bound, least in zip(
            (run.max_stretch, run.mean_stretch), (run.bound_max_stretch, run.bound_mean_stretch), best, strict=True
        ):
            cells += [
                Text(fixed(value), style=_BEST if value <= least * (1.0 + _SETTLED) else ""),
                percent(max(0.0, value / bound - 1.0)),
            ]
        table.add_row(Text(run.strategy), *cells, significant(run.node_hours_lost))
    bounds = fixed(first.bound_max_stretch), "", fixed(first.bound_mean_stretch), "", ""
    table.add_row("no strategy is below", *bounds, style="dim")
    return table


def comparison_lines(comparison: StrategyComparison, traffic: Traffic) -> list[str]:
    """Which strategy to take, and what a larger buffer would change."""
    best = comparison.runs[0]
    lines = [_part_line(best, comparison.size, traffic)]
    if best.max_stretch <= _NOBODY:
        return [*lines, f"With {best.strategy} everybody ends as if nobody were in the way."]
    fair = next((run for run in comparison.runs if run.strategy == "fair"), best)
    line = f"Lowest maximum stretch: {best.strategy} ({fixed(best.max_stretch, _DIGITS)})"
    if fair.max_stretch > best.max_stretch * (1.0 + _SETTLED):
        saved = (fair.max_stretch - best.max_stretch) / (fair.max_stretch - 1.0)
        line += f", {percent(saved)} of the delay less than with fair ({fixed(fair.max_stretch, _DIGITS)})"
    calm = min(comparison.runs, key=lambda run: run.mean_stretch)
    if calm.mean_stretch < best.mean_stretch * (1.0 - _SETTLED):
        line += f"; lowest mean: {calm.strategy} ({fixed(calm.mean_stretch, _DIGITS)})"
    return [*lines, f"{line}."]


def sweep_table(sweep: Sweep, traffic: Traffic) -> Table:
    """One row per capacity: the bound, then the maximum stretch of each strategy; of a single one, the mean, too."""
    names = [run.strategy for run in sweep.points[0].runs]
    alone = len(names) == 1
    what = f"{names[0]}: stretch" if alone else "maximum stretch"
    table = titled_table(f"{what} against capacity, {_shared(sweep.partition, sweep.common)}")
    headings = ["max", "bound", "mean", "bound"] if alone else [*names, "bound"]
    for heading in ("capacity", "of S_opt", *headings):
        head = Breakable(Text(heading)) if heading in names else heading
        table.add_column(head, justify="right", no_wrap=alone or heading not in names)
    scale = bytes_scale(traffic.limits, sweep.size)
    for point in sweep.points:
        table.add_row(scale.show(point.capacity), _part(point.factor), *(_alone(point) if alone else _each(point)))
    return table


def _alone(point: CapacityPoint) -> list[str]:
    run = point.runs[0]
    values = run.max_stretch, point.bound_max_stretch, run.mean_stretch, point.bound_mean_stretch
    return [fixed(value) for value in values]


def _each(point: CapacityPoint) -> list[Text]:
    least = point.best.max_stretch * (1.0 + _SETTLED)
    differ = any(run.max_stretch > least for run in point.runs)
    cells = [Text(fixed(r.max_stretch), style=_BEST if differ and r.max_stretch <= least else "") for r in point.runs]
    return [*cells, Text(fixed(point.bound_max_stretch), style="dim")]


def sweep_lines(sweep: Sweep, traffic: Traffic) -> list[str]:
    """What half of the smallest buffer costs, and how little is nearly enough."""
    if not sweep.points:
        return ["The file system keeps up with all applications at every instant: no buffer is needed."]
    lines = [f"S_opt is the {_volume(sweep.size, traffic)} that {_meaning(sweep.partition, traffic)}."]
    several = len(sweep.points[0].runs) > 1
    half = next((point for point in sweep.points if point.factor == 0.5), None)
    if half:
        who = f" with {half.best.strategy}, the best of these" if several else ""
        lines.append(
            f"With half of it ({_volume(half.capacity, traffic)}) somebody takes "
            f"{fixed(half.best.max_stretch, _DIGITS)} times as long as without contention, and all take "
            f"{fixed(half.best.mean_stretch, _DIGITS)} times as long on average{who}. "
            f"{_bound_words(half)}"
        )
    enough = nearly_enough(sweep)
    if enough:
        who = f" with {enough.best.strategy}" if several else ""
        lines.append(
            f"From {_volume(enough.capacity, traffic)} on ({_part(enough.factor)}) nobody takes more than "
            f"{percent(_LITTLE - 1.0)} longer{who}."
        )
    else:
        lines.append(f"Even with the largest of these, somebody takes more than {percent(_LITTLE - 1.0)} longer.")
    return [*lines, *_worse_points(sweep)]


def _worse_points(sweep: Sweep) -> list[str]:
    """Sizes with which somebody is worse off than without any buffer."""
    none = {run.strategy: run.max_stretch for run in sweep.points[0].runs if sweep.points[0].capacity == 0.0}
    worse: dict[str, list[str]] = {}
    for point in sweep.points[1:]:
        for run in point.runs:
            if run.max_stretch > _NOBODY * none.get(run.strategy, math.inf):
                worse.setdefault(run.strategy, []).append(_part(point.factor))
    return [
        f"With {strategy} the largest stretch is worse than without any buffer at {', '.join(parts)}."
        for strategy, parts in worse.items()
    ]


def nearly_enough(sweep: Sweep) -> CapacityPoint | None:
    """The smallest capacity from which on the best strategy holds nobody up by more than a hundredth."""
    found = None
    for point in reversed(sweep.points):
        if point.best.max_stretch > _LITTLE:
            break
        found = point
    return found


def _stretches(run: Buffered) -> str:
    return f"max stretch {fixed(run.max_stretch, _DIGITS)}, mean {fixed(run.mean_stretch, _DIGITS)}"


def _whose(run: Buffered) -> str:
    return _shared(run.partition, run.common)


def _shared(partition: str, common: float) -> str:
    return f"{partition}, {percent(common)} common" if common > 0.0 and partition != "dynamic" else partition


def _part(factor: float) -> str:
    return percent(factor) if factor < 10.0 else f"{factor:,.3g} times"


def _volume(amount: float, traffic: Traffic) -> str:
    return bytes_scale(traffic.limits, amount).show(amount)
