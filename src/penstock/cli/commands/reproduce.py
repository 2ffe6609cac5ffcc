"""`penstock reproduce`: an experiment of a paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli import rooms
from penstock.cli.parts import choices
from penstock.cli.parts.leave import leave
from penstock.cli.parts.many_runs import On, Workers, follow, interruptible, need_pyarrow
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import print_json, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import campaign
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.reproduce import Experiment

Ids = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="ID",
        help="Experiments, as P1.fig5, or all.",
        show_default=False,
        **choices.one_of(choices.experiments),
    ),
]
List = Annotated[bool, typer.Option("--list", help="Show which experiments there are.")]
Scale = Annotated[float, typer.Option(metavar="X", help="Times the paper's number of instances; at least two are run.")]
Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Where figures, data and runs go; continued if begun.")
]
Profiles = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Measured bandwidths by application, for P4.", **choices.there())
]
Table = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The full APEX table, for P1.fig8 to P1.fig13 and P1.fig20 to P1.fig22.",
        **choices.there(),
    ),
]


def reproduce(
    ids: Ids = None,
    listed: List = False,
    scale: Scale = 1.0,
    on: On = "local",
    workers: Workers = None,
    output: Output = Path("reproduction"),
    profiles: Profiles = None,
    table: Table = None,
    json: Json = False,
) -> None:
    """Run experiments of the papers again: figures (SVG, PNG), their data (CSV) and a summary (JSON)."""
    need_pyarrow()
    rooms.reproduce.experiment.check_scale(scale)
    known = rooms.reproduce.catalogue
    if listed:
        _show_all([known.find(name) for name in known.IDS], json=json)
        return
    if not ids:
        raise InvalidOption("which experiment? as in `penstock reproduce P1.fig5`; --list has them all")
    asked = known.chosen(ids)
    _check_use("profiles", profiles, asked)
    _check_use("table", table, asked)
    place, made = campaign.executor.executor(on, workers), []
    for each in asked:
        with interruptible(output), ProgressLine() as line:
            line.show(each.id)
            progress = follow(place, line, each.id, output)
            run = rooms.reproduce.reproduction.reproduce
            made.append(
                run(each, scale=scale, on=place, output=output, profiles=profiles, table=table, progress=progress)
            )
        if not json:
            tables = rooms.reproduce.tables
            say([*tables.reproduction_tables(made[-1]), *tables.reproduction_lines(made[-1])])
    if json:
        print_json(made[0] if len(made) == 1 else made)
    if failed := sum(each.failed for each in made):
        leave(f"{failed:,} runs failed; `penstock campaign status` of a folder in {output / 'runs'} says why", 1)


def _check_use(option: str, file: Path | None, asked: list[Experiment]) -> None:
    """Refuse data that nobody would look at."""
    if file is not None and all(each.data != option for each in asked):
        known = rooms.reproduce.catalogue
        takers = [name for name in known.IDS if known.find(name).data == option]
        raise InvalidOption(f"--{option} is for {', '.join(takers)}; none of these was asked for")


def _show_all(experiments: list[Experiment], *, json: bool) -> None:
    if json:
        print_json([{"experiment": each.id, "title": each.title, "states": each.states} for each in experiments])
    else:
        say([rooms.reproduce.tables.experiment_table(experiments)])
