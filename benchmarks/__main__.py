"""Measure what is promised about speed and print it as one table: `python -m benchmarks`, from the project's root.

Ratios come from this one run. A missed promise ends it with exit code 1. `--quick` runs everything in small: it fails
only if something breaks or is wrong by an order of magnitude.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.advice import advice_rows
from benchmarks.agents import agent_rows
from benchmarks.arrivals import coming_and_going_rows
from benchmarks.buffers import sizing_rows, tier_rows
from benchmarks.campaigns import campaign_rows
from benchmarks.dashboard import dashboard_rows
from benchmarks.deciding import decision_rows
from benchmarks.engine import engine_rows
from benchmarks.growth import Growth, exponent, measure_growth
from benchmarks.growth_plot import draw_growth, time_text
from benchmarks.live import live_rows
from benchmarks.machine import machine
from benchmarks.orders import order_rows, pack_rows
from benchmarks.policies import policy_rows
from benchmarks.resources import loading_rows, memory_rows
from benchmarks.rows import Row
from benchmarks.shim import shim_rows
from benchmarks.startup import startup_rows
from benchmarks.targets import arrival_rows, evaluation_rows, target_rows
from benchmarks.timing import ROOT
from benchmarks.traces import trace_rows
from benchmarks.whole_machine import whole_machine_rows

SUBJECTS = {
    "Engine, fair-share, time of the loop": engine_rows,
    "Jobs that come and go, fair-share, time of the loop": coming_and_going_rows,
    "Policies, whole runs, 60 applications": policy_rows,
    "Orders, whole runs with metrics and bounds": order_rows,
    "Packs, time of the engine, and of packing": pack_rows,
    "Targets, time of policies and of the engine": target_rows,
    "Targets, whole runs with metrics": evaluation_rows,
    "Targets, jobs that come and go": arrival_rows,
    "Burst buffers, time and memory of sizing": sizing_rows,
    "Burst buffers, time of the engine": tier_rows,
    "The whole machine, time of the engine": whole_machine_rows,
    "Campaigns, what the runner adds": campaign_rows,
    "Live, clients and controller": live_rows,
    "Live, what viewers of the dashboard cost": dashboard_rows,
    "Live, turns of the controller's core": decision_rows,
    "Live, programs that do not ask, processor time of a write": shim_rows,
    "Live, a control cycle with the agents of 2,000 nodes": agent_rows,
    "Traces, processor time and memory": trace_rows,
    "Advice from logs": advice_rows,
    "Memory, timeline off": memory_rows,
    "Start-up": startup_rows,
    "Loading from Parquet": loading_rows,
}
COLOURS = {"kept": "green", "missed": "red", "": "default"}


def main() -> int:
    """Measure, print, write what was asked for."""
    asked = _arguments()
    # A pipe or a log has no width to keep to.
    console = Console(width=None if sys.stdout.isatty() else 132)
    found = machine()
    console.print(", ".join(f"{name} {text}" for name, text in found.items()), style="dim", highlight=False)
    rows: dict[str, list[Row]] = {}
    for subject in asked.only:
        print(f"  {subject} …", file=sys.stderr, flush=True)
        rows[subject] = SUBJECTS[subject](asked.quick)
    console.print(_promises_table(rows))
    growth = _growth(console, asked) if list(SUBJECTS) == asked.only else None
    if asked.json:
        _write_json(Path(asked.json), found, rows, growth)
    return _conclude(console, [row for some in rows.values() for row in some], asked.quick)


def _growth(console: Console, asked: argparse.Namespace) -> Growth:
    print("  growth …", file=sys.stderr, flush=True)
    growth = measure_growth(asked.quick)
    console.print(_growth_table(growth))
    files = [Path(asked.plot)] if asked.plot else _default_plots(asked.quick)
    draw_growth(growth, files)
    console.print(f"growth drawn in {', '.join(str(file) for file in files)}", highlight=False)
    return growth


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what is promised about speed.")
    parser.add_argument("--quick", action="store_true", help="small instances, as a smoke test; promises may be missed")
    parser.add_argument(
        "--only",
        type=_subjects,
        default=list(SUBJECTS),
        metavar="WORDS",
        help="only the subjects with these words",
    )
    parser.add_argument("--json", metavar="FILE", help="also write all figures there")
    parser.add_argument("--plot", metavar="FILE", help="where to draw the growth of decisions (.svg, .png, .pdf)")
    return parser.parse_args()


def _subjects(words: str) -> list[str]:
    chosen = [subject for subject in SUBJECTS if words.casefold() in subject.casefold()]
    if not chosen:
        raise argparse.ArgumentTypeError(f"no subject has {words!r}; there are: {'; '.join(SUBJECTS)}")
    return chosen


def _default_plots(quick: bool) -> list[Path]:
    stem = "bench-growth-quick" if quick else "bench-growth"
    return [(ROOT / "build" / f"{stem}{ending}").relative_to(ROOT) for ending in (".svg", ".png")]


def _promises_table(rows: dict[str, list[Row]]) -> Table:
    table = Table("what", "measured", "promised", "verdict", title="Promises", title_justify="left")
    for subject, some in rows.items():
        table.add_section()
        table.add_row(f"[bold]{subject}")
        for row in some:
            table.add_row(f"  {row.what}", escape(row.measured), row.promised, row.verdict, style=COLOURS[row.verdict])
    return table


def _growth_table(growth: Growth) -> Table:
    table = Table(title="Time of one decision, by number of active applications", title_justify="left")
    table.add_column("policy")
    shown = growth.sizes[1::2]
    for size in shown:
        table.add_column(f"{size:,}", justify="right")
    table.add_column("grows as", justify="right")
    for cap, lines in growth.seconds.items():
        table.add_section()
        table.add_row(f"[bold]everyone could use {cap}")
        for name, seconds in lines.items():
            times = [time_text(seconds[growth.sizes.index(size)]) for size in shown]
            table.add_row(f"  {name}", *times, f"n^{exponent(growth.sizes, seconds):.1f}")
    return table


def _write_json(path: Path, found: dict[str, str], rows: dict[str, list[Row]], growth: Growth | None) -> None:
    promises = {subject: [row.as_json() for row in some] for subject, some in rows.items()}
    document = {"machine": found, "promises": promises, "growth": vars(growth) if growth else None}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _conclude(console: Console, rows: list[Row], quick: bool) -> int:
    """The last line, and the exit code."""
    if quick:
        wrong = [row.what for row in rows if not row.sane]
        console.print(f"wrong: {'; '.join(wrong)}" if wrong else "runs, and all figures are plausible", highlight=False)
        return 1 if wrong else 0
    missed = [row.what for row in rows if row.verdict == "missed"]
    console.print(f"missed: {'; '.join(missed)}" if missed else "all promises are kept", highlight=False)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
