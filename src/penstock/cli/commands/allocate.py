"""`penstock allocate`: how many targets for each application, and which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Json, ListAll, Noise, PlanOut, Plot, ScenarioFile
from penstock.cli.parts.output import check_outputs, draw, print_allotment, print_allotments, print_json
from penstock.cli.parts.plans import check_plan_out, write_plan
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.simulations import disturbed
from penstock.cli.parts.target_options import (
    Allocation,
    Compare,
    Directory,
    Error,
    Export,
    Improve,
    Interval,
    Knowledge,
    Objective,
    Output,
    Placement,
    Plan,
    ProfilesFile,
    Seed,
    Sharing,
    Without,
)
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, report, studies
from penstock.errors import InvalidOption
from penstock.files import check_place, write_whole

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.studies.targets import Allotment


def allocate(
    scenario: ScenarioFile,
    allocation: Allocation = None,
    placement: Placement = None,
    sharing: Sharing = None,
    knowledge: Knowledge = None,
    error: Error = None,
    interval: Interval = None,
    without: Without = None,
    plan: Plan = None,
    profiles: ProfilesFile = None,
    improve: Improve = None,
    objective: Objective = None,
    compare: Compare = False,
    export: Export = None,
    output: Output = None,
    plan_out: PlanOut = None,
    directory: Directory = None,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
    plot: Plot = None,
    all_: ListAll = False,
) -> None:
    """Give the applications of SCENARIO their storage targets, and see how they fare on them."""
    policies: dict[str, object] = {"--allocation": allocation, "--placement": placement}
    if compare:
        single: dict[str, object] = {"--plan": plan or None, "--without": without, "--improve": improve}
        single |= {"--export": export, "--plan-out": plan_out}
        _leave_out("--compare runs every pair of policies", policies | single)
    if plan:
        if len(plan) > 1:
            raise InvalidOption("--plan is given twice; targets are given out as one plan says, so give one of them")
        _leave_out("--plan takes the place of policies", policies | {"--knowledge": knowledge, "--error": error})
    out = None if without is None else _names(without)
    search, exported = _search(improve, objective), _export(export, output, directory, json)
    check_outputs(plot)
    check_plan_out(plan_out)
    studies.target_words.check_interval(interval)
    studies.target_words.check_knowledge(knowledge, error)
    found = _with_profiles(disturbed(model.load(scenario), noise, seed), profiles)
    targets = studies.target_words.targets_of(found)
    studies.target_words.places_of(targets, out or (), "without")
    given = _given(sharing=sharing, knowledge=knowledge, error=error, interval=interval)
    if compare:
        runs = _every_pair(found, given)
        return _show_all(*runs, say_ignored(found, "allocate"), scenario, json, plot)
    given |= _given(allocation=allocation, placement=placement)
    given = (studies.targets.export.read_decisions(plan[0]) if plan else {}) | given
    whole = _decided(found, given)
    start = whole if out is None else _decided(found, given | {"without": out})
    best = start if search is None else _improved(found, start, given.get("sharing", "fair-share"), search)
    if plan_out:
        write_plan(studies.plans.plan_of_allotment(best), plan_out)
    unread = say_ignored(found, "allocate")
    return _show(best, start, None if out is None else whole, exported, unread, json, plot, everything=all_)


class _Search(NamedTuple):
    """How long to look for something better, and what is to be lowered."""

    seconds: float
    objective: str


class _Export(NamedTuple):
    """Commands or a plan, for the terminal or a file."""

    kind: str
    file: Path | None
    directory: str | None

    def text(self, allotment: Allotment) -> str:
        """What is exported."""
        made = studies.targets.export
        return made.export(allotment, self.kind, made.DIRECTORY if self.directory is None else self.directory)


def _leave_out(reason: str, options: dict[str, object]) -> None:
    """Refuse options that contradict another one."""
    wrong = [name for name, value in options.items() if value is not None]
    if wrong:
        raise InvalidOption(f"{reason}; leave {' and '.join(wrong)} out with it")


def _given(**options: Any) -> dict[str, Any]:
    """The options that were given; the others keep the defaults of Python's face."""
    return {name: value for name, value in options.items() if value is not None}


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InvalidOption(f"--without: {text!r} has an empty name; give names or places of targets, as in 3,7")
    return names


def _search(improve: str | None, objective: str | None) -> _Search | None:
    """What `--improve` and `--objective` ask for."""
    if improve is None:
        if objective is not None:
            raise InvalidOption("--objective says what --improve lowers; give --improve, too, as in --improve 30")
        return None
    known = studies.target_words.OBJECTIVES
    if objective is not None and objective not in known:
        raise InvalidOption(f"--objective is {objective!r}; accepted: {', '.join(known)}")
    try:
        return _Search(model.units.quantity(improve, "seconds"), objective or known[0])
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--improve {refusal}") from None


def _export(kind: str | None, file: Path | None, directory: str | None, json: bool) -> _Export | None:
    """Refuse what could not be exported before the work is done."""
    if kind is None:
        missing = "--directory" if directory is not None else "-o" if file else None
        if missing:
            raise InvalidOption(f"{missing} is for what --export writes; give --export lustre, beegfs or json, too")
        return None
    if json and file is None:
        raise InvalidOption("--json and --export both go to standard output; give the export a file with -o FILE")
    studies.targets.export.check_export(kind, directory)
    if file:
        check_place(file)
    return _Export(kind, file, directory)


def _with_profiles(scenario: Scenario, file: Path | None) -> Scenario:
    """The scenario with the profiles in `file`; applications that it does not have keep theirs."""
    if file is None:
        return scenario
    measured = studies.profiles.read_profiles(file)
    known = [each.name for each in scenario.applications if each.name in measured]
    if not known:
        raise InvalidOption(
            f"--profiles: {file} has none of the scenario's applications; it has {', '.join(list(measured)[:3])}"
        )
    applications = tuple(
        each.model_copy(update={"profile": dict(measured[each.name])}) if each.name in measured else each
        for each in scenario.applications
    )
    return scenario.model_copy(update={"applications": applications})


def _decided(scenario: Scenario, given: dict[str, Any]) -> Allotment:
    with user_code():
        return studies.targets.allocate(scenario, **given)


def _every_pair(scenario: Scenario, given: dict[str, Any]) -> tuple[tuple[Allotment, ...], list[str]]:
    """Every pair that is possible, and why others are not."""
    refused: list[str] = []
    with user_code(), ProgressLine() as line:
        found = studies.targets.compare_allotments(scenario, **given, progress=line.show, refused=refused.append)
    return found, list(dict.fromkeys(refused))


def _improved(scenario: Scenario, start: Allotment, sharing: str, search: _Search) -> Allotment:
    with user_code(), ProgressLine() as line:

        def progress(evaluations: int, best: float, fraction: float) -> None:
            line.show("improving", fraction, f"{search.objective} {best:.4f} after {evaluations:,} tries")

        return studies.targets.improve(scenario, start, sharing=sharing, **search._asdict(), progress=progress)


def _show(
    best: Allotment,
    start: Allotment,
    moved: Allotment | None,
    export: _Export | None,
    unread: dict[str, Any],
    json: bool,
    plot: Path | None,
    *,
    everything: bool,
) -> None:
    """Files first; then the export itself if it has no file, else JSON or a table."""
    if plot:
        draw(report.targets.plot.allotment_figure, best, plot)
    file = export.file if export else None
    if export and file:
        write_whole(file, export.text(best).encode())
    moving = None if moved is None else studies.targets.moves(moved, best)
    if export and not file:
        typer.echo(export.text(best), nl=False)
    elif json:
        extra = {} if moving is None else {"moves": [move._asdict() for move in moving]}
        print_json(best.to_dict() | extra | unread)
    else:
        print_allotment(best, start, moving, plot, file, everything=everything)


def _show_all(
    allotments: Sequence[Allotment],
    refused: list[str],
    unread: dict[str, Any],
    file: Path,
    json: bool,
    plot: Path | None,
) -> None:
    if plot:
        draw(report.targets.plot.comparison_figure_of_allotments, allotments, plot)
    if json:
        runs = [each.to_dict() for each in allotments]
        print_json({"scenario": str(file), "runs": runs, "refused": refused} | unread)
    else:
        print_allotments(allotments, refused, plot)
