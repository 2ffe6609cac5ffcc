"""Packings as tables for the terminal, and what they say in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import NOTHING, duration, fixed, percent, time_scale
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines

if TYPE_CHECKING:
    from penstock.studies.packs import Packing

_SHOWN_NAMES = 6


def packing_table(packing: Packing, most: int | None = MOST_ROWS) -> FittingTable:
    """One row per pack; of a packing without packs, one row per job."""
    return _packs(packing) if packing.packs else _jobs(packing, most)


def packings_table(packings: Mapping[str, Packing]) -> FittingTable:
    """One row per mapping."""
    rows = list(packings.values())
    times = time_scale(max(packing.makespan for packing in rows))
    columns = [
        Column("mapping", cells(packings), right=False),
        Column("packs", cells(str(len(each.packs)) if each.packs else NOTHING for each in rows), spare=4),
        Column("makespan", cells(times.show(each.makespan) for each in rows)),
    ]
    if any(map(_comes_and_goes, rows)):
        columns.append(Column("mean\nwait", cells(times.show(each.mean_wait) for each in rows)))
        columns.append(Column("max\nwait", cells(times.show(each.max_wait) for each in rows), spare=3))
    columns += [
        Column("max\nstretch", cells(fixed(each.max_stretch, 2) for each in rows)),
        Column("mean\nstretch", cells(fixed(each.mean_stretch, 2) for each in rows), spare=5),
        Column("exec", cells(percent(each.exec) for each in rows), spare=2),
        Column("delay", cells(percent(each.delay) for each in rows), spare=1),
        Column("idle", cells(percent(each.idle) for each in rows), spare=6),
    ]
    return FittingTable(f"{rows[0].sharing}, on {_machine(rows[0])}", columns)


def packing_lines(packing: Packing, most: int | None = MOST_ROWS) -> list[str]:
    """The totals, and what they mean."""
    length = packing.makespan - packing.begin
    above = length / (packing.bound - packing.begin) - 1.0
    end = f"All {len(packing.jobs)} jobs end after {duration(length)}, "
    end += f"{percent(above)} later than any schedule must" if above >= 5e-4 else "as early as any schedule could"
    stretch = f"A job takes {fixed(packing.mean_stretch, 2)} times its time alone on average, "
    stretch += f"{fixed(packing.max_stretch, 2)} times at worst"
    if packing.mean_pack_max_stretch is not None:
        stretch += f"; the worst of each pack is {fixed(packing.mean_pack_max_stretch, 2)} on average"
    more = [] if packing.packs else rest_lines(len(packing.jobs), " with a smaller stretch", shown=most)
    return [
        *more,
        f"{end}. {stretch}.",
        f"Processor time: {percent(packing.exec)} at work, {percent(packing.delay)} waiting for I/O, "
        f"{percent(packing.idle)} without a job.",
        *_wait_lines(packing),
    ]


def packings_lines(packings: Mapping[str, Packing]) -> list[str]:
    """Which mapping was best at what."""
    soonest = min(packings, key=lambda name: packings[name].makespan)
    calmest = min(packings, key=lambda name: packings[name].max_stretch)
    if soonest == calmest:
        return [f"{soonest} ends first and disturbs its jobs least."]
    price = packings[calmest].makespan / packings[soonest].makespan - 1.0
    return [f"{soonest} ends first; {calmest} disturbs its jobs least and ends {percent(price)} later."]


def _wait_lines(packing: Packing) -> list[str]:
    """How long jobs waited in the queue, where they come and go: if all are there at first, it is when they start."""
    if not _comes_and_goes(packing):
        return []
    longest = max(packing.jobs, key=lambda job: job.wait)
    mean, most = duration(packing.mean_wait), duration(packing.max_wait)
    return [f"A job waits {mean} in the queue on average, {most} at most ({longest.name})."]


def _comes_and_goes(packing: Packing) -> bool:
    return len({job.release for job in packing.jobs}) > 1


def packing_words(packing: Packing) -> str:
    """What was done, in a line."""
    return f"{_mapping_words(packing)}, {packing.sharing}, on {_machine(packing)}"


def _mapping_words(packing: Packing) -> str:
    kind = _KINDS.get(packing.mapping.partition("(")[0])
    if kind is None:
        return packing.mapping
    how = packing.sensitivity
    return f"{kind}, S = {how:g}" if isinstance(how, float) else f"{kind}, {_WORDS[str(how)]}"


_KINDS = {"make-pack": "packs", "first-fit": "packs", "backfill": "backfilling"}
_WORDS = {"inf": "first-fit", "alpha": "S = alpha"}


def _machine(packing: Packing) -> str:
    nodes = f"{packing.io_nodes} I/O node{'s' if packing.io_nodes > 1 else ''} of {packing.processors:,} processors"
    return f"{nodes} (α = {packing.alpha:.3g})"


def _packs(packing: Packing) -> FittingTable:
    times, rows = time_scale(packing.makespan), sorted(packing.packs, key=lambda pack: (pack.io_node, pack.start))
    columns = (
        Column("I/O\nnode", cells(str(each.io_node) for each in rows)),
        Column("start", cells(times.show(each.start) for each in rows)),
        Column("end", cells(times.show(each.end) for each in rows)),
        Column("proces-\nsors", cells(f"{each.processors:,}" for each in rows), spare=1),
        Column("I/O\nload", cells(fixed(each.load, 2) for each in rows), spare=2),
        Column("max\nstretch", cells(fixed(each.max_stretch, 2) for each in rows)),
        Column("jobs", cells(_some(each.jobs) for each in rows), right=False, folds=True),
    )
    return FittingTable(packing_words(packing), columns)


def _some(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _jobs(packing: Packing, most: int | None) -> FittingTable:
    times = time_scale(packing.makespan)
    worst = sorted(packing.jobs, key=lambda job: -job.stretch)[:most]
    rows = sorted(worst, key=lambda job: (job.io_node, job.start))
    wait = Column("wait", cells(times.show(each.wait) for each in rows))
    columns = [
        Column("job", cells(each.name for each in rows), right=False, folds=True),
        Column("I/O\nnode", cells(str(each.io_node) for each in rows)),
        *([wait] if _comes_and_goes(packing) else []),
        Column("start", cells(times.show(each.start) for each in rows)),
        Column("end", cells(times.show(each.end) for each in rows), spare=3),
        Column("proces-\nsors", cells(f"{each.nodes:,}" for each in rows), spare=1),
        Column("I/O\nshare", cells(fixed(each.io_share, 2) for each in rows), spare=2),
        Column("stretch", cells(fixed(each.stretch, 2) for each in rows)),
    ]
    return FittingTable(packing_words(packing), columns)
