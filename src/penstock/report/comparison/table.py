"""Results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.comparison.summary import (
    DISTANCE,
    LOST,
    MAKESPAN,
    MEASURES,
    MIN_YIELD,
    OF_REFERENCE,
    UTILIZATION,
    Measure,
    applying,
    bound_words,
    need_runs,
    node_hours,
    winners,
)
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.policy_words import meaning
from penstock.report.parts.quantities import (
    byte_scale,
    column,
    duration,
    fixed,
    hours_scale,
    is_pure,
    largest,
    percent,
    time_scale,
)

if TYPE_CHECKING:
    from penstock.metrics.result import Result

_BAR = 5
_BEST = "bold green"
_BROKEN = {"efficiency": "effi-\nciency", "utilization": "utili-\nzation", "node_hours_lost": "node-h\nlost"}
_NAMED = 2
_WORST = 14  # letters of a job's name that are shown
# The page and the JSON have these as well; here there is no room for them.
_LEFT_OUT = (UTILIZATION,)
# Where it gets narrow, columns go by rising number.
_SPARE = {"efficiency": 2, "max_stretch": 3, "makespan": 5}
_SPARE_BAR, _SPARE_WORST, _SPARE_DETAIL = 1, 4, 6


def comparison_table(
    results: Sequence[Result],
    scenario_name: str,
    goal: Measure | None = None,
    *,
    recommended: bool = False,
    details: bool = False,
) -> FittingTable:
    """One row per policy; the best value of each column stands out, and the bounds are said below."""
    need_runs(results)
    columns = [Column("policy", cells(run.sharing for run in results), right=False)]
    measures = [measure for measure in applying(results) if measure not in _LEFT_OUT]
    for measure in [*measures, *([goal] if goal and goal not in MEASURES else [])]:
        columns.append(_measured(results, measure))
        if measure is MIN_YIELD:
            names = cells(_clipped(run.worst or "") for run in results)
            columns.append(Column("worst\njob", names, _SPARE_WORST, right=False))
        if measure is DISTANCE:
            columns.append(Column("", [_bar(run.distance_to_bound) for run in results], _SPARE_BAR, right=False))
    if details:
        columns += _details(results)
    first = "recommended first, then best" if recommended else "best first"
    order = f", {first} by {goal.words}" if goal and len(results) > 1 else ""
    return FittingTable(f"{scenario_name}{order}", columns, bound_words(results))


def meanings_table(runs: Sequence[Result], same: Mapping[str, Sequence[str]]) -> Table:
    """What each policy does, in a line, and which others did exactly the same."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for run in runs:
        if words := f"{meaning(run)}{same_words(same.get(run.sharing, ()))}".strip():
            table.add_row(Text(run.sharing), Text(words, style="dim"))
    return table


def same_words(names: Sequence[str]) -> str:
    """A note on policies that came to the same result."""
    shown = [*names[:_NAMED], f"{len(names) - _NAMED} more"] if len(names) > _NAMED + 1 else list(names)
    return f" (same: {', '.join(shown)})" if shown else ""


def _measured(results: Sequence[Result], measure: Measure) -> Column:
    show, chosen = value_format(measure, results), winners(results, measure)
    texts = [Text(show(measure.of(run)), style=_BEST if i in chosen else "") for i, run in enumerate(results)]
    return Column(_heading(measure), texts, _SPARE.get(measure.name, 0))


def _details(results: Sequence[Result]) -> list[Column]:
    """How much work the simulation was."""
    times = cells(duration(run.seconds) for run in results)
    counts = cells(f"{run.events:,}" for run in results)
    return [Column("events", counts, _SPARE_DETAIL), Column("run\ntime", times, _SPARE_DETAIL)]


def run_table(result: Result, most: int | None = None) -> FittingTable:
    """One row per application, the lowest yield standing out; of more than `most`, the lowest yields."""
    shown = result.applications
    if most is not None and len(shown) > most:
        shown = tuple(sorted(shown, key=lambda one: one.yield_)[:most])
    lowest = result.min_yield * (1 + 1e-9)
    times = time_scale(largest(one.compute_done for one in result.applications))
    volumes = byte_scale(largest(one.transferred for one in result.applications), pure=is_pure(result))
    columns = [
        Column("application", cells(one.name for one in shown), right=False, folds=True),
        Column("yield", [Text(fixed(one.yield_), "bold red" if one.yield_ <= lowest else "") for one in shown]),
    ]
    if any(one.completion is not None for one in result.applications):
        ends = time_scale(largest(one.completion for one in result.applications))
        columns.append(Column("completion", cells(ends.show(one.completion) for one in shown), 2))
        columns.append(Column("stretch", cells(fixed(one.stretch) for one in shown)))
    columns.append(Column("computed", cells(times.show(one.compute_done) for one in shown), 1))
    columns.append(Column("transferred", cells(volumes.show(one.transferred) for one in shown), 3))
    return FittingTable(f"{result.sharing}: {_run_words(result)}", columns, bound_words([result]))


def value_format(measure: Measure, results: Sequence[Result]) -> Callable[[float | None], str]:
    """How the values of a measure are written: one unit for the whole column."""
    if measure in (DISTANCE, OF_REFERENCE):
        return percent
    if measure is MAKESPAN:
        return column(time_scale(largest(map(measure.of, results))), map(measure.of, results))
    if measure is LOST:
        return column(hours_scale(largest(map(measure.of, results))), map(measure.of, results))
    return fixed


def _clipped(name: str) -> str:
    return name if len(name) <= _WORST else f"{name[: _WORST - 1]}…"


def _heading(measure: Measure) -> str:
    return _BROKEN.get(measure.name, measure.words.replace(" ", "\n"))


def _bar(distance: float | None) -> Text:
    """A bar as long as the distance is large, in eighths of a cell: the shorter, the closer to the bound."""
    eighths = round(8 * _BAR * min(max(distance or 0.0, 0.0), 1.0))
    full, rest = divmod(eighths, 8)
    return Text("█" * full + " ▏▎▍▌▋▊▉"[rest].strip(), style="red")


def _run_words(result: Result) -> str:
    cut = sum(application.cut for application in result.applications)
    said = [f"min yield {fixed(result.min_yield)}", f"{node_hours(result)} lost"]
    said += [f"{cut} cut off by walltime"] if cut else []
    return ", ".join(said)
