"""Measure what the page on reproduction reports: `python scripts/measure/reproduction.py` prints its tables.

Runs experiments of the papers at the scales of the page, into one new folder: of those that share runs, the first pays
(`-o DIR` keeps the folder, and continues it). Ids as arguments measure those only; `--scale` replaces the scales of the
page. Prints seconds by the clock and of the processors, then every quantity with its interval; for P1.fig5 also paired
differences and the time per run, and in full it draws the picture of the page. Use an idle machine: two cores take an
estimated quarter of an hour for everything.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from penstock.campaign import Entry, read_results, summarise
from penstock.reproduce import IDS, Reproduction, reproduce
from penstock.reproduce.reproduction import INTERVAL

PICTURE = Path(__file__).resolve().parents[2] / "docs" / "pictures" / "reproduction-P1.fig5.png"
WIDTH = 1_200  # of the picture
SCALES = {"P1.fig5": 1.0, "P1.fig6": 1.0, "P1.fig7": 1.0, "P1": 0.15, "P2": 1.0, "P3": 1.0, "P4": 0.3, "P5": 1.0}
PAIRED = {"min_yield": "greedy-yield", "efficiency": "fair-share"}  # metric and reference, as the page has them
NOT_SHOWN = (INTERVAL, "quantiles", "spread", "notes")
MOST_COLUMNS = 14


class Measured(NamedTuple):
    """An experiment, its scale and what it took."""

    made: Reproduction
    scale: float
    clock: float
    processor: float


def main() -> None:
    """Measure what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ids", nargs="*", metavar="ID", default=IDS)
    parser.add_argument("--scale", type=float)
    parser.add_argument("--profiles", type=Path)
    parser.add_argument("--table", type=Path)
    parser.add_argument("-o", "--output", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = asked.output or Path(folder)
        print(f"load before: {os.getloadavg()[0]:.1f}\n")
        found = [_measure(name, asked, place) for name in asked.ids]
        _print_times(found)
        for each in found:
            _print_summary(each)


def _measure(name: str, asked: argparse.Namespace, folder: Path) -> Measured:
    scale = asked.scale or SCALES.get(name) or SCALES[name.partition(".")[0]]
    clock, processor = time.monotonic(), _processor()
    made = reproduce(name, scale=scale, output=folder, profiles=asked.profiles, table=asked.table)
    taken = Measured(made, scale, time.monotonic() - clock, _processor() - processor)
    if name == "P1.fig5":  # the next experiment asks for other runs of the same folder
        _print_pairs(folder / "runs" / "P1-synthetic")
        if scale == 1.0:
            _draw(made.files[1])
    return taken


def _processor() -> float:
    """Seconds of this process, and of those that it has started and seen end."""
    return sum(os.times()[:4])


def _draw(file: Path) -> None:
    picture = Image.open(file).convert("RGB")
    small = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    small.quantize(64).save(PICTURE, optimize=True)


def _print_times(found: Iterable[Measured]) -> None:
    rows = [
        [each.made.experiment.id, f"{each.scale:g}", f"{each.clock:.1f}", f"{each.processor:.1f}"] for each in found
    ]
    total = [f"{sum(float(row[place]) for row in rows):.0f}" for place in (2, 3)]
    _print_table("seconds", ["experiment", "scale", "clock", "processor"], [*rows, ["all", "", *total]])


def _print_pairs(folder: Path) -> None:
    """Differences on the same instances, by metric and pressure, and the engine's milliseconds."""
    results = read_results(folder)
    for metric, reference in PAIRED.items():
        entries = [each for each in summarise(results, [metric], reference, ["pressure"]) if each.against]
        _print_entries(f"{metric} against {reference}: difference, won/tied/lost", entries, _pair)
    engine = summarise(results, ["seconds"], by=["pressure"])
    _print_entries("engine, ms a run", engine, lambda each: f"{1e3 * each.mean.mean:.1f}")
    whole = summarise(results, ["elapsed"], by=["pressure"])
    _print_entries("everything by the clock, ms a run", whole, lambda each: f"{1e3 * each.mean.mean:.1f}")


def _pair(entry: Entry) -> str:
    assert entry.against is not None
    mean, low, high = entry.against.difference
    return f"{mean:+.4f} ± {(high - low) / 2:.4f}, {'/'.join(map(str, entry.against.tally))}"


def _print_entries(title: str, entries: list[Entry], show: Any) -> None:
    cells = {(each.plan, str(each.group["pressure"])): show(each) for each in entries}
    columns = list(dict.fromkeys(pressure for _, pressure in cells))
    plans = dict.fromkeys(plan for plan, _ in cells)
    _print_table(title, ["", *columns], [[plan, *(cells[plan, each] for each in columns)] for plan in plans])


def _print_summary(each: Measured) -> None:
    """Every quantity: its last key goes across, those before it down."""
    summary = each.made.summary
    widths = dict(_numbers(summary.get(INTERVAL, {})))
    for quantity, values in summary.items():
        if quantity in NOT_SHOWN:
            continue
        cells: dict[str, dict[str, str]] = {}
        for path, value in _numbers(values):
            row, column = ", ".join(path[:-1]), path[-1] if path else ""
            cells.setdefault(row, {})[column] = _cell(value, widths.get((quantity, *path)))
        columns = list(dict.fromkeys(column for row in cells.values() for column in row))
        title = f"{each.made.experiment.id}, scale {each.scale:g}: {quantity}"
        for first in range(0, len(columns), MOST_COLUMNS):
            part = columns[first : first + MOST_COLUMNS]
            _print_table(title, ["", *part], [[row, *(found.get(c, "") for c in part)] for row, found in cells.items()])


def _numbers(tree: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    """The numbers of a summary with the keys that lead to them."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key not in NOT_SHOWN:
                yield from _numbers(value, (*path, str(key)))
    elif isinstance(tree, list | tuple):
        for place, value in enumerate(tree, start=1):
            yield from _numbers(value, (*path, str(place)))
    elif isinstance(tree, int | float):
        yield path, tree


def _cell(value: float, width: float | None) -> str:
    return f"{value:.4g}" if width is None else f"{value:.4f} ± {width:.4f}"


def _print_table(title: str, headings: list[str], rows: Iterable[list[str]]) -> None:
    print(f"{title}\n")
    for row in (headings, ["---"] * len(headings), *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


if __name__ == "__main__":
    main()
