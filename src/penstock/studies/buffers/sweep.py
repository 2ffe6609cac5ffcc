"""A study of burst buffers in many runs: several strategies with one capacity, or with capacities from none to plenty.

The smallest buffer that removes all contention, S_opt, is found once. Capacities are multiples of it, dense below it,
where a strategy can do well or badly, and few above, where there is little left to win (P5 §7.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.buffering import NAMES, Strategy, find
from penstock.policies.sharing import Sharing
from penstock.studies.buffers.execution import buffer
from penstock.studies.buffers.result import Buffered
from penstock.studies.buffers.split import Split, split

FACTORS = (*(step / 20 for step in range(21)), 1.25, 1.5, 2.0, 2.5, 3.0)

Asked = str | Strategy | Sharing | Callable[..., Any]
Progress = Callable[[str, float], None]  # what, and how much of all is done


@dataclass(frozen=True)
class Outcome:
    """How a strategy fared with one capacity."""

    strategy: str
    max_stretch: float
    mean_stretch: float
    node_hours_lost: float


@dataclass(frozen=True)
class CapacityPoint:
    """One capacity, what no strategy gets below with it, and what each came to."""

    capacity: float
    factor: float  # of S_opt
    bound_max_stretch: float
    bound_mean_stretch: float
    runs: tuple[Outcome, ...]

    @property
    def best(self) -> Outcome:
        """Whoever has the lowest maximum stretch; of equals, the lowest mean."""
        return min(self.runs, key=lambda run: (run.max_stretch, run.mean_stretch))


@dataclass(frozen=True)
class Sweep:
    """Strategies against capacities; no points where no buffer is needed at all."""

    partition: str
    common: float
    size: float  # S_opt
    points: tuple[CapacityPoint, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        points = [vars(point) | {"runs": [dict(vars(run)) for run in point.runs]} for point in self.points]
        return vars(self) | {"points": points}


@dataclass(frozen=True)
class StrategyComparison:
    """Strategies with one capacity, the lowest maximum stretch first."""

    size: float  # S_opt
    runs: tuple[Buffered, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON form; what is the same for all runs comes first."""
        run = self.runs[0]
        return {
            "capacity": run.capacity,
            "partition": run.partition,
            "common": run.common,
            "size": self.size,
            "bound_max_stretch": run.bound_max_stretch,
            "bound_mean_stretch": run.bound_mean_stretch,
            "runs": [each.to_dict() for each in self.runs],
        }


def sweep_buffer(
    scenario: ScenarioLike,
    strategies: Iterable[Asked] = ("fair",),
    *,
    partition: str = "static",
    common: float | None = None,
    admit: str = "now",
    split: Split | None = None,
    factors: Iterable[float] = FACTORS,
    progress: Progress | None = None,
) -> Sweep:
    """Every strategy with every capacity; `split` is that of the same partition, if it is there already."""
    scenario = as_scenario(scenario)
    shared = _split(scenario, partition, common, split)
    chosen, times = _found(strategies), tuple(factors) if shared.size > 0.0 else ()
    points = []
    for place, factor in enumerate(times):
        runs = []
        for rank, strategy in enumerate(chosen):
            if progress:
                done = (place + rank / len(chosen)) / len(times)
                progress(f"{_name(strategy)}, {factor:g} × S_opt", done)
            runs.append(_run(scenario, factor * shared.size, shared, strategy, admit))
        outcomes = tuple(Outcome(run.strategy, run.max_stretch, run.mean_stretch, run.node_hours_lost) for run in runs)
        bounds = runs[0].bound_max_stretch, runs[0].bound_mean_stretch
        points.append(CapacityPoint(runs[0].capacity, factor, *bounds, outcomes))
    return Sweep(shared.partition, shared.common, shared.size, tuple(points))


def compare_buffers(
    scenario: ScenarioLike,
    capacity: float,
    strategies: Iterable[Asked] = NAMES,
    *,
    partition: str = "static",
    common: float | None = None,
    admit: str = "now",
    split: Split | None = None,
    progress: Progress | None = None,
) -> StrategyComparison:
    """Every strategy with one capacity."""
    scenario = as_scenario(scenario)
    shared = _split(scenario, partition, common, split)
    chosen, runs = _found(strategies), []
    for place, strategy in enumerate(chosen):
        if progress:
            progress(_name(strategy), place / len(chosen))
        runs.append(_run(scenario, capacity, shared, strategy, admit))
    return StrategyComparison(shared.size, tuple(sorted(runs, key=lambda run: (run.max_stretch, run.mean_stretch))))


def _split(scenario: Scenario, partition: str, common: float | None, given: Split | None) -> Split:
    return given or split(scenario, partition, common)


def _found(strategies: Iterable[Asked]) -> list[Strategy | Sharing]:
    chosen = [asked if isinstance(asked, Sharing) else find(asked) for asked in strategies]
    if not chosen:
        raise InvalidOption("there is no strategy to run; give at least one")
    return chosen


def _name(strategy: Strategy | Sharing) -> str:
    return strategy.label if isinstance(strategy, Sharing) else strategy.name


def _run(scenario: Scenario, capacity: float, shared: Split, strategy: Strategy | Sharing, admit: str) -> Buffered:
    return buffer(scenario, capacity, strategy=strategy, admit=admit, split=shared)
