"""`penstock advise`: from logs, or a scenario, to a decision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts import choices
from penstock.cli.parts import import_options as of
from penstock.cli.parts.choices import is_stdin
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.many_runs import On, Workers
from penstock.cli.parts.options import Html, Json, SharingList
from penstock.cli.parts.output import check_outputs, print_json, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.reading_traces import TABLES, read_logs
from penstock.cli.rooms import advise as room
from penstock.cli.rooms import campaign, model, policies, report, traces
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.advise import Advice
    from penstock.model import Scenario
    from penstock.traces import Imported, Options

Sources = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO|LOGS …",
        help="A scenario, Darshan logs or folders of them, a table (.csv, .parquet, .txt), or with --io what sacct "
        "printed or an SWF file.",
        **choices.there(),
    ),
]
Against = Annotated[
    str | None,
    choices.policy_option("sharing", "The sharing policy in use.  [default: the plan's, else fair-share]"),
]
Goal = Annotated[
    str | None,
    typer.Option(
        metavar="node-hours|min-yield",
        help="What a policy shall be better in.  [default: node-hours; min-yield if none saves any]",
    ),
]
_SCENARIOS = (".yaml", ".yml", ".json")


def advise(
    sources: Sources,
    slurm: of.Slurm = None,
    fields: of.Fields = None,
    io: of.Io = None,
    against: Against = None,
    goal: Goal = None,
    sharing: SharingList = None,
    bandwidth: of.Bandwidth = None,
    node_bandwidth: of.NodeBandwidth = None,
    window: of.Window = None,
    tolerance: of.Tolerance = "0.5%",
    cap: of.Cap = "alone",
    unseen: of.Unseen = "keep",
    anonymise: of.Anonymise = False,
    strict: of.Strict = False,
    workers: Workers = None,
    on: On = "local",
    html: Html = None,
    json: Json = False,
) -> None:
    """Say what to do on this machine: is there contention, which policy, targets, a buffer, and how sure that is."""
    check_outputs(None, html)
    place = campaign.executor.executor(on, workers)
    given = of.options(
        bandwidth, node_bandwidth, window, anonymise, strict, tolerance=tolerance, cap=cap, unseen=unseen
    )
    chosen = policies.sharing.catalogue.split_names(sharing) if sharing is not None else None
    found, used = _read(sources, given, slurm, of.names(fields), io)
    with ProgressLine() as line:

        def progress(what: str, done: int, total: int) -> None:
            line.show(what, done / total, f"{total - done:,} of {total:,} runs left")

        advice = room.advise(found, used, against=against, goal=goal, sharing=chosen, place=place, progress=progress)
        if html:
            line.show("writing the page")
            report.advice.page.write_advice(html, _name(sources), advice)
    unread = say_ignored(room.machine.with_unasked_plan(found), "advise") if isinstance(found, model.Scenario) else {}
    _tell(advice, _name(sources), json, html, unread)


def _read(
    sources: list[Path], given: Options, slurm: Path | None, fields: list[str] | None, io: str | None
) -> tuple[Scenario | Imported, Options]:
    """What was given, told apart by its looks, and the options that it was read with."""
    first = sources[0]
    kind = "".join(first.suffixes[-2:] if first.suffix == ".gz" else first.suffixes[-1:]).lower()
    if len(sources) > 1 and (io is not None or kind in (*_SCENARIOS, *TABLES)):
        raise InvalidOption(f"{first} is not a Darshan log; advise takes one scenario or table, or several logs")
    if io is not None:
        used = traces.io_model.assumed(given).options
        if kind.startswith(".swf"):
            return traces.import_swf(first, given, io=io), used
        return traces.import_slurm(first, given, io=io, fields=fields), used
    if is_stdin(first) or (kind in _SCENARIOS and not first.is_dir()):
        _refuse_for_scenarios(given, slurm)
        return model.load(first), given
    if kind in TABLES and not first.is_dir():
        return traces.import_table(first, given, slurm=slurm, fields=fields), given
    return read_logs(sources, given, slurm, fields), given


def _refuse_for_scenarios(given: Options, slurm: Path | None) -> None:
    """A scenario has its numbers: options that would change them would be read and not used."""
    if slurm is not None or given != traces.Options():
        raise InvalidOption(
            "options of imports (--slurm, --bandwidth, --window …) are for logs; a scenario says all that"
        )


def _name(sources: list[Path]) -> str:
    if is_stdin(sources[0]):
        return "standard input"
    return sources[0].resolve().name if len(sources) == 1 else f"{sources[0].name} and {len(sources) - 1} more"


def _tell(advice: Advice, name: str, json: bool, html: Path | None, unread: dict[str, Any]) -> None:
    if json:
        print_json(advice.to_dict() | unread)
    else:
        say(report.advice.table.advice_parts(advice, name), html)
