"""What a comparison says, in a few plain sentences, and the judgements that table, plot and page share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import InvalidOption
from penstock.report.parts.quantities import fixed, hours_scale, percent

if TYPE_CHECKING:
    from penstock.metrics.result import Result

_NAMED = 3
_SAME_RESULT = 1e-9


class Measure(NamedTuple):
    """A metric that policies are judged by, and which end of it is the good one."""

    name: str
    words: str
    highest: bool

    def of(self, result: Result) -> float | None:
        """The value of one run, None where the metric does not apply."""
        value: float | None = getattr(result, self.name)
        return value


MIN_YIELD = Measure("min_yield", "min yield", True)
DISTANCE = Measure("distance_to_bound", "below bound", False)
EFFICIENCY = Measure("efficiency", "efficiency", True)
LOST = Measure("node_hours_lost", "node-hours lost", False)
UTILIZATION = Measure("utilization", "utilization", True)
MAX_STRETCH = Measure("max_stretch", "max stretch", False)
MAKESPAN = Measure("makespan", "makespan", False)
RATIO = Measure("ratio_to_optimum", "to optimum", False)
OF_REFERENCE = Measure("share_of_reference", "of reference", True)
MEASURES = (MIN_YIELD, DISTANCE, OF_REFERENCE, LOST, EFFICIENCY, UTILIZATION, MAX_STRETCH, MAKESPAN, RATIO)
OF_CLOSED = (EFFICIENCY, UTILIZATION)  # shares of the whole run: they say little where jobs come and go


def need_runs(results: Sequence[Result]) -> None:
    """Refuse to report on nothing."""
    if not isinstance(results, Sequence):
        raise InvalidOption(f"runs are reported on as a list, such as compare gives, not as a {type(results).__name__}")
    if not results:
        raise InvalidOption("no run was given to report on; a table, plot or report needs at least one.")


def applying(results: Sequence[Result]) -> list[Measure]:
    """The measures that at least one run has, and that say something of all of them."""
    closed = all(result.closed for result in results)
    telling = [measure for measure in MEASURES if closed or measure not in OF_CLOSED]
    return [measure for measure in telling if any(measure.of(result) is not None for result in results)]


def best(results: Sequence[Result], measure: Measure) -> list[int]:
    """Which runs share the best value, by position; none without the metric."""
    values = {i: value for i, result in enumerate(results) if (value := measure.of(result)) is not None}
    if not values:
        return []
    top = max(values.values()) if measure.highest else min(values.values())
    return [i for i, value in values.items() if abs(value - top) <= _SAME_RESULT * max(1.0, abs(top))]


def winners(results: Sequence[Result], measure: Measure) -> set[int]:
    """The runs worth highlighting: the best ones, unless all are equally good."""
    first = best(results, measure)
    return set() if len(first) == len(results) else set(first)


def best_bound(results: Sequence[Result]) -> float:
    """The lowest, and so the best, of the bounds on the minimum yield."""
    bounds = [bound for result in results for bound in (result.bound_min_yield, result.bound_interval)]
    return min(bound for bound in bounds if bound is not None)


def pressure(results: Sequence[Result]) -> float | None:
    """The I/O pressure of the scenario, the same for every policy; None without a window."""
    return next((result.pressure for result in results if result.pressure is not None), None)


def bound_words(results: Sequence[Result]) -> str:
    """The bounds and the pressure in one sentence each."""
    first = results[0]
    parts = []
    if first.bound_min_yield is not None:
        parts.append(f"{fixed(first.bound_min_yield)} (the bytes that the window can carry)")
    why = "each operation between its earliest start and its deadline"
    alone = "every application as if it had the machine to itself"
    parts.append(f"{fixed(first.bound_interval)} ({why if first.resources is None else alone})")
    sentence = f"No policy can beat a min yield of {' or '.join(parts)}."
    weight = pressure(results)
    return sentence if weight is None else f"{sentence} {pressure_words(weight)}"


def pressure_words(weight: float) -> str:
    """The I/O pressure and what it means."""
    meaning = "more I/O than the storage can carry" if weight > 1 else "the storage could carry it all"
    return f"I/O pressure {weight:.3g}: {meaning} if every application ran as if alone."


def summary_lines(results: Sequence[Result], *, some: bool = False) -> list[str]:
    """The recommendation: who was best here, how far from the bound, and how little one scenario proves.

    Of a comparison of which `some` is shown, the best are there, but perhaps not the worst.
    """
    need_runs(results)
    optimum = [_optimum_line(results)] if best(results, RATIO) else []
    optimum += [_reference_line(results)] if best(results, OF_REFERENCE) else []
    if len(results) == 1:
        return [_single(results[0]), *optimum, _CAUTION]
    lines = [_yield_line(results, some), _loss_line(results)]
    if pressure(results) is None:
        lines.append(_makespan_line(results))
    return [*lines, *optimum, _CAUTION]


_CAUTION = (
    "One scenario is one sample: another mix of applications or another I/O pressure can change the order, "
    "so compare several before choosing."
)


def _single(result: Result) -> str:
    return (
        f"{result.sharing} gave a min yield of {fixed(result.min_yield)}{_below(result)} "
        f"and lost {node_hours(result)}; the lowest yield was that of {result.worst}."
    )


def _below(result: Result) -> str:
    bound = best_bound([result])
    if result.distance_to_bound is None:
        return ""
    if result.distance_to_bound < 5e-4:
        return f", as high as any policy could ({fixed(bound)})"
    return f", {percent(result.distance_to_bound)} below the bound of {fixed(bound)} that no policy can beat,"


def _yield_line(results: Sequence[Result], some: bool) -> str:
    first = best(results, MIN_YIELD)
    top = results[first[0]]
    below = _below(top).rstrip(",")
    if len(first) == len(results):
        return f"All policies gave the same min yield: {fixed(top.min_yield)}{below}."
    worst = min(results, key=lambda result: result.min_yield)
    return (
        f"Best min yield here: {_names(results, first)} with {fixed(top.min_yield)}{below}; "
        f"the lowest{' shown' if some else ''} was {worst.sharing} with {fixed(worst.min_yield)}, of {worst.worst}."
    )


def evenness_line(result: Result) -> str:
    """How even yields were over time, for a run that was asked."""
    if result.even_yield is None:
        return "Nobody was there at any time, so there is no yield to be even."
    mean = f"Over time the lowest yield was {fixed(result.even_yield)} on average"
    if result.sliding_min is None:
        return f"{mean}; nobody was there for a quarter of the run."
    return f"{mean}; in its worst quarter of the run somebody spent {percent(result.sliding_min)} usefully."


def node_hours(result: Result) -> str:
    """What a run lost to waiting, and which share of the time there that is."""
    share = "" if result.lost_share is None else f" ({percent(result.lost_share)})"
    return f"{_hours(result.node_hours_lost)} node-hours{share}"


def _hours(value: float) -> str:
    return hours_scale(value).show(value).replace("M", "million").replace("k", "thousand")


def _loss_line(results: Sequence[Result]) -> str:
    first = best(results, LOST)
    top = results[first[0]]
    if len(first) == len(results):
        return f"All policies lost the same: {node_hours(top)}."
    fairest = best(results, MIN_YIELD)
    both = [i for i in first if i in fairest]
    if both:
        return f"Fewest node-hours lost, too: {_names(results, both)} with {node_hours(top)}."
    price = results[fairest[0]].node_hours_lost - top.node_hours_lost
    return (
        f"Fewest node-hours lost: {_names(results, first)} with {node_hours(top)}; choosing "
        f"{results[fairest[0]].sharing} for its min yield costs {_hours(price)} more."
    )


def _makespan_line(results: Sequence[Result]) -> str:
    first = best(results, MAKESPAN)
    if len(first) == len(results):
        return "All policies finished at the same time."
    return f"First to finish everything: {_names(results, first)}."


def _reference_line(results: Sequence[Result]) -> str:
    """How near the best came to what is possible, which lies between the best schedule known and the bound."""
    first = best(results, OF_REFERENCE)
    top = results[first[0]]
    least, most = (percent(share) for share in (top.share_of_bound, top.share_of_reference))
    share = most if least == most else f"between {least} and {most}"
    return f"{_names(results, first)} reached {share} of the highest min yield that is possible here."


def _optimum_line(results: Sequence[Result]) -> str:
    """How near the best came to the shortest exclusive schedule; a ratio is a range where that is not proved."""
    first = best(results, RATIO)
    top = results[first[0]]
    least, most = (fixed(ratio, 3) for ratio in (top.ratio_to_optimum, top.ratio_to_bound))
    times = least if least == most else f"{least} to {most}"
    sentence = f"Shortest makespan here: {_names(results, first)}, {times} times that of the exact optimum"
    if top.ratio_to_bound is not None and top.ratio_to_bound < 1.0 - _SAME_RESULT:
        return f"{sentence}, which serves one operation at a time: sharing can beat it."
    return f"{sentence} (one operation at a time, none interrupted)."


def _names(results: Sequence[Result], chosen: Sequence[int]) -> str:
    names = [results[i].sharing for i in chosen]
    if len(names) > _NAMED:
        names = [*names[:_NAMED], f"{len(names) - _NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
