"""What a task of a campaign is: options, a function from a case to numbers, and what these numbers mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
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
    check: Callable[[Any], None] = _no_check  # refuses options; loads policies of others, and none of ours
    face: str = ""  # the module of the study, which has kernels
    decisions: tuple[tuple[str, str], ...] = ()  # what policies decide, and the option that names one
    of_command: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_given  # options as the command has them

    def load(self, options: Any) -> None:
        """Load the kernels that a run with these options needs, so that they count for no run."""
        import_module(self.face)
        for decision, option in self.decisions:
            if (name := getattr(options, option)) is not None:
                import_module(f"penstock.policies.{decision}.catalogue").find(name)

    def metric(self, name: str) -> Metric | None:
        """The metric of that name."""
        return next((metric for metric in self.metrics if metric.name == name), None)


def check_policy(decision: str, name: str) -> None:
    """Refuse what finds no policy: by the name alone if it is one of ours, for a campaign is read without Numba."""
    room = import_module(f"penstock.policies.{decision}.catalogue")
    if name.strip() not in room.OURS:
        if not name.strip().startswith("misled"):  # which only its own file can read
            room.check(name)
        room.find(name)


def values_of(result: object, metrics: Sequence[Metric]) -> dict[str, float | None]:
    """The attributes of a result that are metrics, and its seconds."""
    return {name: getattr(result, name) for name in (*(metric.name for metric in metrics), "seconds")}
