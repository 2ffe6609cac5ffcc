"""`penstock explain`: why a job waited, and what another policy would have given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.controller import AddressOption, line
from penstock.cli.parts.journal_options import JournalOption, journal_folder
from penstock.cli.parts.options import Json, Plot
from penstock.cli.parts.output import check_outputs, draw, print_json, say, tell
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import lookback, policies, report
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.lookback.shadow import Shadow

Job = Annotated[str | None, typer.Argument(metavar="JOB", help="The job; without one, --policy looks at all.")]
Policies = Annotated[
    str | None,
    typer.Option("--policy", metavar="A,B,…", help="What these policies would have given, comma-separated; or all."),
]
Resource = Annotated[
    str | None,
    typer.Option(
        "--resource", metavar="NAME", help="With --policy: look at this resource alone.  [default: all that were used]"
    ),
]

Mine = Annotated[
    bool, typer.Option("--mine", help="A job of one's own, which every user may ask the running controller about.")
]


def explain(
    job: Job = None,
    policy: Policies = None,
    journal: JournalOption = None,
    resource: Resource = None,
    mine: Mine = False,
    address: AddressOption = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Say from the journal why JOB waited and behind whom, and what other policies would have given on this traffic."""
    if job is None and policy is None:
        raise InvalidOption("explain needs a job, or --policy NAME to try a policy on all jobs")
    for name, given in (("--resource", resource), ("--plot", plot)):
        if given is not None and policy is None:
            raise InvalidOption(f"{name} goes with --policy, and there is none")
    if mine:
        _tell_own(job, policy, journal, address, json)
        return
    if address is not None:
        raise InvalidOption("--address goes with --mine; without it, explain reads the journal")
    check_outputs(plot)
    folder = journal_folder(journal)
    found = lookback.explain.explain(folder, job) if job is not None else None
    tried = _tried(folder, policy, resource) if policy is not None else None
    if tried and plot:
        draw(report.live.plot.shadow_figure, tried, plot)
    if json:
        print_json(_document(found, tried))
        return
    lines: list[Any] = report.live.history.explanation_lines(found) if found else []
    say([*lines, *(report.live.history.shadow_lines(tried, job) if tried else [])], plot)


def _tell_own(job: str | None, policy: str | None, journal: Path | None, address: str | None, json: bool) -> None:
    """What the running controller says of a job of one's own: its journal is for operators."""
    if job is None or policy is not None or journal is not None:
        raise InvalidOption("explain --mine takes a job, and neither --policy nor --journal")
    with line(address, role="client") as connected:
        told = connected.ask("explain", job=job)
    found = lookback.explain.Explanation.from_dict(told)
    tell(told, report.live.history.explanation_lines(found), json)


def _document(found: Any, tried: Any) -> dict[str, Any]:
    explained = found.to_dict() if found else {}
    if tried is None:
        return explained
    return {**explained, "shadow": tried.to_dict()} if found else tried.to_dict()


def _tried(folder: Path, asked: str, resource: str | None) -> Shadow:
    """The traffic under each of the policies."""
    if not all(map(str.strip, asked.split(","))):
        raise InvalidOption(f"--policy: {asked!r} has an empty name; give names as in fcfs,greedy-yield")
    known = policies.sharing.catalogue
    names = known.known_names() if asked == "all" else known.split_names(asked)
    with user_code(), ProgressLine() as line:

        def progress(name: str, now: float, events: int) -> None:
            line.show(name, None, f"{events:,} events")

        line.show("compiling policies")
        return lookback.shadow.shadow(folder, [known.find(name) for name in names], resource, progress)
