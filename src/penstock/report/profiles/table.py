"""Profiles as tables for the terminal: who is how fast on how many targets, and what their classes have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from penstock.report.parts.breakable import Breakable
from penstock.report.parts.quantities import NOTHING, Scale, percent, rate_scale, significant
from penstock.studies.profiles import class_of, fastest

if TYPE_CHECKING:
    from penstock.studies.profiles import ClassProfile, Profiles
    from penstock.studies.profiles.profiles import Profile

_MOST_ROWS = 20
_MOST_COUNTS = 8
_BEST = "bold green"
_FITTED, _MOVED = "~", "*"


def profiles_table(profiles: Profiles) -> Table:
    """One row per application, the fastest count standing out; a long list is cut."""
    scale = profile_scale(profiles)
    counts = shown_counts(profiles.counts)
    table = _table(
        f"{_applications(len(profiles))}, {origin_words(profiles)}, bandwidth in {_unit(scale)} on n targets"
    )
    table.add_column("application", overflow="fold", min_width=12)
    table.add_column("class", no_wrap=True)
    _count_columns(table, counts)
    for name in list(profiles)[:_MOST_ROWS]:
        marks = dict.fromkeys(profiles.fitted.get(name, ()), _FITTED) | dict.fromkeys(
            profiles.moved.get(name, ()), _MOVED
        )
        profile = profiles[name]
        table.add_row(Breakable(Text(name)), class_of(profile), *_cells(profile, counts, scale, marks))
    return table


def classes_table(classes: Mapping[str, ClassProfile], profiles: Profiles) -> Table:
    """One row per class with its common function."""
    scale = profile_scale(profiles)
    counts = shown_counts(profiles.counts)
    table = _table("Classes, and what an application of each is taken to have when no more is known")
    table.add_column("class", no_wrap=True)
    table.add_column("applications", justify="right", no_wrap=True)
    _count_columns(table, counts)
    for each in classes.values():
        share = f"{len(each.members):,} ({percent(len(each.members) / len(profiles))})"
        table.add_row(each.name, share, *_cells(each.bandwidth, counts, scale, {}))
    return table


def profile_lines(profiles: Profiles) -> list[str]:
    """What the tables leave out, what the marks mean, and what was left out of the files."""
    lines = []
    if len(profiles) > _MOST_ROWS:
        lines.append(f"… and {len(profiles) - _MOST_ROWS:,} more applications (-o FILE or --json)")
    hidden = len(profiles.counts) - len(shown_counts(profiles.counts))
    if hidden:
        lines.append(f"… and {hidden:,} more numbers of targets (-o FILE or --json)")
    how = f"the {profiles.shape} fit" if profiles.shape else "the measured counts beside it"
    if profiles.fitted:
        lines.append(f"{_FITTED} not measured: from {how}, log b being linear in log n.")
    if profiles.moved:
        lines.append(f"{_MOVED} measured, and moved by {how}.")
    return [*lines, *(f"Note: {note}." for note in profiles.notes)]


def origin_words(profiles: Profiles) -> str:
    """How many runs stand behind a value, what was made of them, and what was fitted."""
    runs = [number for counts in profiles.repetitions.values() for number in counts.values()]
    fewest, most = min(runs, default=0), max(runs, default=0)
    runs_each = f"{profiles.take} of {most if fewest == most else f'{fewest} to {most}'} runs"
    fit = f", {profiles.shape} fit" if profiles.shape else ""
    return (runs_each if most > 1 else "one run each") + fit


def profile_scale(profiles: Mapping[str, Profile]) -> Scale:
    """The unit that fits most of the bandwidths."""
    return rate_scale(median(rate for profile in profiles.values() for rate in profile.values()))


def shown_counts(counts: Sequence[int]) -> tuple[int, ...]:
    """At most a few counts, evenly chosen, the first and the last among them."""
    if len(counts) <= _MOST_COUNTS:
        return tuple(counts)
    last = _MOST_COUNTS - 1
    return tuple(counts[round(i * (len(counts) - 1) / last)] for i in range(_MOST_COUNTS))


def _cells(profile: Profile, counts: Sequence[int], scale: Scale, marks: Mapping[int, str]) -> list[Text]:
    best = fastest(profile)
    cells = [Text(str(best))]
    for n in counts:
        value = f"{significant(profile[n] / scale.divisor)}{marks.get(n, '')}" if n in profile else NOTHING
        cells.append(Text(value, style=_BEST if n == best else ""))
    return cells


def _count_columns(table: Table, counts: Sequence[int]) -> None:
    table.add_column("n_perf", justify="right", no_wrap=True)
    for n in counts:
        table.add_column(f"{'n = ' if n == counts[0] else ''}{n}", justify="right", no_wrap=True)


def _unit(scale: Scale) -> str:
    return scale.unit or "the files' own unit"


def _applications(number: int) -> str:
    return f"{number:,} application{'s' if number != 1 else ''}"


def _table(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 2, 0, 0),
        min_width=len(title),
    )
