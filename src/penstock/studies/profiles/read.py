"""Reading measurements into profiles: each file in whichever form it is, repetitions made one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from types import ModuleType

from penstock.errors import InvalidOption
from penstock.studies.profiles import forge_runs, forge_summary, ior_csv, ior_json, long_csv
from penstock.studies.profiles.profiles import Profiles
from penstock.studies.profiles.source import ACCEPTED, Measurement, MeasurementFile, Measurements, open_source

TAKES: dict[str, Callable[[Iterable[float]], float]] = {"median": median, "max": max}
FORMATS: tuple[ModuleType, ...] = (ior_json, forge_summary, forge_runs, ior_csv, long_csv)  # what fits first is taken

Runs = dict[str, dict[int, list[Measurement]]]


def read_profiles(
    paths: str | Path | Iterable[str | Path], *, take: str = "median", count: int | None = None
) -> Profiles:
    """Profiles from files of measurements.

    Several values of one application on one count are repetitions: their median is taken, or their maximum. `count` is
    the number of targets that IOR ran on, for output of IOR that does not say it.
    """
    if take not in TAKES:
        raise InvalidOption(f"take is {take!r}; accepted is one of {', '.join(TAKES)}")
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    if not files:
        raise InvalidOption("no file of measurements is given")
    runs: Runs = {}
    read = [_read(open_source(file, count), take, runs) for file in files]
    if not runs:
        raise InvalidOption("; ".join(["nothing is measured", *(note for found in read for note in found.notes)]))
    kept = {name: dict(sorted(counts.items())) for name, counts in runs.items()}
    return Profiles(
        bandwidth={name: {n: _one(values, take) for n, values in counts.items()} for name, counts in kept.items()},
        repetitions={name: {n: _number(values) for n, values in counts.items()} for name, counts in kept.items()},
        take=take,
        units=tuple(dict.fromkeys(found.unit for found in read)),
        notes=tuple(dict.fromkeys(note for found in read for note in found.notes)),
    )


def _read(source: MeasurementFile, take: str, runs: Runs) -> Measurements:
    """What a file holds, which is added to `runs`."""
    form = next((form for form in FORMATS if form.recognises(source)), None)
    if form is None:
        source.refuse(f"is no table; {ACCEPTED}")
    found: Measurements = form.read(source)
    if not (found.measurements or found.notes):
        source.refuse(f"has no measurement in it; {ACCEPTED}")
    if take != "median" and any(each.runs is not None for each in found.measurements):
        source.refuse(f"has medians of runs, not the runs themselves; --take {take} needs those")
    for each in found.measurements:
        same = runs.setdefault(each.application, {}).setdefault(each.targets, [])
        if same and (each.runs is not None or same[0].runs is not None):
            source.refuse(
                f"has a median of {each.application!r} on {each.targets} targets beside other values of it; "
                "a median has no repetitions, so give it once"
            )
        same.append(each)
    return found


def _one(values: list[Measurement], take: str) -> float:
    return float(TAKES[take](each.bandwidth for each in values))


def _number(values: list[Measurement]) -> int:
    return sum(each.runs or 1 for each in values)
