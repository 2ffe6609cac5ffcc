"""Running for the command line: load, run, and show progress when it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.parts.compiling import engine_compiled_meanwhile
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import campaign, model, policies, report, studies
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Recommendation
    from penstock.metrics.result import Result
    from penstock.metrics.workloads import Workloads
    from penstock.model import Scenario
    from penstock.policies.sharing import Sharing
    from penstock.studies.optimum import Optimum
    from penstock.studies.reference import Reference


def run_one(scenario: Scenario, sharing: str | Sharing | None, *, timeline: bool, evenness: bool = False) -> Result:
    """The scenario under one policy; None: under its plan's, or fair-share."""
    with user_code(), ProgressLine() as line:
        asked = "fair-share" if sharing is None and scenario.plan is None else sharing
        policy = None if asked is None else policies.sharing.find(asked)

        def progress(now: float, events: int) -> None:
            line.show(policy.label if policy else "the plan", _fraction(scenario, now), f"{events:,} events")

        result = studies.share.simulate(scenario, policy, timeline=timeline, evenness=evenness, progress=progress)
    _say_idle([result])
    return result


def telling_names(scenario: Scenario) -> list[str]:
    """All policies but those for jobs that end, if the scenario has one that does not."""
    groups, known = policies.sharing.groups, policies.sharing.catalogue.known_names()
    endless = any(application.endless for application in scenario.applications)
    return [name for name in known if not (endless and groups.for_jobs_that_end(name))]


def find_policies(names: Sequence[str], plan: Path | None = None) -> list[Sharing]:
    """Each of the policies named, and before them a plan if there is one."""
    with user_code(), ProgressLine() as line, engine_compiled_meanwhile():
        found = [studies.schedules.follow(plan)] if plan else []
        for name in names:
            line.show(f"loading {name}")
            found.append(policies.sharing.find(name))
        line.show("loading the engine")
        return found


def without_planners(scenario: Scenario, chosen: Sequence[Sharing]) -> list[Sharing]:
    """All policies but those that plan ahead, where a plan leads through several resources."""
    several = len(model.plan.kinds_of(scenario)) > 1 or scenario.platform.targets is not None
    whole = scenario.plan is not None and several
    kept = [policy for policy in chosen if not (whole and policy.prepare)]
    if len(kept) < len(chosen):
        count = len(chosen) - len(kept)
        print(f"{count} policies that plan ahead are left out: on a whole machine they cannot", file=sys.stderr)
    return kept


def run_all(scenario: Scenario, chosen: Sequence[Sharing], *, timeline: bool) -> tuple[Result, ...]:
    """The scenario under each of the policies."""
    with user_code(), ProgressLine() as line:

        def progress(name: str, now: float, events: int) -> None:
            line.show(name, _fraction(scenario, now), f"{events:,} events")

        results = studies.share.compare(scenario, chosen, timeline=timeline, progress=progress)
    _say_idle(results)
    return results


def run_workloads(scenarios: Mapping[str, Scenario], names: Sequence[str]) -> Workloads:
    """Several scenarios under each of the policies."""
    chosen = find_policies(names)
    with user_code(), ProgressLine() as line:

        def progress(name: str, now: float, events: int) -> None:
            line.show(name, None, f"{events:,} events")

        return studies.share.compare(scenarios, chosen, progress=progress)


def find_recommendation(
    scenario: Scenario,
    goal: str | None,
    chosen: Sequence[Sharing],
    results: Sequence[Result],
    *,
    against: str | None,
    variants: int | None,
    workers: int | None,
) -> Recommendation:
    """Which of the policies to take for a goal; `results` tell how many variants are done in some seconds."""
    begun = time.monotonic()
    with user_code(), ProgressLine() as line:

        def progress(done: int, runs: int) -> None:
            left = (time.monotonic() - begun) * (runs - done) / done
            words = f"{done:,} of {runs:,} runs, {report.parts.quantities.duration(left)} left"
            line.show("variants", done / runs, words)

        advice = campaign.recommendation
        events = sum(result.events for result in results)
        return advice.recommend(
            scenario,
            goal,
            chosen,
            against=advice.IN_USE if against is None else against,
            variants=advice.enough_variants(events) if variants is None else variants,
            workers=workers,
            progress=progress,
        )


def time_given(time_limit: str) -> float:
    """What `--time-limit` says, in seconds."""
    try:
        return model.units.quantity(time_limit, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--time-limit {refusal}") from None


def find_optimum(scenario: Scenario, seconds: float) -> Optimum:
    """The exact optimum, or what is found in so many seconds."""
    start = min(application.release for application in scenario.applications)
    begun = time.monotonic()
    with ProgressLine() as line:
        line.show("starting from the known orders")

        def progress(makespan: float, bound: float) -> None:
            gap = studies.optimum.result.gap(makespan, bound, start)
            found = f"{makespan:.6g} s, bound {bound:.6g} s, gap {gap:.2%}"
            line.show("optimum", min(1.0, (time.monotonic() - begun) / seconds) if seconds else None, found)

        return studies.optimum.optimum(scenario, seconds, progress=progress)


def find_reference(scenario: Scenario, budget: int | None, seed: int | None, runs: Sequence[Result] = ()) -> Reference:
    """The best schedule that is known, and what none beats; `runs` that were made before count, too."""
    effort = studies.reference.clairvoyant.Effort()
    trials, drawn = effort.trials if budget is None else budget, effort.seed if seed is None else seed
    with ProgressLine() as line:
        return studies.reference.reference(scenario, trials, drawn, runs=runs, progress=line.show)


def disturbed(scenario: Scenario, noise: float | None, seed: int | None) -> Scenario:
    """The scenario with another noise or another draw of it, where one is given."""
    if noise is not None and not 0.0 <= noise <= 1.0:
        raise InvalidOption(f"--noise is {noise:g}; the noise is a number from 0 to 1")
    if seed is not None and seed < 0:
        raise InvalidOption(f"--seed is {seed}; a seed is a whole number ≥ 0")
    given = {"noise": noise, "seed": seed}
    return scenario.model_copy(update={name: value for name, value in given.items() if value is not None})


def _say_idle(results: Sequence[Result]) -> None:
    """A word on a user's policy that lets nobody move a byte, which a window hides: more likely a slip than a wish."""
    own = [result for result in results if result.sharing.partition("(")[0] not in policies.sharing.NAMES]
    for result in own:
        if result.min_yield < 1.0 and not any(application.transferred for application in result.applications):
            words = "no application could move a byte in the window; a policy writes bytes per second into `rates`"
            print(f"penstock: under {result.sharing} {words}", file=sys.stderr)


def _fraction(scenario: Scenario, now: float) -> float | None:
    window = scenario.window
    return (now - window.begin) / (window.end - window.begin) if window else None
