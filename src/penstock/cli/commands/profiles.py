"""`penstock profiles`: how fast applications are on how many targets, from measurements."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.options import Json, Plot
from penstock.cli.parts.output import check_outputs, draw, print_json, say
from penstock.cli.rooms import report, studies
from penstock.errors import InvalidOption
from penstock.files import check_place

if TYPE_CHECKING:
    from penstock.studies.profiles import Profiles

MOST = 100_000  # targets

Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="CSV of application, targets, bandwidth; tables of FORGE; CSV or JSON of IOR."),
]
Take = Annotated[str, typer.Option(metavar="median|max", help="What to make of repetitions.")]
Fit = Annotated[
    str | None,
    typer.Option(metavar="monotone|unimodal", help="Fit this shape, and fill in counts that were not measured."),
]
Counts = Annotated[
    str | None,
    typer.Option(metavar="1-8|1,2,4", help="Which numbers of targets, where measured on both sides.  [default: all]"),
]
Count = Annotated[
    int | None, typer.Option(metavar="N", help="How many targets IOR ran on, where its output does not say.")
]
Output = Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write them as one plain CSV.")]


def profiles(
    files: Files,
    take: Take = "median",
    fit: Fit = None,
    counts: Counts = None,
    count: Count = None,
    output: Output = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Read measured bandwidths from each FILE, fit and classify them, and write them as profiles."""
    wanted = _counts(counts) if counts is not None else None
    if count is not None and not 1 <= count <= MOST:
        raise InvalidOption(f"--count is {count}; accepted is a whole number from 1 to {MOST:,}")
    check_outputs(plot)
    if output:
        check_place(output)
    found = studies.profiles.read_profiles(files, take=take, count=count)
    if fit is not None or wanted is not None:
        found = studies.profiles.fit_profiles(found, fit, wanted)
    if output:
        studies.profiles.save_profiles(output, found)
    if plot:
        draw(report.profiles.plot.profiles_figure, found, plot)
    if json:
        print_json(_document(found))
    else:
        _print(found, output, plot)


def _counts(text: str) -> list[int]:
    """Whole numbers and ranges of them."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})\s*(?:-\s*(\d{1,9})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= MOST:
            raise InvalidOption(f"--counts is {text!r}; accepted are numbers of targets up to {MOST:,}: 1,2,4 or 1-8")
        chosen.update(range(first, last + 1))
    return sorted(chosen)


def _document(found: Profiles) -> dict[str, Any]:
    return {
        "take": found.take,
        "fit": found.shape,
        "units": found.units,
        "notes": found.notes,
        "applications": [
            {
                "name": name,
                "class": studies.profiles.class_of(profile),
                "n_perf": studies.profiles.fastest(profile),
                "bandwidth": profile,
                "repetitions": found.repetitions[name],
                "fitted": found.fitted.get(name, ()),
                "moved": found.moved.get(name, ()),
            }
            for name, profile in found.items()
        ],
        "classes": [
            {"class": each.name, "applications": each.members, "n_perf": studies.profiles.fastest(each.bandwidth)}
            | {"bandwidth": each.bandwidth}
            for each in studies.profiles.class_profiles(found).values()
        ],
    }


def _print(found: Profiles, *written: Path | None) -> None:
    words = report.profiles.table
    classes = words.classes_table(studies.profiles.class_profiles(found), found)
    say([words.profiles_table(found), "", classes, *words.profile_lines(found)], *written)
