"""`penstock size-buffer`: the smallest burst buffer, how to share it, and why it cannot be smaller."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.choices import need_file
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Json, Lead, ListAll, Noise, PlanOut, Plot, ScenarioFile, Seed
from penstock.cli.parts.output import MOST_ROWS, check_outputs, draw, print_json, say
from penstock.cli.parts.plans import check_plan_out, write_plan
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.simulations import disturbed
from penstock.cli.rooms import model, report, studies
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.studies.buffers.needs import Need
    from penstock.studies.sizing import SizeCurve, Sizing

Partition = Annotated[
    str,
    typer.Option(
        metavar="isolated|static|dynamic",
        help="Each application alone, fixed shares while they run, or all for everybody.",
    ),
]
Others = Annotated[
    bool, typer.Option("--strategies", help="Find what strategies that do not know the schedule need, too.")
]
ScheduleFile = Annotated[
    Path | None,
    typer.Option("--schedule", metavar="FILE", help="Write what moves between events, and how fast: .csv or .parquet."),
]
Verify = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Check such a schedule against every rule; exit code 2 if it fails.")
]
Explain = Annotated[bool, typer.Option("--explain", help="Say which bursts make the buffer that large.")]
Curved = Annotated[
    bool,
    typer.Option("--curve", help="The size for other speeds of the file system, and if everybody may take longer."),
]
PricePerTb = Annotated[float | None, typer.Option(metavar="X", help="Of the buffer; puts costs on --curve.")]
PricePerGbs = Annotated[float | None, typer.Option(metavar="X", help="Of the file system, per GB/s; likewise.")]


def size_buffer(
    scenario: ScenarioFile,
    partition: Partition = "static",
    lead: Lead = None,
    strategies: Others = False,
    schedule: ScheduleFile = None,
    verify: Verify = None,
    explain: Explain = False,
    curve: Curved = False,
    price_per_tb: PricePerTb = None,
    price_per_gbs: PricePerGbs = None,
    noise: Noise = None,
    seed: Seed = None,
    plan_out: PlanOut = None,
    json: Json = False,
    plot: Plot = None,
    all_: ListAll = False,
) -> None:
    """Find the smallest burst buffer with which nobody in SCENARIO is slowed down, and how to share it."""
    prices = {"--price-per-tb": price_per_tb, "--price-per-gbs": price_per_gbs}
    _check_options(partition, schedule, verify, explain, curve, prices, plot)
    ahead = studies.buffer_words.read_lead(lead)
    if curve and (strategies or lead is not None):
        raise InvalidOption(
            "--curve sizes many buffers, for input that is fetched at any time; leave --lead and --strategies out"
        )
    check_outputs(plot, schedule=schedule)
    check_plan_out(plan_out)
    if plan_out and (curve or verify):
        raise InvalidOption("--plan-out writes one buffer; leave it out with --curve and --verify")
    _keep_trace(scenario, schedule)
    found = disturbed(model.load(scenario), noise, seed)
    model.needs.need_end(found)
    studies.buffer_words.need_solver(partition)
    if curve:
        sizes = _curve(found, partition, price_per_tb, price_per_gbs)
        return _show_curve(sizes, found, say_ignored(found, "size-buffer"), json, plot)
    sizing = _sized(found, partition, ahead)
    if verify:
        return _verified(sizing, verify, json)
    if plan_out:
        write_plan(studies.plans.plan_of_sizing(sizing), plan_out)
    needs = _needs(found, sizing) if strategies else None
    return _show(sizing, needs, schedule, explain, say_ignored(found, "size-buffer"), json, plot, everything=all_)


def _check_options(
    partition: str,
    schedule: Path | None,
    verify: Path | None,
    explain: bool,
    curve: bool,
    prices: dict[str, float | None],
    plot: Path | None,
) -> None:
    """Refuse what contradicts itself before any work is done."""
    for name, price in prices.items():
        if price is not None and not 0.0 <= price < float("inf"):
            raise InvalidOption(f"{name} is {price:g}; a price is a number ≥ 0")
        if price is not None and not curve:
            raise InvalidOption(f"{name} puts costs on --curve; give --curve, too")
    studies.buffer_words.check_partition(partition, "--partition")
    files = {"--schedule": schedule, "--verify": verify}
    given = [name for name, file in files.items() if file]
    if curve and (given or explain):
        raise InvalidOption(f"--curve sizes many buffers; leave {' and '.join([*given, *['--explain'] * explain])} out")
    if partition == "isolated" and given:
        raise InvalidOption(
            f"--partition isolated looks at each application alone, without a common schedule; leave {given[0]} out"
        )
    if verify and (schedule or plot or explain):
        raise InvalidOption(
            "--verify checks a schedule and does nothing else; leave --schedule, --plot and --explain out"
        )
    if verify:
        studies.tables.check_schedule(verify)
        need_file(verify, "a schedule is what `penstock size-buffer --schedule` writes")


def _keep_trace(scenario: Path, schedule: Path | None) -> None:
    """A long scenario has its phases in a file beside it, of a name that comes to mind for its schedule, too."""
    if schedule and schedule.exists() and schedule.resolve() == scenario.with_suffix(".parquet").resolve():
        raise InvalidOption(
            f"--schedule {schedule} would replace what may be the scenario's own trace; give another name"
        )


def _sized(scenario: Scenario, partition: str, lead: float | None) -> Sizing:
    with ProgressLine() as line:
        line.show("sizing")
        run = studies.sizing.size_buffer
        return run(scenario, partition, lead=lead, progress=lambda detail: line.show("sizing", None, detail))


def _needs(scenario: Scenario, sizing: Sizing) -> list[Need] | None:
    if sizing.infeasible is not None:
        return None
    with ProgressLine() as line:
        return studies.buffers.needs.needs_of(scenario, sizing, progress=line.show)


def _curve(scenario: Scenario, partition: str, per_tb: float | None, per_gbs: float | None) -> SizeCurve:
    with ProgressLine() as line:
        prices = studies.sizing.curve.Prices(per_tb, per_gbs)
        return studies.sizing.size_curve(scenario, partition, prices, progress=line.show)


def _verified(sizing: Sizing, file: Path, json: bool) -> None:
    """OK, or the first rule that is broken."""
    if sizing.infeasible is not None:
        raise _impossible(sizing)
    schedule = studies.sizing.schedule_file.load_schedule(file, sizing.traffic.names)
    found = studies.sizing.verify(schedule, sizing.traffic, sizing.size, sizing.shares)
    if json:
        print_json(
            {
                "schedule": str(file),
                "partition": sizing.partition,
                "size": sizing.size,
                "shares": sizing.shares,
                "violations": [violation._asdict() for violation in found],
            }
        )
        if found:
            raise typer.Exit(2)
    elif found:
        more = f"; {len(found) - 1:,} more violations" if len(found) > 1 else ""
        raise InvalidOption(f"{file}: {report.sizing.table.violation_words(found[0], sizing.traffic)}{more}")
    else:
        say([f"OK: {file} keeps every rule. {report.sizing.table.sizing_words(sizing)}"])


def _show(
    sizing: Sizing,
    needs: list[Need] | None,
    schedule: Path | None,
    explain: bool,
    unread: dict[str, Any],
    json: bool,
    plot: Path | None,
    *,
    everything: bool,
) -> None:
    """Files first; then JSON or a table."""
    if sizing.infeasible is not None:
        if schedule or plot or explain:
            raise _impossible(sizing)
        return print_json(sizing.to_dict() | unread) if json else say(report.sizing.table.impossible_lines(sizing))
    if schedule:
        studies.sizing.schedule_file.save_schedule(schedule, sizing.schedule)
    if plot:
        draw(report.sizing.plot.usage_figure, sizing, plot)
    words = report.sizing.table
    lines = words.explanation_lines(sizing) if explain else []
    if json:
        found = {} if needs is None else {"strategies": [need._asdict() for need in needs]}
        print_json(sizing.to_dict() | found | ({"explanation": lines} if explain else {}) | unread)
        return None
    summary = [*words.sizing_lines(sizing), *words.need_lines(sizing, needs)]
    brief = explain and sizing.size > 0.0
    told = [*summary[:1], *lines] if brief else summary
    most = None if everything else MOST_ROWS
    return say([words.sizing_table(sizing, most), *words.rest_of_table(sizing, most), *told], schedule, plot)


def _impossible(sizing: Sizing) -> InvalidOption:
    """There is no size, so there is nothing to write, draw or check."""
    return InvalidOption(" ".join(report.sizing.table.impossible_lines(sizing)))


def _show_curve(curve: SizeCurve, scenario: Scenario, unread: dict[str, Any], json: bool, plot: Path | None) -> None:
    limits = studies.sizing.traffic.limits_of(scenario)
    if plot:
        draw(lambda drawn: report.sizing.plot.curve_figure(drawn, limits), curve, plot)
    if json:
        print_json(curve.to_dict() | unread)
        return
    words = report.sizing.table
    tables = [words.bandwidth_table(curve, limits), words.stretch_table(curve, limits)]
    say([*tables, *words.curve_lines(curve, limits)], plot)
