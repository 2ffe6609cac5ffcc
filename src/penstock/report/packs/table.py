"""Packings as tables for the terminal, and what they say in a sentence or two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.parts.breakable import Breakable
from penstock.report.parts.quantities import duration, fixed, percent, time_scale
from penstock.report.parts.titled_table import MOST_ROWS, rest_lines, titled_table

if TYPE_CHECKING:
    from penstock.studies.packs import Packing

_SHOWN_NAMES = 6


def packing_table(packing: Packing) -> Table:
    """One row per pack; of a packing without packs, one row per job."""
    return _packs(packing) if packing.packs else _jobs(packing)


def packings_table(packings: Mapping[str, Packing]) -> Table:
    """One row per mapping."""
    rows = list(packings.values())
    table = titled_table(f"{rows[0].sharing}, on {_machine(rows[0])}")
    table.add_column("mapping")
    waiting = any(map(_comes_and_goes, rows))
    waits = ("mean\nwait", "max\nwait") if waiting else ()
    for heading in ("packs", "makespan", *waits, "max\nstretch", "mean\nstretch", "exec", "delay", "idle"):
        table.add_column(heading, justify="right", no_wrap=True)
    times = time_scale(max(packing.makespan for packing in rows))
    for name, packing in packings.items():
        table.add_row(
            name,
            str(len(packing.packs)) if packing.packs else "–",
            times.show(packing.makespan),
            *(map(times.show, (packing.mean_wait, packing.max_wait)) if waiting else ()),
            fixed(packing.max_stretch, 2),
            fixed(packing.mean_stretch, 2),
            *map(percent, (packing.exec, packing.delay, packing.idle)),
        )
    return table


def packing_lines(packing: Packing) -> list[str]:
    """The totals, and what they mean."""
    length = packing.makespan - packing.begin
    above = length / (packing.bound - packing.begin) - 1.0
    end = f"All {len(packing.jobs)} jobs end after {duration(length)}, "
    end += f"{percent(above)} later than any schedule must" if above >= 5e-4 else "as early as any schedule could"
    stretch = f"A job takes {fixed(packing.mean_stretch, 2)} times its time alone on average, "
    stretch += f"{fixed(packing.max_stretch, 2)} times at worst"
    if packing.mean_pack_max_stretch is not None:
        stretch += f"; the worst of each pack is {fixed(packing.mean_pack_max_stretch, 2)} on average"
    more = [] if packing.packs else rest_lines(len(packing.jobs), " with a smaller stretch")
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


def _packs(packing: Packing) -> Table:
    table = titled_table(packing_words(packing))
    for heading in ("I/O\nnode", "start", "end", "proces-\nsors", "I/O\nload", "max\nstretch"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("jobs", overflow="fold")
    times = time_scale(packing.makespan)
    for pack in sorted(packing.packs, key=lambda pack: (pack.io_node, pack.start)):
        names = ", ".join(pack.jobs[:_SHOWN_NAMES])
        more = len(pack.jobs) - _SHOWN_NAMES
        table.add_row(
            str(pack.io_node),
            times.show(pack.start),
            times.show(pack.end),
            f"{pack.processors:,}",
            fixed(pack.load, 2),
            fixed(pack.max_stretch, 2),
            Breakable(Text(f"{names} and {more} more" if more > 0 else names)),
        )
    return table


def _jobs(packing: Packing) -> Table:
    table = titled_table(packing_words(packing))
    table.add_column("job", overflow="fold", min_width=12)
    waiting = _comes_and_goes(packing)
    times_of = ("wait", "start", "end") if waiting else ("start", "end")
    for heading in ("I/O\nnode", *times_of, "proces-\nsors", "I/O\nshare", "stretch"):
        table.add_column(heading, justify="right", no_wrap=True)
    times = time_scale(packing.makespan)
    worst = sorted(packing.jobs, key=lambda job: -job.stretch)[:MOST_ROWS]
    for job in sorted(worst, key=lambda job: (job.io_node, job.start)):
        table.add_row(
            Breakable(Text(job.name)),
            str(job.io_node),
            *((times.show(job.wait),) if waiting else ()),
            times.show(job.start),
            times.show(job.end),
            f"{job.nodes:,}",
            fixed(job.io_share, 2),
            fixed(job.stretch, 2),
        )
    return table
