"""Best next event (P1 §4.3): which completion, and when, gives the best minimum yield, and with which rates.

Fix the application k that completes at t+u (or nobody, for the end of the window). Flow i has b alone, limit l (b, but
on a whole machine), volume V, progress T and age a, and x ≤ min(l·u, V) more bytes bring it to the yield
(T + x/b)/(a + u). Some yield y is within everyone's reach exactly when y respects every one of these ceilings:

- of each flow i:   (T + u·l/b)/(a + u) while l·u < V, else (T + V/b)/(a + u);
- of k:             (T + V/b)/(a + u);
- of the capacity:  b·(y·(a + u) − T), summed over the flows for which it is positive, is at most B·u − V_k. A sum of
  positive parts is the largest of its subset sums, so for every subset y ≤ (B·u − V_k + Σ b·T)/Σ b·(a + u); the
  subset that binds holds the flows of lowest T/(a + u), so prefixes of that order are enough.

The best minimum yield at u is the lowest ceiling. Every ceiling holds at every u, and each is a ratio of two linear
functions of u, hence rising everywhere, falling everywhere, or constant. So where the lowest ceiling rises, what lies
to the left is under it and worse, and the peak is to the right; where it falls, the peak is to the left; where it is
constant, this is the peak. Bisection on that sign finds the peak. Beyond max(Σ V/B, max V/b) everyone could have
completed and all yields only fall, so the search has a right end even without a window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

TIE = 1e-9
FLAT = 1e-9


@dataclass(frozen=True)
class Flow:
    """One active operation."""

    name: str
    limit: float
    alone: float  # b, by which progress is reckoned; the limit, but on a whole machine
    volume: float
    progress: float
    age: float

    def capped(self, u: float) -> bool:
        """Whether the limit, not the volume, bounds what it can move in u seconds."""
        return self.limit * u < self.volume

    def full(self) -> float:
        """Progress once the operation is complete."""
        return self.progress + self.volume / self.alone


@dataclass(frozen=True)
class Ceiling:
    """An upper bound on the minimum yield, whether it rises (1), falls (-1) or stays (0) with u, and whose it is."""

    level: float
    slope: int
    owner: Flow | None = None


@dataclass(frozen=True)
class Candidate:
    """An event to aim at: the minimum yield there, how far away it is, and who completes."""

    level: float
    u: float
    completing: Flow | None


def compare(rise: float, fall: float) -> int:
    """Sign of the difference, 0 within rounding noise."""
    if abs(rise - fall) <= FLAT * max(abs(rise), abs(fall)):
        return 0
    return 1 if rise > fall else -1


def lowest_ceiling(flows: list[Flow], bandwidth: float, owed: float, u: float) -> Ceiling:
    """Find the ceiling that binds `flows` after u seconds with bandwidth·u − owed bytes to share."""
    ceilings = []
    for flow in flows:
        if flow.capped(u):
            pace = flow.limit / flow.alone
            level = (flow.progress + pace * u) / (flow.age + u)
            ceilings.append(Ceiling(level, compare(pace * flow.age, flow.progress), flow))
        else:
            ceilings.append(Ceiling(flow.full() / (flow.age + u), -1, flow))
    weight = done = age = 0.0
    for flow in sorted(flows, key=lambda flow: flow.progress / (flow.age + u)):
        weight += flow.alone
        done += flow.alone * flow.progress
        age += flow.alone * flow.age
        level = (max(0.0, bandwidth * u - owed) + done) / (age + weight * u)
        ceilings.append(Ceiling(level, compare(bandwidth * age + weight * owed, weight * done)))
    return min(ceilings, key=lambda ceiling: ceiling.level)


def peak(flows: list[Flow], capacity: float, k: Flow, room: float) -> Candidate | None:
    """Find the earliest best moment for k to complete, or None if it cannot complete within `room` seconds."""
    first = k.volume / min(k.limit, capacity)  # interference may leave less than its limit
    last = min(room, max(sum(f.volume for f in flows) / capacity, *(f.volume / f.limit for f in flows)))
    if first > last:
        return None
    others = [flow for flow in flows if flow is not k]

    def lowest(u: float) -> Ceiling:
        own = Ceiling(k.full() / (k.age + u), -1)
        return min(own, lowest_ceiling(others, capacity, k.volume, u), key=lambda ceiling: ceiling.level)

    if lowest(first).slope <= 0:
        return Candidate(lowest(first).level, first, k)
    if lowest(last).slope > 0:
        return Candidate(lowest(last).level, last, k)
    while first < (middle := (first + last) / 2) < last:
        if lowest(middle).slope > 0:
            first = middle
        else:
            last = middle
    return Candidate(lowest(last).level, last, k)


def best_candidate(flows: list[Flow], capacity: float, room: float) -> Candidate:
    """Highest minimum yield; of equals the earliest; of simultaneous ones the window's end, then scenario order."""
    found = [peak(flows, capacity, k, room) for k in flows]
    candidates = [candidate for candidate in found if candidate]
    if room < float("inf"):
        candidates.insert(0, Candidate(lowest_ceiling(flows, capacity, 0.0, room).level, room, None))
    best = max(candidate.level for candidate in candidates)
    tied = [candidate for candidate in candidates if candidate.level >= best * (1 - TIE)]
    earliest = min(candidate.u for candidate in tied)
    return next(candidate for candidate in tied if candidate.u <= earliest * (1 + TIE))


def even_rates(flows: list[Flow], left: float, u: float) -> dict[str, float]:
    """Raise all yields at u together; whoever meets its own ceiling stays there: the lexicographic optimum."""
    rates: dict[str, float] = {}
    free = list(flows)
    while free:
        lowest = lowest_ceiling(free, left, 0.0, u)
        if lowest.owner is None:
            for flow in free:
                rates[flow.name] = flow.alone * max(0.0, lowest.level * (flow.age + u) - flow.progress) / u
            break
        flow = lowest.owner
        rates[flow.name] = min(flow.limit, flow.volume / u)
        left = max(0.0, left - rates[flow.name])
        free.remove(flow)
    return rates


def flows_of(state: dict[str, Any]) -> list[Flow]:
    """Read the active operations of a state document."""
    return [
        Flow(
            f["name"],
            min(f.get("limit", f["bandwidth"]), state["capacity"]),
            f["bandwidth"],
            f["remaining"],
            f["progress"],
            state["now"] - f["release"],
        )
        for f in state["active"]
    ]


def best_next_event(state: dict[str, Any]) -> dict[str, float]:
    """Rates that make the minimum yield at the best predictable event as high as it can be."""
    flows, capacity = flows_of(state), state["capacity"]
    if sum(flow.limit for flow in flows) <= capacity:
        return {flow.name: flow.limit for flow in flows}
    room = float("inf") if state.get("end") is None else state["end"] - state["now"]
    chosen = best_candidate(flows, capacity, room)
    k = chosen.completing
    if k is None:
        return even_rates(flows, capacity, chosen.u)
    rates = even_rates([f for f in flows if f is not k], max(0.0, capacity - k.volume / chosen.u), chosen.u)
    return rates | {k.name: min(k.limit, k.volume / chosen.u)}
