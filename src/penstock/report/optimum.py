"""The exact optimum as a small table, and what it means in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from penstock.report.parts.quantities import duration, percent, time_scale

if TYPE_CHECKING:
    from penstock.studies.optimum import Optimum


def optimum_table(best: Optimum) -> Table:
    """Makespan, bound and gap, and how much longer the order takes that the search began from."""
    times = time_scale(best.heuristic.makespan)
    longer = percent((best.heuristic.makespan - best.makespan) / (best.makespan - best.start))
    rows = {
        "makespan": times.show(best.makespan),
        "bound": times.show(best.bound),
        "gap": f"{percent(best.gap)}, {'proved optimal' if best.optimal else 'not proved'}",
        "began from": f"{times.show(best.heuristic.makespan)}, {best.heuristic.sharing} ({longer} longer)",
        "search": duration(best.seconds),
    }
    table = Table.grid(padding=(0, 2))
    for name, value in rows.items():
        table.add_row(name, Text(value))
    return table


def optimum_words(best: Optimum) -> str:
    """What was found, in one sentence, and what it does not say."""
    between = "the shortest schedule that serves one operation at a time ends between the bound and the makespan"
    if best.optimal:
        margin = " by more than a millionth of its length" if best.rounding else ""
        found = f"No schedule that serves one operation at a time, without interrupting it, ends earlier{margin}."
    elif best.too_large:
        found = f"There are too many operations to search for a proof: {between}."
    else:
        found = f"Time ran out before a proof: {between}; a longer --time-limit may narrow this."
    return f"{found} Policies that share the bandwidth or interrupt may still be faster."
