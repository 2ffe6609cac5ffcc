"""Options of commands that show what a campaign has found, and what they select."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.parts.many_runs import need_pyarrow
from penstock.cli.rooms import campaign, policies, report
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.campaign import Entry, Results

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a campaign.")]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", metavar="NAME", help="Which metric; may be given several times.")
]
Against = Annotated[
    str | None,
    typer.Option(metavar="PLAN,…", help="The plan to compare with, or several.  [default: the campaign's first]"),
]
Plans = Annotated[str | None, typer.Option(metavar="PLAN,…", help="Show these plans only.  [default: all]")]
By = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Settings to tell apart; others are averaged over.  [default: all that vary]"),
]
X = Annotated[
    str | None,
    typer.Option("--x", metavar="SETTING", help="Lines over it.  [default: the setting that varies, if one does]"),
]


def results_in(directory: Path) -> Results:
    """What a campaign has found so far; a folder that is not there is refused before anything is loaded to read it."""
    if not directory.exists():
        raise InvalidOption(f"{directory} holds no campaign; `penstock campaign FILE -o DIR` starts one")
    need_pyarrow()
    return campaign.results.read_results(directory)


def selected(
    results: Results,
    metrics: Sequence[str] | None,
    against: str | None,
    by: str | Sequence[str] | None,
    plans: str | None,
) -> list[Entry]:
    """The means that were asked for."""
    shown = named(results, plans)
    split_names = policies.sharing.catalogue.split_names
    references = None if against is None else [against] if against in results.plans else split_names(against)
    entries = campaign.summary.summarise(results, metrics, references, _names(by) if isinstance(by, str) else by)
    return [entry for entry in entries if entry.plan in shown]


def named(results: Results, plans: str | None) -> Sequence[str]:
    """The plans that were named, or all; an unknown one is refused."""
    shown: Sequence[str] = results.plans if plans is None else policies.sharing.catalogue.split_names(plans)
    for plan in shown:
        campaign.summary.plan_place(results, plan)
    return shown


def in_short(results: Results, metric: str, against: str | None, plans: str | None) -> list[str]:
    """The campaign in three sentences, if its plans can be ranked in that metric."""
    try:
        ranking = campaign.ranking.rank_plans(results, metric, named(results, plans))
    except InvalidOption:  # one plan, no scenario with all of them, or neither more nor less is better
        return []
    return [report.campaign.ranking.in_short(ranking, selected(results, [metric], against, [], plans))]


def axis(results: Results, x: str | None, by: str | None) -> tuple[str | None, list[str]]:
    """The setting that lines go over, if one does, and all that is told apart."""
    groups = list(results.varying) if by is None else _names(by)
    if x is None:
        axes = [name for name in groups if results.is_number(name)]
        return (axes[0] if len(axes) == 1 else None), groups
    # Without --by, what else varies is averaged over, but for different workloads.
    told = groups if by is not None else [name for name in groups if name == "workload"]
    return x, [name for name in told if name != x] + [x]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
