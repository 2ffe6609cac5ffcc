"""Burst buffers the long way (P5): the literal linear programs, a checker of schedules, and strategy G step by step.

Everything is counted per application as totals since the beginning: bytes it has written or read when every phase runs
at its own full speed (W_k^∞, R_k^∞), and bytes that have gone to or come from the file system. A buffer holds what was
written but not yet drained, and what was fetched but not yet read. Takes a valid document with bare numbers, without
window and noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from math import inf
from typing import Any

import numpy as np
from scipy.optimize import linprog, nnls
from scipy.sparse import csr_matrix

from .engine import TOLERANCE, Document, unroll

HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
Limits = tuple[float, float, float]  # B_r, B_w, joint B
Shares = dict[str, float]
TOTALS = ("produced", "sent", "fetched", "consumed")


def limits_of(document: Document) -> Limits:
    """B_r, B_w and the joint B; infinite where there is no such limit."""
    platform = document["platform"]
    joint, read, write = (platform.get(key) for key in ("bandwidth", "read_bandwidth", "write_bandwidth"))
    whole = inf if joint is None else float(joint)
    return whole if read is None else float(read), whole if write is None else float(write), whole


def port_of(document: Document) -> float:
    """B_BB: how fast the buffer itself is, in and out together; infinite where nothing is said."""
    port = (document["platform"].get("burst_buffer") or {}).get("bandwidth")
    return inf if port is None else float(port)


def caps_of(document: Document, app: Document) -> tuple[float, float]:
    """How fast the application itself can read and write; the file system may be slower."""
    read_limit, write_limit, _ = limits_of(document)
    node = document["platform"].get("node_bandwidth")

    def cap(direction: str, limit: float) -> float:
        for own in (app.get(f"{direction}_bandwidth"), app.get("bandwidth")):
            if own is not None:
                return float(own)  # not clipped either: it would hide the bursts that the buffer is there for
        return limit if node is None else (app.get("nodes") or 1) * float(node)

    skew = app.get("node_skew") or 1.0  # the slowest node moves that many times the mean
    return cap("read", read_limit) / skew, cap("write", write_limit) / skew


@dataclass
class Demand:
    """What an application asks for at full speed: totals at the times when its pace changes."""

    name: str
    times: list[float]
    read: list[float]
    written: list[float]

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R_k^∞ and W_k^∞ at these times."""
        return np.interp(times, self.times, self.read), np.interp(times, self.times, self.written)


def demands_of(document: Document) -> list[Demand]:
    """The demand of every application; it runs from the first of its times (release) to the last (C_min)."""
    demands = []
    for app in document["applications"]:
        caps = dict(zip(("read", "write"), caps_of(document, app), strict=True))
        demand = Demand(app["name"], [float(app.get("release") or 0.0)], [0.0], [0.0])
        for kind, amount in unroll(app["phases"]):
            if amount > 0:
                demand.times.append(demand.times[-1] + (amount if kind == "compute" else amount / caps[kind]))
                demand.read.append(demand.read[-1] + (amount if kind == "read" else 0.0))
                demand.written.append(demand.written[-1] + (amount if kind == "write" else 0.0))
        demands.append(demand)
    return demands


def volume_of(demands: Iterable[Demand]) -> float:
    """All bytes that will ever move."""
    return sum(demand.read[-1] + demand.written[-1] for demand in demands)


def merged(times: Iterable[float]) -> np.ndarray:
    """The times in order; what lies within 1e-9 of the span after one that is kept is dropped."""
    ordered = sorted(times)
    kept = ordered[:1]
    for time in ordered:
        if time - kept[-1] > TOLERANCE * (ordered[-1] - ordered[0]):
            kept.append(time)
    return np.array(kept)


def events_of(demands: Iterable[Demand]) -> np.ndarray:
    """Every time at which a pace changes."""
    return merged(time for demand in demands for time in demand.times)


class Program:
    """The linear program of P5 §6.2 and §6.3, in units of the total volume so that tolerances mean something.

    Columns: for each application the total sent to the file system at each event, then the total fetched from it; then
    S_k for each application; then S. What is fetched before the first event is free: there was all the time before.
    With a port, six more for each application and interval: into the buffer, out of it and straight past it, of what it
    writes and of what it reads.
    """

    def __init__(self, document: Document, partition: str, lead: float = inf) -> None:
        self.demands = demands_of(document)
        self.apps = range(len(self.demands))
        self.entries = [demand.times[0] - lead for demand in self.demands]  # before that nothing is fetched
        times = [time for demand in self.demands for time in demand.times]
        self.events = merged([*times, *(entry for entry in self.entries if entry > -inf)])
        self.unit = volume_of(self.demands) or 1.0
        self.curves = [[curve / self.unit for curve in demand.at(self.events)] for demand in self.demands]
        self.size = (2 * len(self.events) + 1) * len(self.apps)
        self.rows: list[dict[int, float]] = []
        self.room: list[float] = []
        self.limit_flows(limits_of(document))
        (self.share_statically if partition == "static" else self.share_dynamically)()
        self.columns = self.size + 1
        if port_of(document) < inf:
            self.limit_port(port_of(document))

    def sent(self, k: int, event: int) -> int:
        """The column of w_k at an event."""
        return 2 * k * len(self.events) + event

    def fetched(self, k: int, event: int) -> int:
        """The column of r_k at an event."""
        return (2 * k + 1) * len(self.events) + event

    def share(self, k: int) -> int:
        """The column of S_k."""
        return self.size - len(self.apps) + k

    def need(self, row: dict[int, float], room: float) -> None:
        """Add the constraint row · columns ≤ room."""
        self.rows.append(row)
        self.room.append(room)

    def limit_flows(self, limits: Limits) -> None:
        """Totals never fall, and no interval carries more than the limits allow."""
        for event, seconds in enumerate(np.diff(self.events)):
            steps = [
                [{column(k, event + 1): 1.0, column(k, event): -1.0} for k in self.apps]
                for column in (self.fetched, self.sent)
            ]
            for step in chain(*steps):
                self.need({column: -sign for column, sign in step.items()}, 0.0)
            for limit, carried in zip(limits, (steps[0], steps[1], steps[0] + steps[1]), strict=True):
                if limit < inf:
                    self.need(dict(chain(*(step.items() for step in carried))), limit * seconds / self.unit)

    def equal(self, row: dict[int, float], amount: float) -> None:
        """Add the constraint row · columns = amount."""
        self.need(row, amount)
        self.need({column: -value for column, value in row.items()}, -amount)

    def limit_port(self, port: float) -> None:
        """Four kinds of flows cross the port: application → buffer → file system → buffer → application."""
        for event, seconds in enumerate(np.diff(self.events)):
            crossing: dict[int, float] = {}
            for k in self.apps:
                read, written = (float(np.diff(curve)[event]) for curve in self.curves[k])
                saved, drained, past, staged, taken, direct = range(self.columns, self.columns + 6)
                self.columns += 6
                self.equal({saved: 1.0, past: 1.0}, written)
                sent = {self.sent(k, event + 1): -1.0, self.sent(k, event): 1.0}
                self.equal({drained: 1.0, past: 1.0} | sent, 0.0)
                fetched = {self.fetched(k, event + 1): -1.0, self.fetched(k, event): 1.0}
                self.equal({staged: 1.0, direct: 1.0} | fetched, 0.0)
                self.equal({taken: 1.0, direct: 1.0}, read)
                crossing |= dict.fromkeys((saved, drained, staged, taken), 1.0)
            self.need(crossing, port * seconds / self.unit)

    def need_space(self, holding: Iterable[int], event: int, space: dict[int, float]) -> None:
        """What these applications hold at an event fits into `space`, given with its signs on the left side."""
        row, known = dict(space), 0.0
        for k in holding:
            row |= {self.sent(k, event): -1.0, self.fetched(k, event): 1.0}
            known += self.curves[k][1][event] - self.curves[k][0][event]
        self.need(row, -known)

    def share_dynamically(self) -> None:
        """Only the sum of what is held counts."""
        for event in range(len(self.events)):
            self.need_space(self.apps, event, {self.size: -1.0})

    def share_statically(self) -> None:
        """Each interval pays S_k for those that run in it and, at both its ends, what the others hold."""
        ends = [[int(np.argmin(abs(self.events - time))) for time in (d.times[0], d.times[-1])] for d in self.demands]
        for k, (first, last) in enumerate(ends):
            for event in range(first, last + 1):
                self.need_space([k], event, {self.share(k): -1.0})
        for interval in range(len(self.events) - 1):
            # Before and after its run an application is charged what it holds, which is linear in the interval, and not
            # the larger of the two ends: one that drains hands its space over to one that stages in.
            running = [k for k, (first, last) in enumerate(ends) if first <= interval < last]
            for event in (interval, interval + 1):
                paid = {self.share(k): 1.0 for k in running} | {self.size: -1.0}
                self.need_space(set(self.apps) - set(running), event, paid)

    def matrix(self) -> csr_matrix:
        """All rows."""
        cells = [(i, column, value) for i, row in enumerate(self.rows) for column, value in row.items()]
        at, columns, values = zip(*cells, strict=True)
        return csr_matrix((values, (at, columns)), shape=(len(self.rows), self.columns))

    def bounds(self) -> list[tuple[float, float]]:
        """Nothing is sent before it is written, all is fetched when it is read; no buffer exceeds all there is."""
        pairs: list[tuple[float, float]] = []
        grain = TOLERANCE * (self.events[-1] - self.events[0])
        for (read, written), entry in zip(self.curves, self.entries, strict=True):
            pairs += [(0.0, high) for high in written]
            late = [time > entry + grain for time in self.events]
            pairs += [(low, read[-1] if may else 0.0) for low, may in zip(read, late, strict=True)]
        return pairs + [(0.0, 1.0)] * (len(self.apps) + self.columns - self.size)


def literal_lp(document: Document, partition: str, lead: float = inf) -> Any:
    """Size, shares, schedule and the size below which, as the dual proves, nothing will do; small instances only.

    Everything may be sent after the last event and, without a lead, be fetched before the first: always feasible then.
    With one, or with a port, None if no size is enough.
    """
    if partition == "isolated":
        alone = {
            app["name"]: literal_lp(document | {"applications": [app]}, "dynamic", lead)
            for app in document["applications"]
        }
        if None in alone.values():
            return None
        largest = max(alone.values(), key=lambda found: found["size"])
        return largest | {"partition": partition, "shares": {name: found["size"] for name, found in alone.items()}}
    program = Program(document, partition, lead)
    rows, room, bounds = program.matrix(), np.array(program.room), np.array(program.bounds())
    cost = np.zeros(program.columns)
    cost[program.size] = 1.0
    result = linprog(cost, A_ub=rows, b_ub=room, bounds=bounds, method="highs-ds", options=HIGHS)
    if (lead < inf or port_of(document) < inf) and result.status == 2:
        return None
    assert result.status == 0, result.message
    # Any multipliers ≤ 0 of the rows prove a bound, however they were found.
    prices = np.minimum(result.ineqlin.marginals, 0.0)
    reduced = cost - rows.T @ prices
    proved = room @ prices + np.minimum(reduced * bounds[:, 0], reduced * bounds[:, 1]).sum()
    names = [demand.name for demand in program.demands]
    *totals, shares = np.split(
        result.x[: program.size] * program.unit, np.arange(1, 2 * len(names) + 1) * len(program.events)
    )
    schedule = {
        "events": program.events.tolist(),
        "before": {name: float(read[0]) for name, read in zip(names, totals[1::2], strict=True)},
        "written": {name: np.diff(sent).tolist() for name, sent in zip(names, totals[::2], strict=True)},
        "read": {name: np.diff(read).tolist() for name, read in zip(names, totals[1::2], strict=True)},
    }
    found = {"partition": partition, "size": float(result.fun) * program.unit, "certificate": proved * program.unit}
    # Without fixed shares what each one holds is an accident of the solver's path.
    fixed = dict(zip(names, shares.tolist(), strict=True)) if partition == "static" else {}
    return found | {"shares": fixed, "schedule": schedule}


def fairest_shares(document: Document, size: float) -> Shares:
    """The S_k with the least Σ S_k² that a buffer of this size allows, by cuts.

    How far every row must give way for some S_k is convex in them, with its slope in the multipliers: a cut. The point
    nearest to 0 that satisfies all cuts is one non-negative least-squares problem.
    """
    program = Program(document, "static")
    rows, first = program.matrix(), program.share(0)
    flows, shared = rows[:, :first], rows[:, first : program.size].toarray()
    room = np.array(program.room) - rows[:, program.size].toarray()[:, 0] * (size / program.unit)
    elastic = csr_matrix(np.hstack([flows.toarray(), -np.ones((len(room), 1))]))
    bounds = [*program.bounds()[:first], (0.0, None)]
    cost = np.append(np.zeros(first), 1.0)
    shares = np.zeros(len(program.demands))
    cuts: list[np.ndarray] = []
    heights: list[float] = []
    for _ in range(500):
        result = linprog(cost, A_ub=elastic, b_ub=room - shared @ shares, bounds=bounds, options=HIGHS)
        assert result.status == 0, result.message
        if result.fun <= 1e-10:
            return {d.name: float(s) * program.unit for d, s in zip(program.demands, shares, strict=True)}
        gain = shared.T @ result.ineqlin.marginals  # by how much one more unit of each share helps
        cuts.append(gain)
        heights.append(result.fun + gain @ shares)
        shares = nearest_to_zero(np.array(cuts), np.array(heights))
    raise AssertionError("the cuts do not settle")


def nearest_to_zero(cuts: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """The shortest x with cuts · x ≥ heights (Lawson and Hanson, least distance programming)."""
    stacked = np.vstack([cuts.T, heights])
    target = np.append(np.zeros(cuts.shape[1]), 1.0)
    weights, _ = nnls(stacked, target, maxiter=10000)
    rest = stacked @ weights - target
    return np.asarray(-rest[:-1] / rest[-1])


def verify(document: Document, schedule: Document, sizes: Document, tolerance: float = 1e-7) -> list[str]:
    """Every constraint that the schedule breaks, in words; `tolerance` is relative to the total volume.

    A schedule has `events`, bytes fetched `before` the first, and bytes `written` and `read` between events, spread
    evenly. Its events need not be those of the demands: all is looked at where either may bend.
    """
    demands = demands_of(document)
    slack = tolerance * volume_of(demands)
    own = np.array(schedule["events"], dtype=float)
    times = merged([*own, *events_of(demands)])
    broken: list[str] = []

    def expect(rule: str, excess: np.ndarray, where: np.ndarray) -> None:
        pairs = zip(where, excess, strict=True)
        broken.extend(f"{rule} at {time:.6g}: {over:.6g} too much" for time, over in pairs if over > slack)

    moved = {"read": np.zeros(len(times)), "write": np.zeros(len(times))}
    usage = {}
    for demand in demands:
        read, written = demand.at(times)
        totals = {}
        for kind, amounts, start in (("read", "read", schedule["before"][demand.name]), ("write", "written", 0.0)):
            given = np.array(schedule[amounts][demand.name], dtype=float)
            expect(f"{demand.name}: {amounts} falls", -np.append(start, given), own)
            totals[kind] = np.interp(times, own, np.cumsum(np.append(start, given)))
            moved[kind] += totals[kind]
        expect(f"{demand.name}: sent before written", totals["write"] - written, times)
        expect(f"{demand.name}: read before fetched", read - totals["read"], times)
        expect(f"{demand.name}: fetched more than it reads", totals["read"] - read[-1], times)
        usage[demand.name] = written - totals["write"] + totals["read"] - read
    carried = {"B_r": moved["read"], "B_w": moved["write"], "B": moved["read"] + moved["write"]}
    for (rule, total), limit in zip(carried.items(), limits_of(document), strict=True):
        if limit < inf:
            expect(rule, np.diff(total) - limit * np.diff(times), times[:-1])
    for rule, excess, where in over_size(demands, usage, times, sizes):
        expect(rule, excess, where)
    return broken


def over_size(
    demands: list[Demand], usage: dict[str, np.ndarray], times: np.ndarray, sizes: Document
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """By how much buffers overflow, under the partition that `sizes` names."""
    if sizes["partition"] == "dynamic":
        return [("S", sum(usage.values()) - sizes["size"], times)]
    shares, checks = sizes["shares"], []
    taken = np.zeros((2, len(times) - 1))  # at the two ends of each interval
    middle = (times[:-1] + times[1:]) / 2
    for demand in demands:
        held, share = usage[demand.name], shares[demand.name]
        grain = TOLERANCE * (times[-1] - times[0])
        inside = (times >= demand.times[0] - grain) & (times <= demand.times[-1] + grain)
        checks.append((f"{demand.name}: S_k", held[inside] - share, times[inside]))
        runs = (middle > demand.times[0]) & (middle < demand.times[-1])
        taken += np.where(runs, share, np.array([held[:-1], held[1:]]))
    return [*checks, ("S", taken.max(axis=0) - sizes["size"], times[:-1])]


@dataclass
class Flow:
    """Bytes per second between a buffer and the file system, or (kind "app") between an application and its buffer.

    `under`: never faster than those other flows together. `crossing`: how often its bytes pass the buffer's own port.
    """

    kind: str
    cap: float
    under: list[Flow] | None = None
    rate: float | None = None
    crossing: int = 0


def fill(flows: list[Flow], limits: tuple[float, ...]) -> None:
    """Raise all rates together; a flow stops at its cap, at those it must stay under, or when a limit is reached."""
    weights = [
        lambda flow: flow.kind == "read",
        lambda flow: flow.kind == "write",
        lambda flow: flow.kind in ("read", "write"),
        lambda flow: flow.crossing,
    ]
    while rising := [flow for flow in flows if flow.rate is None]:
        bounds = {id(flow): flow.cap for flow in rising}
        for limit, weight in zip(limits, weights, strict=False):
            spent = sum(weight(flow) * flow.rate for flow in flows if flow.rate is not None)
            count = sum(weight(flow) for flow in rising)
            for flow in rising:
                if weight(flow):
                    bounds[id(flow)] = min(bounds[id(flow)], max(0.0, limit - spent) / count)
        for flow in rising:
            # What a flow may not take because of those above it is left to the others, as with any other cap.
            if flow.under is not None and all(above.rate is not None for above in flow.under):
                bounds[id(flow)] = min(bounds[id(flow)], sum(above.rate or 0.0 for above in flow.under))
        level = min(bounds.values())
        for flow in rising:
            if bounds[id(flow)] <= level:
                flow.rate = level


def fill_disturbed(asked: list[list[Flow]], limits: tuple[float, ...], efficiencies: list[float]) -> None:
    """The same with what k applications that move at once leave of the file system: as few as do, never more again."""
    share_of = [efficiencies[min(k, len(efficiencies)) - 1] for k in range(1, len(asked) + 2)]
    outside = [[flow for flow in flows if flow.kind != "app"] for flows in asked]
    k = max(1, sum(any(flow.cap > 0 for flow in flows) for flows in outside))
    found = None
    while True:
        for flow in chain(*asked):
            flow.rate = None
        fill([*chain(*asked)], (*(share_of[k - 1] * limit for limit in limits[:3]), *limits[3:]))
        moving = max(1, sum(any((flow.rate or 0.0) > 1e-9 * flow.cap for flow in flows) for flows in outside))
        if found is not None and moving > k and share_of[moving - 1] < share_of[k - 1]:
            for flow, rate in zip(chain(*asked), found, strict=True):
                flow.rate = rate
            return
        if moving >= k:
            return
        k, found = moving, [flow.rate for flow in chain(*asked)]


BELOW, AT, OVER = "below", "at", "over"


@dataclass
class Common:
    """The part of the buffer that anybody may use whose own part is full; without any bytes it is full for ever."""

    size: float
    full: bool = False
    emptying: bool = False  # whether it holds less and less, as things stand

    def __post_init__(self) -> None:
        self.full = self.size == 0

    def transition(self, jobs: list[Job]) -> tuple[float, float]:
        """How much it can still take, and how fast that shrinks."""
        return self.size - sum(job.excess() for job in jobs), sum(job.taking() for job in jobs)

    def settle(self, jobs: list[Job], now: float) -> bool:
        """Find it full at this instant, or not."""
        missing, pace = self.transition(jobs)
        fills = not self.full and pace > 0 and missing <= pace * TOLERANCE * abs(now - jobs[0].begin)
        self.full |= fills
        return fills

    def due(self, jobs: list[Job], now: float) -> list[float]:
        """When it is full, as things stand."""
        missing, pace = self.transition(jobs)
        return [now + missing / pace] if pace > 0 and not self.full else []

    def hand_over(self, jobs: list[Job]) -> None:
        """Share what others make free of it among those who write into a full buffer, beside what the PFS gives them.

        If nobody writes, those without a part of their own fetch ahead, all together no faster than it is made free.
        Otherwise nobody else fills it, so that what is made free is a sum without negative terms: no rounding in it.
        """
        growth = sum(job.taking() for job in jobs)
        fetchers = [job for job in jobs if job.pooled and job.doing != "read"]
        fetched = sum(job.rates["fetched"] for job in fetchers)
        if self.full and growth > 0 and fetched > 0:
            for job in fetchers:
                job.rates["fetched"] *= max(0.0, fetched - growth) / fetched
            self.emptying = False
            return
        freed = -sum(job.taking() for job in jobs) if self.full else 0.0
        writers = [job for job in jobs if job.full and job.doing == "write"]
        parts = [Flow("write", max(0.0, job.caps[1] - job.rates["sent"])) for job in writers]
        fill(parts, (inf, freed, inf))
        for job, part in zip(writers, parts, strict=True):
            job.rates["produced"] += part.rate or 0.0
        self.emptying = freed - sum(part.rate or 0.0 for part in parts) > TOLERANCE * freed

    def move(self) -> None:
        """As soon as something leaves a full part for good there is room again."""
        self.full = self.size == 0 or (self.full and not self.emptying)


@dataclass
class Job:
    """One application under G: away, compute, read, write or done, and totals of all bytes it has moved so far.

    It holds less than its own part of the buffer, exactly that (and a little more or less by rounding), or more.
    """

    name: str
    caps: tuple[float, float]
    whole: float  # its part, if there is room for all of it
    common: Common
    phases: list[tuple[str, float]]
    until: float  # when the compute ends or it is released
    begin: float  # the first release of all: instants are told apart by the time since then
    entry: float = 0.0  # from when on it has a part and its input may be fetched
    cut_at: float = inf
    release: float = 0.0
    entered: bool = False
    space: float = 0.0  # its part
    growth: float = 0.0  # how fast that grows
    doing: str = "away"
    goal: float = 0.0  # the total at which the read or write under way ends
    horizon: float = 0.0  # the total at the end of the first read phase not yet started: no fetching beyond
    produced: float = 0.0
    sent: float = 0.0
    fetched: float = 0.0
    consumed: float = 0.0
    level: str = BELOW
    rates: dict[str, float] = field(default_factory=lambda: dict.fromkeys(TOTALS, 0.0))
    completion: float | None = None
    ended: float = 0.0
    cut: bool = False
    done_work: float = 0.0  # seconds of finished computes
    since: float = 0.0  # when the present compute began
    last: float = 0.0  # how long it is
    achieved: float = 0.0  # progress at its end

    def __post_init__(self) -> None:
        self.level = AT
        self.horizon = self.next_read()

    @property
    def runs(self) -> bool:
        return self.entered and self.doing != "done"

    def give(self, free: float, device: float) -> float:
        """Top its part up with what is free, unless that is rounding; what is left then."""
        missing, nothing = self.whole - self.space, TOLERANCE * device
        given = missing if missing <= free + nothing else free if free > nothing else 0.0
        self.space = self.whole if given == missing else self.space + given
        if given > TOLERANCE * device:
            if self.level == OVER:  # what it has in the common part moves into its own
                self.common.full = self.common.size == 0
            self.level = OVER if self.held() > self.space else BELOW
        return free if free == inf else free - given

    def enter(self, free: float, device: float) -> float:
        self.entered = True
        left = self.give(free, device)
        self.level = AT if self.space == 0 else BELOW
        return left

    def progress(self, now: float) -> float:
        """Seconds of work alone behind it; bytes count when the application moves them."""
        compute = self.done_work + (now - self.since if self.doing == "compute" else 0.0)
        return compute + self.consumed / self.caps[0] + self.produced / self.caps[1]

    def end(self, now: float) -> None:
        self.achieved, self.ended, self.doing = self.progress(now), now, "done"
        self.rates |= {"produced": 0.0, "consumed": 0.0}

    def cut_off(self, now: float) -> None:
        """Its walltime is over: output drains, input that was fetched ahead is dropped."""
        self.end(now)
        self.cut, self.phases = True, []
        self.rates["fetched"] = 0.0
        self.horizon = self.consumed = self.fetched

    @property
    def full(self) -> bool:
        return self.level != BELOW and self.common.full

    @property
    def full_of_input(self) -> bool:
        """Whether nothing may be fetched ahead: who has a part of its own leaves the common one to output."""
        return self.full if self.whole == 0 else self.level != BELOW

    def held(self) -> float:
        return (self.produced - self.sent) + (self.fetched - self.consumed)

    def excess(self) -> float:
        """What it holds of the common part."""
        return self.held() - self.space if self.level == OVER else 0.0

    def taking(self) -> float:
        """How fast it fills the common part, or makes room there."""
        more = self.filling() - self.growth
        return {BELOW: 0.0, AT: max(0.0, more), OVER: more}[self.level]

    def next_read(self) -> float:
        return next((amount for kind, amount in self.phases if kind == "read"), 0.0)

    def advance(self, now: float) -> None:
        """Enter the next phase, or complete."""
        self.rates |= {"produced": 0.0, "consumed": 0.0}
        if self.doing == "compute":
            self.done_work += self.last
            self.doing = "between"
        if not self.phases:
            self.end(now)
            self.completion = now
            return
        self.doing, amount = self.phases.pop(0)
        if self.doing == "compute":
            self.until, self.since, self.last = now + amount, now, amount
        elif self.doing == "write":
            self.goal = self.produced + amount
        else:
            self.goal = self.consumed + amount
            self.horizon += self.next_read()

    @property
    def pooled(self) -> bool:
        """Whether all its room is in the common part."""
        return self.whole == 0 and self.common.size > 0

    def buffered(self, grower: Job | None) -> bool:
        return self.space > 0 or self.common.size > 0 or grower is self

    def out_flow(self, grower: Job | None, writers: bool) -> list[Flow]:
        """Draining, or writing past the buffer, and writing into it.

        After completion it drains with the same cap and the same right to a part. What is written into a full buffer
        while as much leaves it crosses the port twice.
        """
        if not (self.doing == "write" or self.produced > self.sent):
            return []
        blocked = self.doing == "write" and self.full
        taken = self.doing == "done" and grower is not None and grower.full and grower.doing == "write"
        twice = blocked or taken or (self.common.size > 0 and writers)
        crossing = (2 if twice else 1) if self.buffered(grower) else 0
        beside = [Flow("app", self.caps[1], crossing=1)] if self.doing == "write" and not blocked else []
        return [Flow("write", self.caps[1], crossing=crossing), *beside]

    def in_flow(self, out: list[Flow], freeing: list[Flow] | None, writers: bool) -> list[Flow]:
        """Fetching ahead, or reading past the buffer, and reading out of it.

        While it reads, what is taken out makes at least as much room as is fetched, so that a full buffer stops
        nothing; when the phase under way is all fetched, the next one follows. `freeing`: the drains of those that have
        ended, if what they free goes to this one.
        """
        ahead = self.fetched > self.consumed
        flows = [Flow("app", self.caps[0], crossing=1)] if self.doing == "read" and ahead else []
        if not self.entered or self.fetched >= self.horizon:
            return flows
        crossing = 0 if self.doing == "read" and not ahead else 1
        shared = self.pooled and self.doing != "write" and not writers
        if self.doing == "read" or not self.full_of_input or shared:
            flows.append(Flow("read", self.caps[0], crossing=crossing))
        elif not self.pooled and self.doing != "write" and (out or freeing is not None):
            under = [flow for flow in out if flow.kind == "write"] + (freeing or [])
            flows.append(Flow("read", self.caps[0], under=under, crossing=crossing))
        return flows

    def decide(self, flows: list[Flow]) -> None:
        """Set the pace of all four totals from the rates granted."""
        granted = {flow.kind: flow.rate or 0.0 for flow in flows}
        read, write = granted.get("read", 0.0), granted.get("write", 0.0)
        produced = 0.0 if self.doing != "write" else write if self.full else granted["app"]
        consumed = 0.0 if self.doing != "read" else granted["app"] if self.fetched > self.consumed else read
        self.rates = {"produced": produced, "sent": write, "fetched": read, "consumed": consumed}

    def transitions(self) -> list[tuple[float, float, Callable[[float], None]]]:
        """All that will happen to its bytes as things stand: what is missing, how fast that shrinks, what then."""
        rates, found = self.rates, []
        if self.doing in ("read", "write"):
            total = "consumed" if self.doing == "read" else "produced"
            found.append((self.goal - getattr(self, total), rates[total], lambda now: self.reach(total, now)))
        if self.doing != "write" and self.produced > self.sent:
            found.append((self.produced - self.sent, rates["sent"], lambda _: setattr(self, "sent", self.produced)))
        if self.fetched < self.horizon:
            missing = self.horizon - self.fetched
            found.append((missing, rates["fetched"], lambda _: setattr(self, "fetched", self.horizon)))
        if self.doing == "read" and self.fetched > self.consumed:
            shrinks = rates["consumed"] - rates["fetched"]
            found.append((self.fetched - self.consumed, shrinks, lambda _: setattr(self, "consumed", self.fetched)))
        if self.growth > 0 and self.space < self.whole:
            found.append((self.whole - self.space, self.growth, lambda _: setattr(self, "space", self.whole)))
        if self.level != AT:
            missing, pace = self.space - self.held(), self.filling() - self.growth
            sign = 1.0 if self.level == BELOW else -1.0
            found.append((sign * missing, sign * pace, lambda _: setattr(self, "level", AT)))
        return [transition for transition in found if transition[1] > 0]

    def filling(self) -> float:
        """How fast the buffer fills."""
        return (self.rates["produced"] - self.rates["sent"]) + (self.rates["fetched"] - self.rates["consumed"])

    def reach(self, total: str, now: float) -> None:
        """End the read or write under way; rounding must leave no bytes in the buffer that were never there."""
        other = "fetched" if total == "consumed" else "sent"
        if getattr(self, other) == getattr(self, total):
            setattr(self, other, self.goal)
        setattr(self, total, self.goal)
        self.sent, self.fetched = min(self.sent, self.produced), max(self.fetched, self.consumed)
        self.advance(now)

    def settle(self, now: float) -> bool:
        """Apply one thing that is due at this instant; whether there was one."""
        slack = TOLERANCE * abs(now - self.begin)
        if self.doing in ("away", "compute") and self.until <= now + slack:
            self.advance(now)
            return True
        for missing, pace, then in self.transitions():
            if missing <= pace * slack:
                then(now)
                return True
        if self.doing != "done" and self.cut_at <= now + slack:
            self.cut_off(now)
            return True
        return False

    def due(self, now: float) -> list[float]:
        """When something happens to it, as things stand."""
        times = [self.until] if self.doing in ("away", "compute") and self.until < inf else []
        if self.doing != "done" and self.cut_at < inf:
            times.append(self.cut_at)
        if not self.entered and self.entry > now + TOLERANCE * abs(now - self.begin):
            times.append(self.entry)
        return times + [now + missing / pace for missing, pace, _ in self.transitions()]

    def move(self, seconds: float) -> None:
        """Let the bytes flow."""
        more = self.filling() - self.growth
        if self.level == AT and more != 0:
            self.level = OVER if more > 0 else BELOW if self.space > 0 or self.growth > 0 else AT
        self.space += self.growth * seconds
        for total, rate in self.rates.items():
            setattr(self, total, getattr(self, total) + rate * seconds)


@dataclass
class Device:
    """All parts together never exceed it: those of jobs that run, and what those that have ended still hold."""

    size: float
    jobs: list[Job]
    waits: bool
    grower: Job | None = None

    def free(self) -> float:
        held = sum(job.space if job.runs else min(job.space, job.held()) for job in self.jobs if job.entered)
        return inf if self.size == inf else self.size - held

    def settle(self, now: float) -> list[Job]:
        """Give what is free: to older jobs first, then to newcomers as in the scenario; who starts, if they wait."""
        for job in self.jobs:
            job.growth = 0.0
        self.grower = None
        free = self.free()
        slack = TOLERANCE * abs(now - self.jobs[0].begin)
        by_release = sorted(self.jobs, key=lambda job: job.release)
        coming = [job for job in self.jobs if not job.entered and job.doing != "done" and job.entry <= now + slack]
        if self.waits:
            started = []
            for job in sorted(coming, key=lambda job: job.release):
                if job.whole > free + TOLERANCE * self.size:
                    break
                free = job.enter(free, self.size)
                started.append(job)
            return started
        for job in by_release:
            if job.runs and job.space < job.whole:
                free = job.give(free, self.size)
        for job in coming:
            free = job.enter(free, self.size)
        self.grower = next((job for job in by_release if job.runs and job.space < job.whole), None)
        return []

    def frees(self) -> list[Job]:
        """Those that have ended and whose draining makes room for parts."""
        return [job for job in self.jobs if job.doing == "done" and (job.common.size == 0 or job.excess() <= 0)]

    def grow(self, now: float) -> list[float]:
        """Let the first part that is not whole grow; when the next who waits can start."""
        freed = sum(job.rates["sent"] for job in self.frees())
        if self.grower is not None:
            self.grower.growth = freed
            if self.grower.doing == "write" and self.grower.full:
                rates = self.grower.rates
                rates["produced"] = min(self.grower.caps[1], rates["sent"] + freed)
        waiting = [job for job in self.jobs if self.waits and not job.entered and job.doing != "done"]
        waiting = sorted((job for job in waiting if job.entry <= now), key=lambda job: job.release)
        return [now + (waiting[0].whole - self.free()) / freed] if waiting and freed > 0 else []


def simulate_greedy(
    document: Document, capacity: float, shares: Shares, common: float = 0.0, lead: float = inf, admit: str = "now"
) -> Document:
    """Run strategy G; `shares` are fractions S_k/S, so that an application has up to capacity · share of buffer.

    They may add up to more than 1: who enters gets what is free. `common` is the part of the capacity that belongs to
    everybody; shares are of the rest. Goes on until every buffer is drained. `contents` holds (time, output held, input
    held) by application.
    """
    limits, demands = (*limits_of(document), port_of(document)), demands_of(document)
    together = Common(capacity * common if common else 0.0)
    jobs = []
    begin = min(float(app.get("release") or 0.0) for app in document["applications"])
    for app in document["applications"]:
        part = shares[app["name"]] * (1.0 - common)
        phases = [(kind, float(amount)) for kind, amount in unroll(app["phases"]) if amount > 0]
        own = capacity * part if part else 0.0
        released, waits = float(app.get("release") or 0.0), admit == "wait"
        job = Job(app["name"], caps_of(document, app), own, together, phases, inf if waits else released, begin)
        job.release, job.entry = released, released if waits else max(0.0, released - lead)
        job.cut_at = released + float(app.get("walltime") or inf)
        jobs.append(job)
    device = Device((1.0 - common) * capacity, jobs, admit == "wait")
    now, contents, through = 0.0, [], 0.0
    while True:
        while any([together.settle(jobs, now), *[job.settle(now) for job in jobs]]):
            pass
        for job in device.settle(now):
            job.advance(now)
        output = {job.name: job.produced - job.sent for job in jobs}
        contents.append((now, output, {job.name: job.fetched - job.consumed for job in jobs}))
        writers = any(job.doing == "write" and job.full for job in jobs)
        grower = device.grower
        outs = {job.name: job.out_flow(grower, writers) for job in jobs}
        freeing = [flow for job in device.frees() for flow in outs[job.name]]
        asked = [
            outs[job.name] + job.in_flow(outs[job.name], freeing if job is grower else None, writers) for job in jobs
        ]
        fill_disturbed(asked, limits, document["platform"].get("interference") or [1.0])
        for job, flows in zip(jobs, asked, strict=True):
            job.decide(flows)
        starts = device.grow(now)
        together.hand_over(jobs)
        times = [time for job in jobs for time in job.due(now)] + together.due(jobs, now) + starts
        if not times:
            break
        then = max(now, min(times))
        for job in jobs:
            through += (then - now) * entering(job, grower)
        together.move()
        for job in jobs:
            job.move(then - now)
        now = then
    assert all(job.completion is not None or job.cut for job in jobs), "someone waits for ever"
    return measure(jobs, demands) | {"contents": contents, "through": through}


def entering(job: Job, grower: Job | None) -> float:
    """Bytes a second that are written into the buffer: not those that pass straight through."""
    written = job.rates["produced"] if job.buffered(grower) else 0.0
    straight = job.doing == "read" and job.fetched <= job.consumed
    return written + (0.0 if straight else job.rates["fetched"])


def measure(jobs: list[Job], demands: list[Demand]) -> dict[str, Any]:
    """Completions, stretches, progress and the bytes moved in all; who was cut off has neither of the first two."""
    stretch = {
        job.name: None if job.completion is None else (job.completion - d.times[0]) / (d.times[-1] - d.times[0])
        for job, d in zip(jobs, demands, strict=True)
    }
    finished = [value for value in stretch.values() if value is not None]
    return {
        "completion": {job.name: job.completion for job in jobs},
        "stretch": stretch,
        "max_stretch": max(finished, default=None),
        "mean_stretch": sum(finished) / len(finished) if finished else None,
        "achieved": {job.name: job.achieved for job in jobs},
        "ended": {job.name: job.ended for job in jobs},
        "moved": {total: sum(getattr(job, total) for job in jobs) for total in TOTALS},
    }
