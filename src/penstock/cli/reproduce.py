"""`penstock reproduce`: an experiment of a paper, run again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.campaign import leave, need_pyarrow
from penstock.cli.meter import Meter
from penstock.cli.options import Json
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.campaign import Report
    from penstock.campaign.executor import Executor
    from penstock.reproduce import Experiment, Reproduction
    from penstock.reproduce.running import Progress

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="ID", help="Experiments, as P1.fig5, or all.", show_default=False)
]
List = Annotated[bool, typer.Option("--list", help="Show which experiments there are.")]
Scale = Annotated[float, typer.Option(metavar="X", help="Times the paper's number of instances; at least two are run.")]
On = Annotated[str, typer.Option("--on", metavar="WHERE", help="Where runs are done, as `penstock campaign` takes it.")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="How many processes.  [default: all cores]")]
Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Where figures, data and runs go; continued if begun.")
]
Profiles = Annotated[Path | None, typer.Option(metavar="FILE", help="Measured bandwidths by application, for P4.")]
Table = Annotated[Path | None, typer.Option(metavar="FILE", help="The full APEX table, for P1.fig8 to P1.fig13.")]


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
    from penstock.campaign.executor import executor  # noqa: PLC0415
    from penstock.cli.show import print_json  # noqa: PLC0415
    from penstock.reproduce.catalogue import IDS, chosen, find  # noqa: PLC0415
    from penstock.reproduce.running import reproduce as run  # noqa: PLC0415

    if listed:
        _show_all([find(name) for name in IDS], json=json)
        return
    if not ids:
        raise InvalidOption("which experiment? as in `penstock reproduce P1.fig5`; --list has them all")
    place, made = executor(on, workers), []
    for each in chosen(ids):
        with Meter() as meter:
            progress = _progress(meter, each, place, output)
            try:
                made.append(
                    run(each, scale=scale, on=place, output=output, profiles=profiles, table=table, progress=progress)
                )
            except KeyboardInterrupt:
                leave(f"interrupted; what was found is in {output}, and the same command continues from there", 130)
        if not json:
            _show(made[-1])
    if json:
        print_json(made[0] if len(made) == 1 else made)
    if failed := sum(each.failed for each in made):
        leave(f"{failed:,} runs failed; `penstock campaign status` of a folder in {output / 'runs'} says why", 1)


def _progress(meter: Meter, experiment: Experiment, place: Executor, output: Path) -> Progress:
    """Show how far an experiment is, or what it waits for; tell workers elsewhere where to write."""
    from penstock.campaign.elsewhere import Elsewhere  # noqa: PLC0415
    from penstock.report.campaign_table import progress_words  # noqa: PLC0415

    meter.show(experiment.id)
    if isinstance(place, Elsewhere):
        place.logs, place.show = output / "logs", lambda words: meter.show(experiment.id, None, words)

    def show(experiment: Experiment, _: str, report: Report) -> None:
        meter.show(experiment.id, (report.before + report.ran) / report.runs, progress_words(report))

    return show


def _show_all(experiments: list[Experiment], *, json: bool) -> None:
    from penstock.cli.show import output, print_json  # noqa: PLC0415
    from penstock.reproduce.tables import experiment_table  # noqa: PLC0415

    if json:
        print_json([{"experiment": each.id, "title": each.title, "states": each.states} for each in experiments])
    else:
        output().print(experiment_table(experiments))


def _show(made: Reproduction) -> None:
    from penstock.cli.show import output  # noqa: PLC0415
    from penstock.reproduce.tables import reproduction_lines, reproduction_tables  # noqa: PLC0415

    console = output()
    for table in reproduction_tables(made):
        console.print(table)
    for line in reproduction_lines(made):
        console.print(line, highlight=False, soft_wrap=True, markup=False)
