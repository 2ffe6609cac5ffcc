"""`penstock allocate`: how many targets for each application, and which."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.parts.options import Json, Noise, Plot, ScenarioFile, Sharing
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.model import Scenario
    from penstock.studies.targets import Allotment

Allocation = Annotated[
    str | None, typer.Option(metavar="NAME", help="How many targets: a name from `penstock policies`.  [default: tcpu]")
]
Placement = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which targets: a name, likewise.  [default: greedy-clairvoyant]")
]
Knowledge = Annotated[
    str | None,
    typer.Option(
        metavar="exact|shape|class",
        help="What these policies are told of the profiles: all, or less.  [default: exact]",
    ),
]
Error = Annotated[
    float | None, typer.Option(metavar="X", help="What they are told is off by up to the part X, at random.")
]
Without = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="Take these targets out, by name or place; shows who has to move.")
]
Plan = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Targets as in this plan (see --export json), instead of policies.")
]
ProfilesFile = Annotated[
    Path | None,
    typer.Option("--profiles", metavar="FILE", help="Measured bandwidths by application, instead of the scenario's."),
]
Improve = Annotated[
    str | None, typer.Option(metavar="TIME", help="Then look for something better, for so long: 30, 5 min.")
]
Objective = Annotated[
    str | None, typer.Option(metavar="slowdown|idle", help="What --improve lowers.  [default: slowdown]")
]
Compare = Annotated[bool, typer.Option("--compare", help="Every allocation with every placement, side by side.")]
Export = Annotated[
    str | None, typer.Option(metavar="lustre|beegfs|json", help="Commands for the file system, or a plan.")
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where --export goes, instead of the terminal.")
]
Directory = Annotated[
    str | None,
    typer.Option(metavar="TEMPLATE", help="Where an application's files are, for --export.  [default: {name}]"),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="For random policies, --error and noise, instead of the scenario's seed."),
]


def allocate(
    scenario: ScenarioFile,
    allocation: Allocation = None,
    placement: Placement = None,
    sharing: Sharing = "fair-share",
    knowledge: Knowledge = None,
    error: Error = None,
    without: Without = None,
    plan: Plan = None,
    profiles: ProfilesFile = None,
    improve: Improve = None,
    objective: Objective = None,
    compare: Compare = False,
    export: Export = None,
    output: Output = None,
    directory: Directory = None,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
    plot: Plot = None,
) -> None:
    """Give the applications of SCENARIO their storage targets, and see how they fare on them."""
    from penstock.cli.parts.output import check_outputs  # noqa: PLC0415
    from penstock.cli.parts.simulations import disturbed  # noqa: PLC0415
    from penstock.model import load  # noqa: PLC0415

    policies: dict[str, object] = {"--allocation": allocation, "--placement": placement}
    if compare:
        single = {"--plan": plan, "--without": without, "--improve": improve, "--export": export}
        _leave_out("--compare runs every pair of policies", policies | single)
    if plan:
        _leave_out("--plan takes the place of policies", policies | {"--knowledge": knowledge, "--error": error})
    out = None if without is None else _names(without)
    seconds = _search_time(improve, objective)
    _check_export(export, output, directory, json)
    check_outputs(plot)
    found = _with_profiles(disturbed(load(scenario), noise, seed), profiles)
    given = _given(sharing=sharing, knowledge=knowledge, error=error)
    if compare:
        allotments, refused = _every_pair(found, given)
        return _show_all(allotments, refused, scenario, json, plot)
    given |= _given(allocation=allocation, placement=placement, plan=plan and _read(plan))
    whole = _decided(found, given)
    start = whole if out is None else _decided(found, given | {"without": out})
    best = start if seconds is None else _improved(found, start, sharing, seconds, objective)
    text = export and _exported(best, export, directory)
    return _show(best, start, None if out is None else whole, text, output, json, plot)


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


def _search_time(improve: str | None, objective: str | None) -> float | None:
    """What `--improve` says, in seconds."""
    from penstock.model.units import Refusal, quantity  # noqa: PLC0415

    if objective is not None and improve is None:
        raise InvalidOption("--objective says what --improve lowers; give --improve, too, as in --improve 30")
    if objective is not None:
        from penstock.studies.targets.local_search import OBJECTIVES  # noqa: PLC0415

        if objective not in OBJECTIVES:
            raise InvalidOption(f"--objective is {objective!r}; accepted: {', '.join(OBJECTIVES)}")
    try:
        return None if improve is None else quantity(improve, "seconds")
    except Refusal as refusal:
        raise InvalidOption(f"--improve {refusal}") from None


def _check_export(export: str | None, output: Path | None, directory: str | None, json: bool) -> None:
    """Refuse what could not be exported before the work is done."""
    from penstock.files import check_place  # noqa: PLC0415
    from penstock.studies.targets.export import check_export  # noqa: PLC0415

    if export is None:
        missing = "--directory" if directory is not None else "-o" if output else None
        if missing:
            raise InvalidOption(f"{missing} is for what --export writes; give --export lustre, beegfs or json, too")
        return
    if json and output is None:
        raise InvalidOption("--json and --export both go to standard output; give the export a file with -o FILE")
    check_export(export, directory)
    if output:
        check_place(output)


def _with_profiles(scenario: Scenario, file: Path | None) -> Scenario:
    """The scenario with the profiles in `file`; applications that it does not have keep theirs."""
    if file is None:
        return scenario
    from penstock.studies.profiles import read_profiles  # noqa: PLC0415

    measured = read_profiles(file)
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


def _read(plan: Path) -> dict[str, tuple[str, ...]]:
    from penstock.studies.targets.export import read_plan  # noqa: PLC0415

    return read_plan(plan)


def _decided(scenario: Scenario, given: dict[str, Any]) -> Allotment:
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.studies.targets import allocate as run  # noqa: PLC0415

    with user_code():
        return run(scenario, **given)


def _every_pair(scenario: Scenario, given: dict[str, Any]) -> tuple[tuple[Allotment, ...], list[str]]:
    """Every pair that is possible, and why others are not."""
    from penstock.cli.parts.progress import ProgressLine  # noqa: PLC0415
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.studies.targets import compare_allotments  # noqa: PLC0415

    refused: list[str] = []
    with user_code(), ProgressLine() as line:
        found = compare_allotments(scenario, **given, progress=line.show, refused=refused.append)
    return found, list(dict.fromkeys(refused))


def _improved(scenario: Scenario, start: Allotment, sharing: str, seconds: float, objective: str | None) -> Allotment:
    from penstock.cli.parts.progress import ProgressLine  # noqa: PLC0415
    from penstock.cli.parts.user_code import user_code  # noqa: PLC0415
    from penstock.studies.targets import improve  # noqa: PLC0415
    from penstock.studies.targets.local_search import OBJECTIVES  # noqa: PLC0415

    chosen = objective or OBJECTIVES[0]
    with user_code(), ProgressLine() as line:

        def progress(evaluations: int, best: float, fraction: float) -> None:
            line.show("improving", fraction, f"{chosen} {best:.4f} after {evaluations:,} tries")

        return improve(scenario, start, sharing=sharing, seconds=seconds, objective=chosen, progress=progress)


def _exported(allotment: Allotment, kind: str, directory: str | None) -> str:
    from penstock.studies.targets.export import DIRECTORY, export  # noqa: PLC0415

    return export(allotment, kind, DIRECTORY if directory is None else directory)


def _show(
    best: Allotment,
    start: Allotment,
    moved: Allotment | None,
    text: str | None,
    output: Path | None,
    json: bool,
    plot: Path | None,
) -> None:
    """Files first; then the export itself if it has no file, else JSON or a table."""
    from penstock.cli.parts.output import draw, print_allotment, print_json  # noqa: PLC0415
    from penstock.files import write_whole  # noqa: PLC0415
    from penstock.studies.targets import moves  # noqa: PLC0415

    if plot:
        from penstock.report.targets.plot import allotment_figure  # noqa: PLC0415 - loads matplotlib

        draw(allotment_figure, best, plot)
    if text and output:
        write_whole(output, text.encode())
    moving = None if moved is None else moves(moved, best)
    if text and not output:
        typer.echo(text, nl=False)
    elif json:
        extra = {} if moving is None else {"moves": [move._asdict() for move in moving]}
        print_json(best.to_dict() | extra)
    else:
        print_allotment(best, start, moving, plot, output)


def _show_all(allotments: Sequence[Allotment], refused: list[str], file: Path, json: bool, plot: Path | None) -> None:
    from penstock.cli.parts.output import draw, print_allotments, print_json  # noqa: PLC0415

    if plot:
        from penstock.report.targets.plot import comparison_figure_of_allotments  # noqa: PLC0415 - as above

        draw(comparison_figure_of_allotments, allotments, plot)
    if json:
        print_json({"scenario": str(file), "runs": [each.to_dict() for each in allotments], "refused": refused})
    else:
        print_allotments(allotments, refused, plot)
