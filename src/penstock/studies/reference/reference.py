"""How much is left: the Python face of `penstock reference`.

Known policies first, then the search that knows the future, then, for few applications, what is exact: each begins with
the best that is known, and only a run of the engine counts as found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib.util import find_spec

import numpy as np

from penstock.engine.program import Program
from penstock.errors import InvalidOption
from penstock.metrics.result import Result
from penstock.model.load import ScenarioLike, as_scenario
from penstock.studies.reference import chain_bound, delays
from penstock.studies.reference.clairvoyant import Effort, search
from penstock.studies.reference.result import GridBound, Reference
from penstock.studies.reference.steering import SteeringPlan, steer
from penstock.studies.share import compare, run_study
from penstock.studies.study import Study

KNOWN = ("fair-share", "greedy-yield", "greedy-com", "credited-yield", "reserve-credit", "reserve-srpt")
MOST_TRIALS = 100_000
_CLOSE = 1e-6  # between schedule and bound: nothing is left to look for
_FIRST = 1e6  # times the length of the run: an offset before which no other counts

Progress = Callable[[str, float | None], None]  # (what is being done, share of it that is done)


def reference(
    scenario: ScenarioLike,
    trials: int = Effort().trials,
    seed: int = 0,
    *,
    runs: Iterable[Result] = (),
    progress: Progress | None = None,
) -> Reference:
    """The best minimum yield that was found for `scenario` by any method, and what no schedule exceeds.

    `trials` ways to go on are tried in each of 50 stretches of the run, drawn from `seed`: the same of both give the
    same schedule. `runs` of it that were made before count, too.

    >>> from penstock import Scenario, reference
    >>> jobs = [{"name": name, "phases": [{"compute": 2}, {"write": 1}, {"compute": 3}]} for name in "ab"]
    >>> document = {"version": 1, "platform": {"bandwidth": 1}, "window": {"end": 6}, "applications": jobs}
    >>> best = reference(Scenario.from_document(document), trials=4)
    >>> round(best.min_yield, 4), round(best.bound, 4) >= round(best.min_yield, 4)
    (0.8333, True)
    """
    if not 1 <= trials <= MOST_TRIALS:
        raise InvalidOption(f"the budget is {trials} trials in each stretch; accepted is 1 to {MOST_TRIALS:,}")
    begun = time.monotonic()
    report = progress or (lambda what, share: None)
    report("known policies", None)
    scenario = as_scenario(scenario).model_copy(update={"plan": None})  # it is about one bandwidth
    study = Study(scenario)
    found = [*runs, *compare(scenario, KNOWN)]
    clairvoyant = None
    if _something_left(study, found):
        clairvoyant = _searched(study, _horizon(study, found), Effort(trials, seed), report)
        found.append(clairvoyant)
    return _bounded(study, found, clairvoyant, Effort(trials, seed), report, begun)


def _searched(study: Study, horizon: float, effort: Effort, report: Progress) -> Result:
    """What the search finds, for each group that shares a bandwidth, as one run."""

    def told(share: float) -> None:
        report("clairvoyant", share)

    plans = {part.program.names: search(study, part, horizon, effort, told) for part in study.parts}
    return run_study(study, steer(plans, "clairvoyant"))


def _top(study: Study) -> float:
    """The better of the bounds that every scenario has."""
    return study.interval_bound if study.volume_bound is None else min(study.interval_bound, study.volume_bound)


def _something_left(study: Study, found: list[Result]) -> bool:
    """Whether the best run so far is below the bound by more than rounding."""
    return max(run.min_yield for run in found) < _top(study) * (1.0 - _CLOSE)


def _bounded(
    study: Study, found: list[Result], clairvoyant: Result | None, effort: Effort, report: Progress, begun: float
) -> Reference:
    """Narrow the gap for few applications, and say what was found."""
    left_out: list[str] = []
    exact = _exact(study, found, left_out, report)
    # Where phases had to be rounded, chains may know more.
    chain = None if exact and exact.aligned else _chain(study, found, left_out, report)
    bounds = {"intervals": _top(study)}
    bounds |= {name: grid.bound for name, grid in (("delays", exact), ("chains", chain)) if grid}
    best = max(found, key=lambda run: run.min_yield)
    lowest = min(bounds, key=lambda name: bounds[name])
    return Reference(
        min_yield=best.min_yield,
        found_by=best.sharing,
        bound=max(bounds[lowest], best.min_yield),
        bound_by=lowest,
        clairvoyant=None if clairvoyant is None else clairvoyant.min_yield,
        trials=effort.trials,
        seed=effort.seed,
        bound_interval=study.interval_bound,
        exact=exact,
        chain=chain,
        left_out=tuple(left_out),
        seconds=time.monotonic() - begun,
        run=best,
    )


def _exact(study: Study, found: list[Result], left_out: list[str], report: Progress) -> GridBound | None:
    """Enumerate delays, and add the schedule to what was found."""
    if why := not_exact(study):
        left_out.append(f"The exact optimum is left out: {why}.")
    if why or not _something_left(study, found):
        return None
    report("exact optimum", None)
    best = delays.exact(study.program, max(run.min_yield for run in found), _top(study))
    if best is None:
        left_out.append("The exact optimum is left out: the coarsest grid has too many combinations of delays.")
        return None
    found.append(run_study(study, steer({study.program.names: plan_of(study.program, best)}, "delays")))
    return GridBound(best.bound, best.slot, best.slots, best.aligned)


def _chain(study: Study, found: list[Result], left_out: list[str], report: Progress) -> GridBound | None:
    """Ask the linear program."""
    if why := not_chained(study):
        left_out.append(f"The chain bound is left out: {why}.")
    if why or not _something_left(study, found):
        return None
    report("chain bound", None)
    best = chain_bound.chain_bound(study.program, max(run.min_yield for run in found), _top(study))
    if best is None:
        left_out.append("The chain bound is left out: the coarsest grid has too many places.")
        return None
    return GridBound(best.bound, best.slot, best.slots, best.aligned)


def not_exact(study: Study) -> str:
    """Why delays cannot be enumerated; empty if they can."""
    program = study.program
    capped = np.flatnonzero(program.limit < program.capacity)
    if len(study.parts) > 1:
        return "applications go through several I/O nodes"
    if len(program.names) > delays.MOST_APPLICATIONS:
        return f"it takes at most {delays.MOST_APPLICATIONS} applications, and there are {len(program.names)}"
    if capped.size:
        owner = int(np.searchsorted(program.first, capped[0], side="right")) - 1
        return f"{program.names[owner]} cannot use the whole bandwidth, and then sharing may beat serving one at a time"
    return "applications have a walltime" if np.isfinite(program.walltime).any() else ""


def not_chained(study: Study) -> str:
    """Why there is no chain bound; empty if there is one."""
    count = len(study.program.names)
    if len(study.parts) > 1:
        return "applications go through several I/O nodes"
    if count > chain_bound.MOST_APPLICATIONS:
        return f"it takes at most {chain_bound.MOST_APPLICATIONS} applications, and there are {count}"
    return "" if find_spec("scipy") else "it needs SciPy; install penstock[buffers]"


def _horizon(study: Study, runs: list[Result]) -> float:
    """How long the run is that the search steers: the window, or what the quickest policy takes."""
    program = study.program
    if program.windowed:
        return program.end - program.begin
    return min(run.end for run in runs) - program.origin


def plan_of(program: Program, exact: delays.Exact) -> SteeringPlan:
    """The schedule of the grid: in each slot one application goes before all others."""
    horizon = exact.slot * exact.slots
    offsets = np.zeros((exact.slots, len(program.names)))
    chosen = np.flatnonzero(exact.served >= 0)
    offsets[chosen, exact.served[chosen]] = -_FIRST * horizon
    return SteeringPlan(exact.slot, horizon, offsets)
