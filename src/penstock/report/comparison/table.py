"""Results as tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from penstock.report.comparison.summary import (
    DISTANCE,
    LOST,
    MAKESPAN,
    MIN_YIELD,
    UTILIZATION,
    Measure,
    applying,
    bound_words,
    need_runs,
    node_hours,
    winners,
)
from penstock.report.parts.quantities import (
    byte_scale,
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

# The narrowest terminal must do, so cells stand one space apart; a wider one spreads the columns up to these widths.
_WIDE = 100
_NARROW = 64
_BAR = 5
_BEST = "bold green"
_BROKEN = {"efficiency": "effi-\nciency", "utilization": "utili-\nzation", "node_hours_lost": "node-h\nlost"}
_WORST = 9  # characters of a job's name that are shown
# The page and the JSON have these as well; here there is no room for them.
_LEFT_OUT = (UTILIZATION,)


def comparison_table(results: Sequence[Result], scenario_name: str) -> Table:
    """One row per policy; the best value of each column stands out, and the bounds are said below."""
    need_runs(results)
    measures = [measure for measure in applying(results) if measure not in _LEFT_OUT]
    table = _plain_table(scenario_name, bound_words(results), _WIDE)
    table.add_column("policy", overflow="fold")
    for measure in measures:
        table.add_column(_heading(measure), justify="right", no_wrap=True)
        if measure is MIN_YIELD:
            table.add_column("worst\njob", no_wrap=True)
        if measure is DISTANCE:
            table.add_column("", width=_BAR + 1, no_wrap=True)
    table.add_column("run\ntime", justify="right", no_wrap=True)
    shows = [value_format(measure, results) for measure in measures]
    highlighted = [winners(results, measure) for measure in measures]
    for i, result in enumerate(results):
        cells: list[Any] = [Text(result.sharing)]
        for measure, show, chosen in zip(measures, shows, highlighted, strict=True):
            value = measure.of(result)
            cells.append(Text(show(value), style=_BEST if i in chosen else ""))
            if measure is MIN_YIELD:
                cells.append(Text(f" {_clipped(result.worst or '')}"))
            if measure is DISTANCE:
                cells.append(_bar(value))
        table.add_row(*cells, Text(duration(result.seconds)))
    return table


def run_table(result: Result) -> Table:
    """One row per application, the lowest yield standing out."""
    table = _plain_table(f"{result.sharing}: {_run_words(result)}", bound_words([result]), _NARROW)
    finished = any(application.completion is not None for application in result.applications)
    table.add_column("application", overflow="fold")
    for name in ["yield", *(["completion", "stretch"] if finished else []), "computed", "transferred"]:
        table.add_column(name, justify="right", no_wrap=True)
    ends = time_scale(largest(a.completion for a in result.applications))
    times = time_scale(largest(a.compute_done for a in result.applications))
    volumes = byte_scale(largest(a.transferred for a in result.applications), pure=is_pure(result))
    for application in result.applications:
        lowest = application.yield_ <= result.min_yield * (1 + 1e-9)
        ending = [ends.show(application.completion), fixed(application.stretch)] if finished else []
        table.add_row(
            Text(application.name),
            Text(fixed(application.yield_), style="bold red" if lowest else ""),
            *map(Text, ending),
            Text(times.show(application.compute_done)),
            Text(volumes.show(application.transferred)),
        )
    return table


def value_format(measure: Measure, results: Sequence[Result]) -> Callable[[float | None], str]:
    """How the values of a measure are written: one unit for the whole column."""
    if measure is DISTANCE:
        return percent
    if measure is MAKESPAN:
        return time_scale(largest(map(measure.of, results))).show
    if measure is LOST:
        return hours_scale(largest(map(measure.of, results))).show
    return fixed


def _plain_table(title: str, caption: str, width: int) -> Table:
    return Table(
        title=Text(title, style="bold"),
        caption=Text(caption, style="dim"),
        title_justify="left",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 0),
        min_width=width,
    )


def _clipped(name: str) -> str:
    return name if len(name) <= _WORST else f"{name[: _WORST - 1]}…"


def _heading(measure: Measure) -> str:
    return _BROKEN.get(measure.name, measure.words.replace(" ", "\n"))


def _bar(distance: float | None) -> Text:
    """A bar as long as the distance is large, in eighths of a cell: the shorter, the closer to the bound."""
    eighths = round(8 * _BAR * min(max(distance or 0.0, 0.0), 1.0))
    full, rest = divmod(eighths, 8)
    return Text(" " + "█" * full + " ▏▎▍▌▋▊▉"[rest].strip(), style="red")


def _run_words(result: Result) -> str:
    cut = sum(application.cut for application in result.applications)
    said = [f"min yield {fixed(result.min_yield)}", f"{node_hours(result)} lost"]
    said += [f"{cut} cut off by walltime"] if cut else []
    return ", ".join([*said, f"{result.events:,} events"])
