"""Running for the command line: load, run, and show progress when it takes long."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.user_code import user_code
from penstock.errors import InvalidOption
from penstock.metrics.result import Result
from penstock.model import Scenario, load
from penstock.model.units import Refusal, quantity
from penstock.policies.sharing import Sharing
from penstock.policies.sharing.catalogue import find, known_names, split_names
from penstock.report.parts.quantities import duration
from penstock.studies import share as runs
from penstock.studies.schedules import follow

if TYPE_CHECKING:
    from penstock.campaign.recommendation import Recommendation
    from penstock.studies.optimum import Optimum


def run_one(file: Path, sharing: str | Sharing, noise: float | None, seed: int | None, *, timeline: bool) -> Result:
    """The scenario in `file` under one policy."""
    scenario = disturbed(load(file), noise, seed)
    with user_code(), ProgressLine() as line:
        policy = find(sharing)

        def progress(now: float, events: int) -> None:
            line.show(policy.label, _fraction(scenario, now), f"{events:,} events")

        return runs.simulate(scenario, policy, timeline=timeline, progress=progress)


def find_policies(sharing: str | None = None, plan: Path | None = None) -> list[Sharing]:
    """Each of the policies named, or all, and before them a plan if there is one."""
    with user_code(), ProgressLine() as line:
        policies = [follow(plan)] if plan else []
        for name in known_names() if sharing is None else _names(sharing):
            line.show(f"compiling {name}")
            policies.append(find(name))
        return policies


def run_all(scenario: Scenario, policies: Sequence[Sharing], *, timeline: bool) -> tuple[Result, ...]:
    """The scenario under each of the policies."""
    with user_code(), ProgressLine() as line:

        def progress(name: str, now: float, events: int) -> None:
            line.show(name, _fraction(scenario, now), f"{events:,} events")

        return runs.compare(scenario, policies, timeline=timeline, progress=progress)


def find_recommendation(
    scenario: Scenario,
    goal: str,
    policies: Sequence[Sharing],
    results: Sequence[Result],
    *,
    against: str | None,
    variants: int | None,
    workers: int | None,
) -> Recommendation:
    """Which of the policies to take for a goal; `results` tell how many variants are done in some seconds."""
    from penstock.campaign.recommendation import IN_USE, enough_variants, recommend  # noqa: PLC0415

    begun = time.monotonic()
    with user_code(), ProgressLine() as line:

        def progress(done: int, runs: int) -> None:
            left = (time.monotonic() - begun) * (runs - done) / done
            line.show("variants", done / runs, f"{done:,} of {runs:,} runs, {duration(left)} left")

        return recommend(
            scenario,
            goal,
            policies,
            against=IN_USE if against is None else against,
            variants=enough_variants(sum(result.events for result in results)) if variants is None else variants,
            workers=workers,
            progress=progress,
        )


def time_given(time_limit: str) -> float:
    """What `--time-limit` says, in seconds."""
    try:
        return quantity(time_limit, "seconds")
    except Refusal as refusal:
        raise InvalidOption(f"--time-limit {refusal}") from None


def find_optimum(file: Path, noise: float | None, seed: int | None, seconds: float) -> Optimum:
    """The exact optimum of the scenario in `file`, or what is found in so many seconds."""
    from penstock.studies.optimum import optimum  # noqa: PLC0415 - has a kernel of its own
    from penstock.studies.optimum.result import gap  # noqa: PLC0415

    scenario = disturbed(load(file), noise, seed)
    start = min(application.release for application in scenario.applications)
    begun = time.monotonic()
    with ProgressLine() as line:
        line.show("starting from the known orders")

        def progress(makespan: float, bound: float) -> None:
            found = f"{makespan:.6g} s, bound {bound:.6g} s, gap {gap(makespan, bound, start):.2%}"
            line.show("optimum", min(1.0, (time.monotonic() - begun) / seconds) if seconds else None, found)

        return optimum(scenario, seconds, progress=progress)


def disturbed(scenario: Scenario, noise: float | None, seed: int | None) -> Scenario:
    """The scenario with another noise or another draw of it, where one is given."""
    if noise is not None and not 0.0 <= noise <= 1.0:
        raise InvalidOption(f"--noise is {noise:g}; the noise is a number from 0 to 1")
    if seed is not None and seed < 0:
        raise InvalidOption(f"--seed is {seed}; a seed is a whole number ≥ 0")
    given = {"noise": noise, "seed": seed}
    return scenario.model_copy(update={name: value for name, value in given.items() if value is not None})


def _names(text: str) -> list[str]:
    # An empty name is more likely a slip, or an unset variable of a script, than a wish.
    if not all(map(str.strip, text.split(","))):
        raise InvalidOption(f"--sharing: {text!r} has an empty name; give names as in fcfs,greedy-yield")
    return split_names(text)


def _fraction(scenario: Scenario, now: float) -> float | None:
    window = scenario.window
    return (now - window.begin) / (window.end - window.begin) if window else None
