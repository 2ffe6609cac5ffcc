"""The eight strategies of P1 §4 and five of our own, each as a plain function from a state document to {name: rate}.

A state is what `decide` takes: capacity, now, begin, end, active operations in scenario order, and those who compute.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .next_event import best_next_event

State = dict[str, Any]
Rates = dict[str, float]
Policy = Callable[[State], Rates]


def quantise(key: float) -> float:
    """Keep 30 significant bits, so that keys that differ by rounding noise compare equal."""
    if math.isinf(key):
        return key
    mantissa, exponent = math.frexp(key)
    return math.ldexp(round(mantissa * 2**30), exponent - 30)


def same_difference(logarithm: float) -> float:
    """The same for a logarithm: 30 bits after the point, since a shorter second moves it but changes no difference."""
    return quantise(round(logarithm * 2**30) / 2**30)


def yield_at(flow: State, time: float, moved: float = 0.0) -> float:
    """Progress over age at `time`, after `moved` more bytes."""
    age = time - flow["release"]
    return float((flow["progress"] + moved / flow["bandwidth"]) / age) if age > 0 else 0.0


def fill(flows: list[State], capacity: float) -> Rates:
    """Give each flow in turn all it can take of what is left; on a whole machine that may exceed its rate alone."""
    rates = {}
    for flow in flows:
        rates[flow["name"]] = min(flow.get("limit", flow["bandwidth"]), capacity)
        capacity -= rates[flow["name"]]
    return rates


def by_posting(flows: list[State]) -> list[State]:
    """Oldest posting first; the sort is stable, so scenario order breaks ties."""
    return sorted(flows, key=lambda flow: quantise(flow["posted"]))


def by_yield(state: State) -> list[State]:
    """Lowest yield first, then oldest posting."""
    return sorted(by_posting(state["active"]), key=lambda flow: quantise(yield_at(flow, state["now"])))


def next_completion(state: State, rates: Rates) -> float | None:
    """Time until the first completion under these rates, or the end of the window; None if neither can come."""
    waits = [f["remaining"] / rates[f["name"]] for f in state["active"] if rates.get(f["name"], 0) > 0]
    if state.get("end") is not None:
        waits.append(state["end"] - state["now"])
    return min(waits, default=None)


def min_yield_after(state: State, rates: Rates, wait: float) -> float:
    """Smallest yield over the active applications after `wait` seconds at these rates."""
    return min(yield_at(f, state["now"] + wait, rates.get(f["name"], 0.0) * wait) for f in state["active"])


def fair_share(state: State) -> Rates:
    """Everyone gets the same fraction of its limit."""
    fraction = min(1.0, state["capacity"] / sum(flow["bandwidth"] for flow in state["active"]))
    return {flow["name"]: fraction * flow["bandwidth"] for flow in state["active"]}


def fcfs(state: State) -> Rates:
    """Oldest posting first."""
    return fill(by_posting(state["active"]), state["capacity"])


def greedy_yield(state: State) -> Rates:
    """Lowest yield first."""
    return fill(by_yield(state), state["capacity"])


def greedy_com(state: State) -> Rates:
    """Shortest remaining transfer first."""
    order = sorted(by_posting(state["active"]), key=lambda flow: quantise(flow["remaining"] / flow["bandwidth"]))
    return fill(order, state["capacity"])


def lookahead_greedy_yield(state: State) -> Rates:
    """Try each application at the head of greedy-yield's order; keep the best minimum yield at the next event."""
    order = by_yield(state)

    def score(rates: Rates) -> float:
        wait = next_completion(state, rates)
        assert wait is not None, "whoever is first gets bandwidth, so something completes"
        return quantise(min_yield_after(state, rates, wait))

    trials = [fill([first, *(f for f in order if f is not first)], state["capacity"]) for first in order]
    return max(trials, key=score)  # max keeps the first of equals: greedy-yield's order


def set_10(state: State) -> Rates:
    """Group by magnitude of the mean iteration; share across sets by priority, FCFS inside (P1 §4.2, extended)."""
    sets: dict[Any, list[State]] = {}
    for flow in state["active"]:
        omega = flow.get("omega")
        sets.setdefault(None if omega is None else round(math.log10(omega)), []).append(flow)
    priority: dict[Any, float] = {n: 10.0**-n for n in sets if n is not None}
    if None in sets:
        priority[None] = max(priority.values(), default=1.0)
    demand = {n: sum(flow.get("limit", flow["bandwidth"]) for flow in flows) for n, flows in sets.items()}
    left, open_sets, budget = state["capacity"], set(sets), dict(demand)
    while open_sets:
        total = sum(priority[n] for n in open_sets)
        share = {n: left * priority[n] / total for n in open_sets}
        limited = {n for n in open_sets if demand[n] <= share[n]}
        if not limited:
            budget.update(share)
            break
        left -= sum(demand[n] for n in limited)
        open_sets -= limited
    rates: Rates = {}
    for n, flows in sets.items():
        rates.update(fill(by_posting(flows), budget[n]))
    return rates


def in_advance(seconds: float, age: float) -> float:
    """At most a quarter of the age counts before it is made, lest a newcomer starves."""
    return min(seconds, age / 4)


def credited_yield(state: State, g: float = 2.0) -> Rates:
    """Lowest (P + g·V/B)/age first; at the release as just after it."""
    now, capacity = state["now"], state["capacity"]

    def key(flow: State) -> tuple[bool, float]:
        return credited(flow, now, g * flow["remaining"] / capacity)

    return fill(sorted(by_posting(state["active"]), key=key), capacity)


def credited(flow: State, now: float, seconds: float) -> tuple[bool, float]:
    """(P + credit)/age; at age 0 a quarter, but for those who bring a progress along, which come last."""
    age = now - flow["release"]
    if age <= 0:
        return flow["progress"] > 0, quantise(flow["progress"] or (0.25 if seconds > 0 else 0.0))
    return False, quantise((flow["progress"] + in_advance(seconds, age)) / age)


def annealed_credit(state: State) -> Rates:
    """The same with g from 11.5 at the beginning of the window down to 1.5 at its end; without a window g = 2."""
    if state.get("end") is None:
        return credited_yield(state, 2.0)
    begin, end = state.get("begin", 0.0), state["end"]
    return credited_yield(state, 1.5 + 10 * (end - state["now"]) / (end - begin))


def mean_loss(state: State) -> float:
    """Mean of 1 - yield over all who are released and not finished; at the release nothing is lost yet."""
    losses = []
    for one in state.get("there") or state["active"] + state.get("computing", []):
        age = state["now"] - one["release"]
        losses.append(1 - one["progress"] / age if age > 0 else 0.0)
    return sum(losses) / len(losses)


def loss_capped_srpt(state: State, c: float = 1.0) -> Rates:
    """Shortest first, less (lost/allowed)^16, what is lost counted as if the operation were over."""
    return by_capped_length(state, c, 0.0)


def by_capped_length(state: State, c: float, left: float) -> Rates:
    """Shortest first below c times the mean loss and, by the share of the backlog, the mean loss for `left` seconds.

    Ages below a tiny one count as that; where nobody has lost anything, who has goes first.
    """
    mean, share = mean_loss(state), shares_of_backlog(state)

    def key(flow: State) -> float:
        length = math.log(flow["remaining"] / flow["bandwidth"])
        age = max(state["now"] - flow["release"], 1e-100)
        lost = age - flow["progress"] - in_advance(flow["remaining"] / state["capacity"], age)
        if lost <= 0:
            return same_difference(length)
        if mean < 1e-9:
            return same_difference(length - 1000)
        allowed = c * mean * age + in_advance(mean * left * share[flow["name"]], age)
        if flow["remaining"] / state["capacity"] * (1 - 1e-9) > age / 4:
            allowed = min(allowed, age / 2)
        return same_difference(length - (lost / allowed) ** 16)

    return fill(sorted(by_posting(state["active"]), key=key), state["capacity"])


def shares_of_backlog(state: State) -> dict[str, float]:
    """Of all bytes that wait, those of each application."""
    backlog = math.fsum(flow["remaining"] for flow in state["active"])
    return {flow["name"]: flow["remaining"] / backlog for flow in state["active"]}


def reserve_credit(state: State, k: float = 1.0, ahead: float = 0.1) -> Rates:
    """Lowest (P + max(k·L·share·left, V/B))/age first, with `ahead` for left/age without a window."""
    mean, share = mean_loss(state), shares_of_backlog(state)

    def key(flow: State) -> tuple[bool, float]:
        age = state["now"] - flow["release"]
        left = ahead * age if state.get("end") is None else max(state["end"] - state["now"], 0.0)
        reserve = k * mean * share[flow["name"]] * left if mean >= 1e-9 else 0.0
        return credited(flow, state["now"], max(reserve, flow["remaining"] / state["capacity"]))

    return fill(sorted(by_posting(state["active"]), key=key), state["capacity"])


def reserve_srpt(state: State, c: float = 1.1, k: float = 1.0) -> Rates:
    """The same with what can be made good until the end of the window."""
    return by_capped_length(state, c, 0.0 if state.get("end") is None else k * (state["end"] - state["now"]))


POLICIES: dict[str, Policy] = {
    "fair-share": fair_share,
    "fcfs": fcfs,
    "greedy-yield": greedy_yield,
    "greedy-com": greedy_com,
    "lookahead-greedy-yield": lookahead_greedy_yield,
    "periodic-greedy-yield": greedy_yield,
    "set-10": set_10,
    "best-next-event": best_next_event,
    "credited-yield": credited_yield,
    "annealed-credit": annealed_credit,
    "loss-capped-srpt": loss_capped_srpt,
    "reserve-credit": reserve_credit,
    "reserve-srpt": reserve_srpt,
}


def rates_of(state: State, sharing: str | Policy) -> Rates:
    """One decision, by name or by function."""
    return (POLICIES[sharing] if isinstance(sharing, str) else sharing)(state)


def decide(state: State, sharing: str | Policy = "fcfs") -> dict[str, Any]:
    """Return the rates, the next predictable event, and the minimum yield there."""
    if not state["active"]:
        return {"rates": {}, "next_event": state.get("end"), "min_yield": None}
    clipped = [flow | {"bandwidth": min(flow["bandwidth"], state["capacity"])} for flow in state["active"]]
    state = state | {"active": clipped}
    rates = rates_of(state, sharing)
    wait = next_completion(state, rates)
    if wait is None:
        return {"rates": rates, "next_event": None, "min_yield": None}
    return {"rates": rates, "next_event": state["now"] + wait, "min_yield": min_yield_after(state, rates, wait)}
