"""Targets given out, as tables for the terminal, and what they say in a few sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from penstock.report.comparison.summary import Measure, best, winners
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import duration, fixed, percent
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines

if TYPE_CHECKING:
    from penstock.studies.targets.out_of_service import Move
    from penstock.studies.targets.result import Allotment, Striped

_NAMED = 3
_MOST_MOVES = 40  # applications
_BEST = "bold green"
_WORST = "bold red"
_SATURATED = 1.0 + 1e-9

SLOWDOWN = Measure("mean_io_slowdown", "mean I/O slowdown", False)
IDLE = Measure("machine_idletime", "idle", False)
IMBALANCE = Measure("imbalance", "imbalance", False)
LOAD = Measure("load", "load", False)
LOST = Measure("node_hours_lost", "node-hours lost", False)


def allotment_table(allotment: Allotment, most: int | None = MOST_ROWS) -> FittingTable:
    """One row per application, the largest slowdown standing out; targets by their places in the platform's list."""
    rows = _shown(allotment, most)
    slowdowns = [each.io_slowdown for each in allotment.applications if each.io_slowdown is not None]
    slowest = max(slowdowns) if len(slowdowns) > 1 else None
    columns = [
        Column("application", cells(each.name for each in rows), right=False, folds=True),
        Column("nodes", cells(f"{each.nodes:,}" for each in rows), spare=4),
        Column("targets", cells(f"{each.count:,}" for each in rows), spare=5),
        Column("which", cells(ranges(each.targets) for each in rows), right=False, folds=True),
        Column("stress", cells(fixed(each.stress, 3) for each in rows), spare=3),
        Column("slow-\ndown", [_slowdown(each.io_slowdown, slowest) for each in rows]),
        Column("ρ_io", cells(fixed(each.rho_io, 2) for each in rows), spare=1),
        Column("ρ_con", cells(fixed(each.rho_con, 2) for each in rows), spare=1),
    ]
    if _in_time(allotment):
        columns.append(Column("start", cells(duration(each.start) for each in rows), spare=2))
        columns.append(Column("stretch", cells(map(_stretch, rows))))
    return FittingTable(allotment_words(allotment), columns)


def _slowdown(value: float | None, slowest: float | None) -> Text:
    return Text(fixed(value, 2), style=_WORST if value is not None and value == slowest else "")


def _in_time(allotment: Allotment) -> bool:
    """Whether it is about whole lives, not about the time until the first completion."""
    return allotment.until == "all"


def _stretch(each: Striped) -> str:
    return "cut off" if each.cut else fixed(each.stretch, 2)


def allotments_table(allotments: Sequence[Allotment]) -> FittingTable:
    """One row per allocation and placement; the best value of each column stands out, and so do its equals."""
    lost = (("node-hours\nlost", LOST, _hours, 0),) if _in_time(allotments[0]) else ()
    shown = (
        ("load", LOAD, _plain, 2),
        ("mean I/O\nslowdown", SLOWDOWN, _plain, 0),
        *lost,
        ("machine\nidle", IDLE, percent, 0),
        ("imbal-\nance", IMBALANCE, _plain, 1),
    )
    columns = [
        Column("allocation", cells(each.allocation for each in allotments), right=False, folds=True),
        Column("placement", cells(each.placement for each in allotments), right=False, folds=True),
        *(Column(heading, _standing_out(allotments, of, show), spare) for heading, of, show, spare in shown),
    ]
    return FittingTable(comparison_words(allotments), columns)


def _standing_out(allotments: Sequence[Any], measure: Measure, show: Callable[[float | None], str]) -> list[Text]:
    chosen = winners(allotments, measure)
    return [
        Text(show(measure.of(each)), style=_BEST if place in chosen else "") for place, each in enumerate(allotments)
    ]


def _shown(allotment: Allotment, most: int | None) -> Sequence[Striped]:
    """All applications; of very many those whose I/O is slowed down most."""
    if most is None or len(allotment.applications) <= most:
        return allotment.applications
    return sorted(allotment.applications, key=lambda each: -(each.io_slowdown or 0.0))[:most]


def allotment_lines(allotment: Allotment, most: int | None = MOST_ROWS) -> list[str]:
    """How loaded the targets are, how the applications fared, and where the trouble is."""
    return [
        *rest_lines(len(allotment.applications), " that are slowed down less", shown=most),
        _load_line(allotment),
        *_slowdown_lines(allotment),
        *_lost_lines(allotment),
        _idle_line(allotment),
        *_target_lines(allotment),
    ]


def _lost_lines(allotment: Allotment) -> list[str]:
    """What jobs that come and go have lost, who most, and who did not get to its end."""
    if not _in_time(allotment) or allotment.lost_share is None:
        return []
    yields = {each.name: each.yield_ for each in allotment.applications}
    lost = f"{allotment.node_hours_lost:,.1f} of {allotment.node_hours_used:,.1f} node-hours"
    line = (
        f"Lost to I/O that took longer than alone: {lost} ({percent(allotment.lost_share)}); {allotment.worst} fared "
        f"worst, with a yield of {fixed(yields[allotment.worst or ''], 3)}."
    )
    return [line, *_unfinished_lines(allotment)]


def _unfinished_lines(allotment: Allotment) -> list[str]:
    cut = [each.name for each in allotment.applications if each.cut]
    late = allotment.unfinished - len(cut)
    lines = [f"Cut off by their walltime, all their time lost: {listed(cut)}."] if cut else []
    return [*lines, f"Not finished at the end of the window: {_many(late, 'application')}."] if late else lines


def _idle_line(allotment: Allotment) -> str:
    if allotment.machine_idletime < 0.0:
        return "The applications compute on more nodes than the machine has, so idle time means nothing here."
    when = f"in {duration(allotment.interval)}" if _in_time(allotment) else "until the first application ended"
    length = "" if _in_time(allotment) else f" ({duration(allotment.interval)})"
    return f"{percent(allotment.machine_idletime)} of the machine's node time {when}{length} was not spent computing."


def allotments_lines(allotments: Sequence[Allotment]) -> list[str]:
    """Which pair was best at what, and what the choice costs."""
    rows: Sequence[Any] = allotments
    lost = (("Fewest node-hours lost", LOST, _hours),) if _in_time(allotments[0]) else ()
    lines = [
        line
        for words, measure, show in (
            ("Lowest mean I/O slowdown", SLOWDOWN, _plain),
            *lost,
            ("Least machine idle time", IDLE, percent),
            ("Most even targets", IMBALANCE, _plain),
        )
        if (line := _best_line(words, allotments, measure, show))
    ]
    swift, busy = best(rows, SLOWDOWN), best(rows, IDLE)
    if swift and not set(swift) & set(busy):
        price = allotments[swift[0]].machine_idletime - allotments[busy[0]].machine_idletime
        lines.append(f"The lowest slowdown costs {percent(price)} of the machine in idle time.")
    return lines


def improvement_lines(start: Allotment, found: Allotment) -> list[str]:
    """What a search changed; nothing if there was none."""
    if found is start:
        return []
    before, after = (_outcome(each) for each in (start, found))
    if before == after:
        return [f"The search found nothing better than what it started from ({before})."]
    return [f"The search started from {before}, and came to {after}."]


def move_lines(moves: Sequence[Move]) -> list[str]:
    """Who has to move what from where to where, and who has fewer targets than before."""
    if not moves:
        return ["Nobody has to move."]
    by_application: dict[str, list[Move]] = {}
    for move in moves:
        by_application.setdefault(move.application, []).append(move)
    lines = [f"  {name}: {_steps(own)}" for name, own in by_application.items()]
    more = len(lines) - _MOST_MOVES
    less = sum(move.destination is None for move in moves)
    given_up = f", and {_many(less, 'target')} {'is' if less == 1 else 'are'} given up" if less else ""
    return [
        f"{_many(len(moves) - less, 'move')} to other targets{given_up}:",
        *lines[:_MOST_MOVES],
        *([f"  and {_many(more, 'more application')}; --json lists all"] if more > 0 else []),
    ]


def _steps(moves: Sequence[Move]) -> str:
    steps = [f"{move.source} → {move.destination}" for move in moves if move.destination is not None]
    left = [move.source for move in moves if move.destination is None]
    return ", ".join([*steps, *([f"gives up {', '.join(left)}"] if left else [])])


def _outcome(allotment: Allotment) -> str:
    slowdown = fixed(allotment.mean_io_slowdown, 3)
    return f"a mean slowdown of {slowdown} and {percent(allotment.machine_idletime)} idle"


def allotment_words(allotment: Allotment) -> str:
    """What was done, in a line."""
    applications = _many(len(allotment.applications), "application")
    targets = _many(sum(target.in_service for target in allotment.targets), "target")
    how = _policies(allotment.allocation, allotment.placement)
    return f"{how}, {allotment.sharing}{_told(allotment)}: {applications} on {targets}"


def comparison_words(allotments: Sequence[Allotment]) -> str:
    """What was compared, in a line."""
    first = allotments[0]
    targets = _many(sum(target.in_service for target in first.targets), "target")
    return f"{first.sharing}{_told(first)}: {_many(len(first.applications), 'application')} on {targets}"


def ranges(places: Iterable[int]) -> str:
    """Rising numbers, runs of them made short.

    >>> ranges([0, 1, 2, 3, 7, 8])
    '0-3,7,8'
    """
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs)


def moving(allotment: Allotment) -> list[Striped]:
    """The applications that moved something, so that they have a slowdown."""
    return [each for each in allotment.applications if each.io_slowdown is not None]


def _load_line(allotment: Allotment) -> str:
    meaning = (
        "more than the targets can carry" if allotment.load > _SATURATED else "how busy they are if none has to wait"
    )
    least = f"{allotment.least_load:.3f} with the number of targets that loads them least"
    same = allotment.load <= allotment.least_load + 5e-4
    most = "Highest load" if _in_time(allotment) else "Load"
    return f"{most} of the targets {allotment.load:.3f} ({meaning}), {'the least possible' if same else least}."


def _slowdown_lines(allotment: Allotment) -> list[str]:
    moved = moving(allotment)
    still = len(allotment.applications) - len(moved)
    when = "moved nothing" if _in_time(allotment) else "moved nothing before the first one ended"
    silent = f"{_many(still, 'application')} {when}, and {_has(still)} no slowdown."
    if not moved or allotment.mean_io_slowdown is None:
        return [silent]
    alone = sum(each.rho_io for each in moved) / len(moved)
    line = (
        f"I/O takes {allotment.mean_io_slowdown:.2f} times as long, on average, as it would alone on the best number "
        f"of targets: {alone:.2f} times for the number chosen, the rest for others on the same targets."
    )
    return [line, silent] if still else [line]


def _target_lines(allotment: Allotment) -> list[str]:
    serving = [target for target in allotment.targets if target.in_service]
    most, least = (choose(serving, key=lambda target: target.stress) for choose in (max, min))
    when = ", each when it is most" if _in_time(allotment) else ""
    if allotment.imbalance < 5e-4:
        lines = [f"All targets are loaded alike, with a stress of {most.stress:.2f}{when}."]
    else:
        spread = f"from {least.stress:.2f} (target {least.name}) to {most.stress:.2f} (target {most.name})"
        lines = [f"Stress {spread}{when}."]
    over = [target.name for target in serving if target.stress > _SATURATED]
    if over:
        often = " at times" if _in_time(allotment) else ""
        lines.append(f"Overloaded{often}, with more I/O than they have time for: {listed(over)}.")
    out = [target.name for target in allotment.targets if not target.in_service]
    if out:
        lines.append(f"Out of service: {listed(out)}.")
    return lines


def _best_line(words: str, allotments: Sequence[Allotment], measure: Measure, show: Any) -> str:
    rows: Sequence[Any] = allotments
    first, last = best(rows, measure), best(rows, measure._replace(highest=True))
    if not first:
        return ""
    value = show(measure.of(rows[first[0]]))
    if len(first) == len(allotments):
        return f"{words}: all the same, {value}."
    worst = show(measure.of(rows[last[0]]))
    return f"{words}: {_pairs(allotments, first)} ({value}); the highest: {_pairs(allotments, last)} ({worst})."


def _pairs(allotments: Sequence[Allotment], chosen: Sequence[int]) -> str:
    """The pairs with these places, those of one allocation made one where the placement makes no difference."""
    placements = len({each.placement for each in allotments})
    by_allocation: dict[str, list[str]] = {}
    for i in chosen:
        by_allocation.setdefault(allotments[i].allocation, []).append(allotments[i].placement)
    names = [
        _policies(allocation, "any placement" if len(own) == placements > 1 else listed(own, " or "))
        for allocation, own in by_allocation.items()
    ]
    return listed(names)


def listed(names: Sequence[str], conjunction: str = " and ") -> str:
    """A few names, and how many more."""
    shown = [*names[:_NAMED], *([f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else [])]
    return conjunction.join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _policies(allocation: str, placement: str) -> str:
    return "by plan" if allocation == "plan" else f"{allocation} with {placement}"


def _told(allotment: Allotment) -> str:
    """What the policies did not know."""
    known = "" if allotment.knowledge == "exact" else f", knowing the {allotment.knowledge}"
    return known + (f", profiles ± {percent(allotment.error)}" if allotment.error else "")


def _plain(value: float | None) -> str:
    return fixed(value, 3)


def _hours(value: float | None) -> str:
    return "–" if value is None else f"{value:,.1f}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"
