"""steady-reserve as plain Python: the one policy of ours with a memory, so a run needs one of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field

from .policies import Policy, Rates, State, by_posting, fill, in_advance, mean_loss, quantise, shares_of_backlog


@dataclass
class Remembered:
    """What is known of one application."""

    usual: float = 0.0
    seen: float = 0.0
    iteration: float = 0.0
    volume: float = 0.0


@dataclass
class SteadyReserve:
    """Lowest (P + 3V/2B + r - s)/age first, r = V/2B + k·L·H·share."""

    k: float = 1.0
    known: dict[str, Remembered] = field(default_factory=dict)
    before: tuple[float, dict[str, Remembered]] = (-math.inf, {})

    def __call__(self, state: State) -> Rates:
        """One decision, remembered; who is asked again at the same instant forgets what it answered first."""
        now, mean, share = state["now"], mean_loss(state), shares_of_backlog(state)
        if now == self.before[0]:
            self.known = deepcopy(self.before[1])
        else:
            self.before = (now, deepcopy(self.known))
        for flow in state["active"]:
            self.note(flow)
        horizon, keys = self.horizon(now), {}
        for flow in state["active"]:
            # At the release as just after it.
            age = max(now - flow["release"], 1e-100)
            alone = flow["remaining"] / state["capacity"]
            lost = mean * in_advance(horizon, age) if mean >= 1e-9 else 0.0
            worth = alone / 2 + self.k * lost * share[flow["name"]]
            credit = 1.5 * alone + worth - self.usual(flow, now, worth, horizon)
            keys[flow["name"]] = quantise((flow["progress"] + in_advance(credit, age)) / age)
        return fill(sorted(by_posting(state["active"]), key=lambda flow: keys[flow["name"]]), state["capacity"])

    def note(self, flow: State) -> None:
        """Its iteration, and the volume of a new operation."""
        one = self.known.setdefault(flow["name"], Remembered())
        one.iteration = flow.get("omega", 0.0)
        if one.seen < flow["posted"] or one.volume == 0:
            one.volume = flow["remaining"]

    def horizon(self, now: float) -> float:
        """The mean iteration, by volume, of those that were seen within four of their own."""
        lately = [one for one in self.known.values() if now - one.seen < 4 * one.iteration]
        volume = math.fsum(one.volume for one in lately)
        return math.fsum(one.iteration * one.volume for one in lately) / volume if lately else 0.0

    def usual(self, flow: State, now: float, worth: float, horizon: float) -> float:
        """Move what is usual towards the present worth, by how long it has been so."""
        one = self.known[flow["name"]]
        waited = now - max(one.seen, flow["posted"])
        kept = math.exp(-2 * waited / horizon) if waited > 0 and horizon > 0 else 1.0
        one.usual, one.seen = kept * one.usual + (1 - kept) * worth, now
        return one.usual


WITH_MEMORY: dict[str, Callable[[], Policy]] = {"steady-reserve": SteadyReserve}
