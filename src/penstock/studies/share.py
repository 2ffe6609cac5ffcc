"""One scenario under one policy, or under many: the Python face of `penstock simulate` and `penstock compare`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from penstock.engine.link.execution import Run, execute
from penstock.engine.link.merge import merged
from penstock.engine.stepping import Progress
from penstock.metrics.measure import measure
from penstock.metrics.result import Result
from penstock.model import Scenario
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.policy import Sharing
from penstock.studies.study import Part, Study

Policy = str | Sharing | Callable[..., None]


def simulate(
    scenario: Scenario,
    sharing: Policy = "fair-share",
    *,
    timeline: bool = False,
    progress: Progress | None = None,
) -> Result:
    """Run `scenario` under one sharing policy.

    `sharing` is a name (`penstock.policies.sharing.NAMES`, or what is installed), `name(parameter=value)`, a Python
    file, or a function `(view, rates)`. With `timeline` the result carries who did what when. `progress(time, events)`
    is called now and then in long runs.

    >>> from penstock import Scenario, simulate
    >>> jobs = [{"name": name, "phases": [{"write": 1}, {"compute": 3}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    >>> simulate(two, "fair-share").makespan
    5.0
    >>> [job.completion for job in simulate(two, "fcfs").applications]
    [4.0, 5.0]
    """
    return run_study(Study(scenario), find(sharing), timeline=timeline, progress=progress)


def compare(
    scenario: Scenario,
    sharing: Iterable[Policy] = NAMES,
    *,
    timeline: bool = False,
    progress: Callable[[str, float, int], None] | None = None,
) -> tuple[Result, ...]:
    """Run `scenario` under each of several sharing policies, in the order given.

    >>> from penstock import compare, generate
    >>> results = compare(generate("example-1", m=4), ["fair-share", "greedy-yield"])
    >>> [round(result.min_yield, 3) for result in results]
    [0.25, 1.0]
    """
    study = Study(scenario)
    results = []
    for policy in [find(asked) for asked in sharing]:

        def report(now: float, events: int, name: str = policy.label) -> None:
            if progress is not None:
                progress(name, now, events)

        report(study.program.begin, 0)
        results.append(run_study(study, policy, timeline=timeline, progress=report))
    return tuple(results)


def run_study(study: Study, policy: Sharing, *, timeline: bool = False, progress: Progress | None = None) -> Result:
    """Run a scenario whose study may serve other policies, too."""

    def run(part: Part) -> Run:
        foresight = study.foresight_of(part) if policy.prepare else None
        return execute(part.program, policy, part.outlook, foresight, timeline=timeline, progress=progress)

    runs = [run(part) for part in study.parts]
    whole = runs[0] if len(runs) == 1 else merged(study.program, [part.rows for part in study.parts], runs)
    return measure(study.program, study.yardsticks, policy.label, whole)
