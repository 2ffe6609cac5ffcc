"""The study of one decision: the rates that a policy gives at one moment, and what they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.model import Busy, Moment, Pending
from penstock.policies.sharing import find
from penstock.policies.sharing.asking import ask, improper
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import View, shut
from penstock.studies.study import Policy


@dataclass(frozen=True)
class Decision:
    """Rates by name, the next predictable event under them, and the minimum yield of the active ones then."""

    rates: Mapping[str, float]
    next_event: float | None
    min_yield: float | None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"rates": dict(self.rates), "next_event": self.next_event, "min_yield": self.min_yield}


def decide(moment: Moment | Mapping[str, Any], sharing: Policy = "fair-share") -> Decision:
    """Ask a sharing policy once. The moment may be a plain document.

    >>> job = {"bandwidth": 1, "remaining": 2, "posted": 9, "release": 0}
    >>> active = [{"name": "a", "progress": 9, **job}, {"name": "b", "progress": 4, **job}]
    >>> decide({"capacity": 1, "now": 10, "active": active}, "greedy-yield")
    Decision(rates={'a': 0.0, 'b': 1.0}, next_event=12.0, min_yield=0.5)
    """
    if not isinstance(moment, Moment):
        moment = Moment.checked(moment, lambda _: "the state")
    policy = find(sharing)
    names = tuple(pending.name for pending in moment.active)
    view, rates = view_of(moment, policy.settings_array()), np.zeros(len(names))
    if names:
        view = view._replace(memory=policy.initial_memory(len(names), foresight_of(moment, view)))
        ask(policy, view, rates)
    if problem := improper(policy, names, view, rates):
        raise PolicyError(problem)
    return Decision(dict(zip(names, rates.tolist(), strict=True)), *_outcome(view, rates))


def foresight_of(moment: Moment, view: View) -> Foresight:
    """What a moment tells of the future: the operations posted, and what each application says it has left."""
    count = len(moment.active)
    seconds = view.remaining / view.limit
    return Foresight(
        names=tuple(pending.name for pending in moment.active),
        start=view.posted,
        first=np.arange(count + 1),
        work=np.zeros(count),
        seconds=seconds,
        rest=np.array([pending.left for pending in moment.active]),
        operations=np.ones(count),
        mean_work=np.nan_to_num(np.maximum(0.0, view.omega - seconds)),
        mean_seconds=seconds,
    )


def view_of(moment: Moment, settings: Floats) -> View:
    """The View of a moment, rows in the order given."""
    active = moment.active

    def column(name: str) -> Floats:
        return np.array([getattr(pending, name) for pending in active], dtype=np.float64)

    limit = np.minimum(column("bandwidth"), moment.capacity)
    view = View(
        now=moment.now,
        begin=moment.begin,
        end=np.inf if moment.end is None else moment.end,
        capacity=moment.capacity,
        application=np.arange(len(active)),
        nodes=column("nodes"),
        limit=limit,
        remaining=column("remaining"),
        posted=column("posted"),
        release=column("release"),
        progress=column("progress"),
        omega=column("omega"),
        rate=np.array([pending.rate or 0.0 for pending in active]),
        confidence=np.ones(len(active)),
        bandwidth=limit,
        settings=settings,
        memory=np.zeros(0),
        key=np.zeros(len(active)),
        rows=np.zeros(len(active), np.int64),
        mean_loss=_mean_loss(moment),
    )
    return shut(view)


def _mean_loss(moment: Moment) -> float:
    """The mean of 1 - yield over all that the moment tells of; who has just been released has lost nothing."""
    everyone: list[Pending | Busy] = [*moment.active, *moment.computing]
    ages = [moment.now - each.release for each in everyone]
    losses = [1.0 - each.progress / age for each, age in zip(everyone, ages, strict=True) if age > 0.0]
    return sum(losses) / max(1, len(everyone))


def _outcome(view: View, rates: Floats) -> tuple[float | None, float | None]:
    """When the next predictable event is, and the lowest yield then."""
    with np.errstate(divide="ignore", over="ignore"):
        soonest = min((view.remaining / rates).min(initial=np.inf), view.end - view.now)
    if not np.isfinite(soonest):
        return None, None
    then = float(view.now + soonest)
    if not rates.size:
        return then, None
    yields = (view.progress + rates * soonest / view.limit) / (view.now - view.release + soonest)
    return then, float(yields.min())
