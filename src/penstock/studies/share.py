"""One scenario under one policy, or under many: the Python face of `penstock simulate` and `penstock compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from penstock.engine.link.execution import Run, execute
from penstock.engine.link.merge import merged
from penstock.engine.stepping import Progress
from penstock.errors import InvalidOption
from penstock.metrics.comparison import Comparison
from penstock.metrics.evenness import evenness_of
from penstock.metrics.measure import measure
from penstock.metrics.result import Result
from penstock.metrics.workloads import Workloads
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.model.plan import AS_PLANNED
from penstock.model.plan_file import PlanLike, with_plan
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.policy import Sharing
from penstock.studies.study import Part, Policy, Study

if TYPE_CHECKING:
    from penstock.studies.machine import MachineStudy

AnyStudy: TypeAlias = "Study | MachineStudy"
Watch = Callable[[str, float, int], None]  # the policy, the time and the events so far


def simulate(
    scenario: ScenarioLike,
    sharing: Policy | None = None,
    *,
    plan: PlanLike | Sequence[PlanLike] | None = None,
    timeline: bool = False,
    evenness: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Run `scenario`, or the one in a file of that name, under one sharing policy; with a plan, the whole machine.

    `sharing` is a name (`penstock.policies.sharing.NAMES`, or what is installed), `name(parameter=value)`, a Python
    file, or a function `(view, rates)`; by default what the plan says, else fair-share. `plan`, or a file that has
    one, stands for the scenario's own, several are taken together; with one, the result carries what each resource
    did (`resources`). With `timeline` the result carries who did what when, with `evenness` how even it was over
    time (`even_yield`, `sliding_min`).
    `progress(time, events)` is called now and then in long runs.

    >>> from penstock import Scenario, simulate
    >>> jobs = [{"name": name, "phases": [{"write": 1}, {"compute": 3}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    >>> simulate(two, "fair-share").makespan
    5.0
    >>> [job.completion for job in simulate(two, "fcfs").applications]
    [4.0, 5.0]
    """
    given = with_plan(as_scenario(scenario), plan)
    recorded = {"timeline": timeline, "evenness": evenness}
    policy = None if sharing is None and given.plan is not None else find("fair-share" if sharing is None else sharing)
    return run_study(study_of(given), policy, **recorded, progress=progress)


@overload
def compare(  # type: ignore[overload-overlap]  # a text is a path here, and no list of paths
    scenario: ScenarioLike, sharing: Iterable[Policy] = NAMES, *, timeline: bool = False, progress: Watch | None = None
) -> Comparison: ...


@overload
def compare(
    scenario: Sequence[ScenarioLike] | Mapping[str, ScenarioLike],
    sharing: Iterable[Policy] = NAMES,
    *,
    timeline: bool = False,
    progress: Watch | None = None,
) -> Workloads: ...


def compare(
    scenario: ScenarioLike | Sequence[ScenarioLike] | Mapping[str, ScenarioLike],
    sharing: Iterable[Policy] = NAMES,
    *,
    timeline: bool = False,
    progress: Watch | None = None,
) -> Comparison | Workloads:
    """Run `scenario` under each of several sharing policies, in the order given; the results print as a table.

    Where a plan has a policy for each resource there is a run "as planned" besides.
    A list of scenarios, or a mapping of names to them, gives a comparison for each, by its name.

    >>> from penstock import compare, generate
    >>> results = compare(generate("example-1", m=4), ["fair-share", "greedy-yield"])
    >>> [round(result.min_yield, 3) for result in results]
    [0.25, 1.0]
    """
    if isinstance(sharing, str) or not isinstance(sharing, Iterable):
        example = sharing if isinstance(sharing, str) else "fcfs"
        raise InvalidOption(f"compare takes a list of policies, as in [{example!r}], not a {type(sharing).__name__}")
    policies = [find(asked) for asked in sharing]
    if not policies:
        raise InvalidOption("there is no policy to run; give at least one, as in ['fcfs']")
    if isinstance(scenario, Sequence | Mapping) and not isinstance(scenario, str):
        return Workloads({name: _compared(each, policies, timeline, progress) for name, each in _named(scenario)})
    return _compared(scenario, policies, timeline, progress, planned=True)


def _named(scenarios: Sequence[ScenarioLike] | Mapping[str, ScenarioLike]) -> list[tuple[str, ScenarioLike]]:
    """Each scenario with a name: its own, that of its file, or its place in the list."""
    if not scenarios:
        raise InvalidOption("there is no scenario to run; give at least one, as in ['jobs.yaml']")
    if isinstance(scenarios, Mapping):
        return list(scenarios.items())
    names = [
        f"scenario {place}" if isinstance(each, Scenario) else str(each) for place, each in enumerate(scenarios, 1)
    ]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidOption(f"{twice[0]} is given twice; each workload is compared once")
    return list(zip(names, scenarios, strict=True))


def _compared(
    scenario: ScenarioLike,
    policies: Sequence[Sharing],
    timeline: bool,
    progress: Watch | None,
    planned: bool = False,
) -> Comparison:
    """`planned`: and as its plan says, where that is another run; several workloads have the same runs all."""
    study = study_of(as_scenario(scenario))
    results = []
    for policy in policies:

        def report(now: float, events: int, name: str = policy.label) -> None:
            if progress is not None:
                progress(name, now, events)

        report(study.program.begin, 0)
        results.append(run_study(study, policy, timeline=timeline, progress=report))
    if planned and _is_mixed(study):
        results.append(replace(run_study(study, None, timeline=timeline), sharing=AS_PLANNED))
    return Comparison(results)


def _is_mixed(study: AnyStudy) -> bool:
    """Whether its plan has several policies, which no run under one of them everywhere shows."""
    if isinstance(study, Study):
        return False
    from penstock.studies.machine import is_mixed  # noqa: PLC0415 - as below

    return is_mixed(study)


def study_of(scenario: Scenario, bounds: bool = True) -> AnyStudy:
    """What serves every run of a scenario: of a whole machine if it has a plan, else of one shared bandwidth."""
    if scenario.plan is None:
        return Study(scenario, bounds)
    from penstock.studies.machine import MachineStudy  # noqa: PLC0415 - loads the loop of whole machines

    return MachineStudy(scenario)


def run_study(
    study: AnyStudy,
    policy: Sharing | None,
    *,
    timeline: bool = False,
    evenness: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Run a scenario whose study may serve other policies, too; without a policy, under those of its plan."""
    recorded = {"timeline": timeline, "evenness": evenness}
    if not isinstance(study, Study):
        result = _run_plan(study, policy, **recorded, progress=progress)
    else:
        policy = policy or find("fair-share")
        result = _run_link(study, policy, **recorded, progress=progress)
    rule = "" if policy is None else policy.rule
    return replace(result, rule=rule, capacity=study.scenario.shared_bandwidth)


def _run_plan(study: MachineStudy, sharing: Sharing | None, **options: Any) -> Result:
    """A plan that needs one bandwidth, or I/O nodes alone, runs on the loop made for these."""
    from penstock.studies.machine import as_link, run_plan  # noqa: PLC0415 - as above

    plain = as_link(study, sharing)
    return _run_link(Study(plain[0]), plain[1], **options) if plain else run_plan(study, sharing, **options)


def _run_link(study: Study, policy: Sharing, *, timeline: bool, evenness: bool, progress: Progress | None) -> Result:
    def run(part: Part) -> Run:
        foresight = study.foresight_of(part) if policy.prepare else None
        recorded = timeline or evenness
        return execute(part.program, policy, part.outlook, foresight, timeline=recorded, progress=progress)

    runs = [run(part) for part in study.parts]
    whole = runs[0] if len(runs) == 1 else merged(study.program, [part.rows for part in study.parts], runs)
    result = measure(study.program, study.yardsticks, policy.label, whole)
    if not evenness or result.timeline is None:
        return result
    found = evenness_of(study.program, result.timeline)
    return replace(result, **found._asdict(), timeline=result.timeline if timeline else None)
