"""What a task is: options, a function from a case to numbers, and what these numbers mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator

from penstock.campaign.case import Case
from penstock.model.record import Record
from penstock.model.units import Refusal, shown

# By name: a number, a list with a number per application, or None where the metric does not apply.
Value = float | Sequence[float | None] | None
Values = Mapping[str, Value]


def _flag(value: object) -> object:
    if isinstance(value, bool):
        return value
    raise Refusal(f"is {shown(value)}; accepted: true, false")


Flag = Annotated[bool, BeforeValidator(_flag)]


@dataclass(frozen=True)
class Metric:
    """A number that a task gives."""

    name: str
    best: int = 0  # 1: the more the better, -1: the less, 0: neither
    bounds: tuple[str, ...] = ()  # metrics that it cannot pass; the tightest counts
    main: bool = False  # shown where a campaign does not say what to show


def _no_check(options: Any) -> None:
    pass


def _as_given(options: Mapping[str, Any]) -> Mapping[str, Any]:
    return options


@dataclass(frozen=True)
class Task:
    """A named thing to do with a scenario. `run` gives the metrics, the lists, and the `seconds` of the engine."""

    name: str
    options: type[Record]
    metrics: tuple[Metric, ...]
    lists: tuple[str, ...]  # one number per application, kept where a campaign asks for it
    run: Callable[[Case, Any], Values]
    check: Callable[[Any], None] = _no_check  # refuses options; finds policies, which loads their kernels
    of_command: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_given  # options as the command has them

    def metric(self, name: str) -> Metric | None:
        """The metric of that name."""
        return next((metric for metric in self.metrics if metric.name == name), None)


def values_of(result: object, metrics: Sequence[Metric]) -> dict[str, float | None]:
    """The attributes of a result that are metrics, and its seconds."""
    return {name: getattr(result, name) for name in (*(metric.name for metric in metrics), "seconds")}
