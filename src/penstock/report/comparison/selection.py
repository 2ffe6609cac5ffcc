"""Which runs of a comparison a report shows first: few, best first, each result once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.model.plan import AS_PLANNED
from penstock.model.tabular import in_words
from penstock.policies.sharing.groups import PRACTICE, for_jobs_that_end
from penstock.report.comparison.summary import LOST, MAKESPAN, MEASURES, MIN_YIELD, RATIO, Measure, best

if TYPE_CHECKING:
    from penstock.metrics.result import Result

MOST = 10
_DIGITS = 9  # of a yield: rounding noise does not make two policies differ


@dataclass(frozen=True)
class Selection:
    """The runs that are shown, best first by `goal`, and what is not shown of the others."""

    runs: Sequence[Result]
    goal: Measure
    same: Mapping[str, Sequence[str]] = field(default_factory=dict)  # policies with the result of one shown, by it
    hidden: int = 0  # more policies, with --all


def goal_of(results: Sequence[Result], metric: str | None = None) -> Measure:
    """What runs are sorted by: a metric, or where jobs come and go the node-hours lost, else the min yield."""
    if metric is None:
        return MIN_YIELD if all(result.closed for result in results) else LOST
    known = next((measure for measure in MEASURES if measure.name == metric), None)
    return known or Measure(metric, in_words(metric), not metric.endswith(("stretch", "lost", "makespan")))


def everything(results: Sequence[Result], metric: str | None = None, recommended: str | None = None) -> Selection:
    """All runs, best first."""
    goal = goal_of(results, metric)
    return Selection(_sorted(results, goal, recommended), goal)


def selection(
    results: Sequence[Result],
    metric: str | None = None,
    recommended: str | None = None,
    *,
    endless: bool = False,
    known: int = 0,
) -> Selection:
    """At most ten runs: what is in use today, and the best of the others.

    Where jobs are endless, orders made for jobs that end are left out. `known` is how many policies there are, should
    not all of them have been run.
    """
    goal = goal_of(results, metric)
    telling = [run for run in results if not (endless and for_jobs_that_end(run.sharing))] or list(results)
    same = _alike(telling)
    once = _sorted([run for run in telling if run.sharing in same], goal, recommended)
    # What the sentences below a table name as best is in it.
    first = [once[best(once, measure)[0]] for measure in (MIN_YIELD, LOST, MAKESPAN, RATIO) if best(once, measure)]
    wanted = [run for run in once if run in first or run.sharing in (*PRACTICE, AS_PLANNED, recommended)]
    others = [run for run in once if run not in wanted][: MOST - len(wanted)]
    shown = [run for run in once if run in wanted or run in others]
    named = {run.sharing: same[run.sharing] for run in shown}
    hidden = max(known, len(results)) - len(shown) - sum(map(len, named.values()))
    return Selection(shown, goal, {name: others for name, others in named.items() if others}, hidden)


def _sorted(results: Sequence[Result], goal: Measure, recommended: str | None) -> list[Result]:
    """Best first; a recommended policy before all, a run without the metric last."""

    def key(run: Result) -> tuple[bool, bool, float, float]:
        value = goal.of(run)
        worth = 0.0 if value is None else -value if goal.highest else value
        return run.sharing != recommended, value is None, worth, run.node_hours_lost

    return sorted(results, key=key)


def _alike(results: Sequence[Result]) -> dict[str, list[str]]:
    """The first policy with each result, and the others that have it, too."""
    firsts: dict[object, str] = {}
    found: dict[str, list[str]] = {}
    for run in results:
        outcome = tuple((f"{one.yield_:.{_DIGITS}g}", f"{one.transferred:.{_DIGITS}g}") for one in run.applications)
        # What a plan says is always worth a row, whatever has the same result.
        first = run.sharing if run.sharing == AS_PLANNED else firsts.setdefault(outcome, run.sharing)
        if first == run.sharing:
            found[first] = []
        else:
            found[first].append(run.sharing)
    return found
