"""A reference as a small table, and what it means in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.parts.quantities import duration, fixed, percent

if TYPE_CHECKING:
    from penstock.studies.reference import Reference
    from penstock.studies.reference.result import GridBound


def reference_table(best: Reference) -> Table:
    """The best schedule, the search alone, and every bound that there is."""
    rows = {
        "best schedule": f"{fixed(best.min_yield)}, {best.found_by}",
        "clairvoyant": _searched(best),
        "interval bound": fixed(best.bound_interval),
        "chain bound": _on_grid(best.chain),
        "exact": _on_grid(best.exact),
        "gap": percent(best.gap),
        "search": duration(best.seconds),
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(value))
    return table


def _searched(best: Reference) -> str:
    if best.clairvoyant is None:
        return "not needed"
    return f"{fixed(best.clairvoyant)}, {best.trials:,} trials in each step, seed {best.seed}"


def _on_grid(found: GridBound | None) -> str:
    if found is None:
        return ""
    whole = "" if found.aligned else ", phases rounded"
    return f"{fixed(found.bound)}, {found.slots:,} slots of {duration(found.slot)}{whole}"


def reference_lines(best: Reference) -> list[str]:
    """What was found, and which methods could not be used."""
    if best.gap < 5e-5:
        found = f"No schedule has a higher min yield than {fixed(best.min_yield)}, which {best.found_by} has."
    else:
        found = (
            f"The highest min yield that is possible lies between {fixed(best.min_yield)}, which a schedule has "
            f"({best.found_by}), and {fixed(best.bound)}, which none exceeds ({best.bound_by})."
        )
    return [found, *best.left_out]
