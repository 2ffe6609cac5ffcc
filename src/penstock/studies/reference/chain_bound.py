"""A reference's chain bound: a delay stays. A linear program over slots and delays, for up to about eight applications.

A share of each application flows from slot to slot and from delay to delay: who waits, with an operation posted, has a
delay that is larger by one; who is served takes a part of the slot. All flows end with a delay that leaves the yield
asked for. If they do not fit into the slots, no schedule has that yield.

Why it holds for fluid schedules with any delays: shift time by a random part θ of a slot and round delays down. Then
the bytes that a place on the grid stands for are, on average over θ, those that the schedule has moved, up to what they
bend between two edges of the grid. That much may be moved to another slot ("slack"; none where phases are whole numbers
of slots). A wait may be seen one place later than it was.

The solver finds prices of slots. What they prove is worked out without it: every application pays at least for its
cheapest way, and if all of them pay more than all slots cost, they do not fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from penstock.engine.program import Program
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.kernels.compile import kernel
from penstock.kernels.numba_types import FLOATS, INTS
from penstock.studies.reference.grid import Grid, grids, slots_down

MOST_APPLICATIONS = 8
MOST_PLACES = 12_000  # slots times delays, of all applications
SLOTS = (800, 600, 400, 300, 200, 150, 100, 70, 50)
QUESTIONS = 6  # yields that are asked about, each halving the gap
_PROOF = 1e-9  # by how much prices must exceed what there is


class Ways(NamedTuple):
    """The ways of one application: where it may wait, and what each place takes of a slot."""

    most: int  # largest delay
    use: Floats  # of a slot, by place
    wait: Ints  # whether it may wait, by place
    bend: tuple[float, float]  # how far bytes may lie above and below the line between two edges


class ChainBound(NamedTuple):
    """No schedule has a higher minimum yield than `bound`."""

    bound: float
    slot: float
    slots: int
    aligned: bool


def chain_bound(program: Program, least: float, top: float) -> ChainBound | None:
    """The lowest bound that could be proved between a yield that some schedule has and one that none exceeds."""
    grid = finest(program, least)
    if grid is None:
        return None
    low, high = least, top
    for _ in range(QUESTIONS):
        y = 0.5 * (low + high)
        slots, ways = grid.slots(y), ways_at(grid, y)
        proved = load(slots, ways, prices_of(slots, ways)) > 1.0 + _PROOF
        low, high = (low, y) if proved else (y, high)
    return ChainBound(high, grid.slot, grid.slots(least), grid.aligned)


def finest(program: Program, least: float) -> Grid | None:
    """The finest grid whose linear program is affordable; None if there is none."""
    for grid in grids(program, least, SLOTS):
        if grid.slots(least) * float((grid.needs(least)[1] + 1).sum()) <= MOST_PLACES:
            return grid
    return None


def ways_at(grid: Grid, y: float) -> list[Ways]:
    """The ways of all applications that leave them a yield y."""
    places, most = grid.needs(y)
    strict = grid.aligned and bool(np.all(grid.program.limit >= grid.program.capacity))
    edges = np.arange(grid.slots(y) + 1, dtype=np.float64) * grid.slot
    if grid.aligned:
        places = slots_down(places / grid.slot).astype(np.float64) * grid.slot
    ways = []
    for line, place, delay in zip(grid.lines, places, most, strict=True):
        needed = float(line.transferred(place))
        points: Floats = np.append(line.at, place)
        moved = np.minimum(line.transferred(edges), needed)
        bend = np.interp(points, edges, moved) - np.minimum(line.transferred(points), needed)
        bend = bend[points <= edges[-1]] / grid.slot
        use = np.diff(moved) / grid.slot
        wait = use > 0.0
        if not strict:
            wait[1:] |= use[:-1] > 0.0
        above, below = (max(0.0, float(bend.max(initial=0.0))), max(0.0, float(-bend.min(initial=0.0))))
        ways.append(Ways(int(delay), use, wait.astype(np.int64), (0.0, 0.0) if grid.aligned else (above, below)))
    return ways


def slack(ways: list[Ways]) -> tuple[float, float]:
    """How much of a slot may be moved to another: above and below."""
    return sum(way.bend[0] for way in ways), sum(way.bend[1] for way in ways)


def load(slots: int, ways: list[Ways], prices: Floats) -> float:
    """How many times the slots would have to be there: at least what these prices prove."""
    change = np.diff(np.append(prices, 0.0))
    above, below = slack(ways)
    moved = below * change[change > 0.0].sum() - above * change[change < 0.0].sum()
    return float(sum(cheapest(prices, way.most, way.use, way.wait) for way in ways) - moved)


def prices_of(slots: int, ways: list[Ways]) -> Floats:
    """Prices of the slots that sum to 1, from the linear program: the smallest load under which all flows fit."""
    from scipy.optimize import linprog  # noqa: PLC0415 - takes longer to load than most commands take

    cost, fits, room, keeps, source, bounds = program_of(slots, ways)
    found = linprog(cost, A_ub=fits, b_ub=room, A_eq=keeps, b_eq=source, bounds=bounds, method="highs-ipm")
    if found.status != 0:
        return np.full(slots, 1.0 / slots)  # any prices prove something
    prices = np.maximum(0.0, -found.ineqlin.marginals)
    return prices / prices.sum() if prices.sum() > 0.0 else np.full(slots, 1.0 / slots)


def program_of(slots: int, ways: list[Ways]) -> tuple[Any, ...]:
    """The linear program: cost; rows for the slots and their room; rows for the places and what begins there; bounds.

    Columns: flows that go on, flows that wait, one after the other for each application; slack; the load.
    """
    from scipy.sparse import coo_array, csr_array  # noqa: PLC0415 - as above

    columns = places = 0
    takes: list[tuple[Any, Any, Any]] = []
    keeps: list[tuple[Any, Any, Any]] = []
    begins = []
    for way in ways:
        here = reachable(slots, way)
        slot, delay = np.nonzero(here[:-1])
        number = np.full(here.shape, -1)
        number[here] = np.arange(places, places + int(here.sum()))
        may = (way.wait[slot - delay] == 1) & (delay < way.most)
        goes = columns + np.arange(slot.size)
        waits = columns + slot.size + np.arange(int(may.sum()))
        columns += slot.size + waits.size
        used = way.use[slot - delay]
        takes.append((slot[used > 0.0], goes[used > 0.0], used[used > 0.0]))
        keeps += [
            (number[slot, delay], goes, np.ones(goes.size)),
            (number[slot + 1, delay], goes, -np.ones(goes.size)),
            (number[slot, delay][may], waits, np.ones(waits.size)),
            (number[slot + 1, delay + 1 * may][may], waits, -np.ones(waits.size)),
        ]
        begins.append((places, number[-1]))
        places += int(here.sum())
    above, below = slack(ways)
    width = columns + slots + 1
    slack_rows = np.concatenate([np.arange(slots), np.arange(1, slots)])
    slack_columns = columns + np.concatenate([np.arange(slots), np.arange(slots - 1)])
    takes.append((slack_rows, slack_columns, np.repeat([-1.0, 1.0], [slots, slots - 1])))
    takes.append((np.arange(slots), np.full(slots, width - 1), -np.ones(slots)))
    fits = coo_array(_joined(takes), shape=(slots, width))
    kept = csr_array(coo_array(_joined(keeps), shape=(places, width)))
    inner = np.setdiff1d(np.arange(places), np.concatenate([last[last >= 0] for _, last in begins]))
    source = np.zeros(places)
    source[[first for first, _ in begins]] = 1.0
    bounds = np.zeros((width, 2))
    bounds[:, 1] = np.inf
    bounds[columns : columns + slots] = -below, above
    cost = np.zeros(width)
    cost[-1] = 1.0
    return cost, fits.tocsr(), np.zeros(slots), kept[inner], source[inner], bounds


def _joined(pieces: list[tuple[Any, Any, Any]]) -> tuple[Any, tuple[Any, Any]]:
    rows, columns, values = (np.concatenate(part) for part in zip(*pieces, strict=True))
    return values, (rows, columns)


def reachable(slots: int, way: Ways) -> Bools:
    """Which delays are possible at the edge before each slot, and at the end."""
    here = np.zeros((slots + 1, way.most + 1), bool)
    here[0, 0] = True
    for slot in range(slots):
        delays = np.flatnonzero(here[slot])
        here[slot + 1, delays] = True
        later = delays[(way.wait[slot - delays] == 1) & (delays < way.most)]
        here[slot + 1, later + 1] = True
    return here


@kernel(types.float64(FLOATS, types.int64, FLOATS, INTS), _nrt=True)
def cheapest(prices: Floats, most: int, use: Floats, wait: Ints) -> float:
    """What the cheapest way of an application costs at these prices of slots."""
    cost = np.full(most + 1, np.inf)
    cost[0] = 0.0
    for slot in range(prices.size):
        for delay in range(min(most, slot), -1, -1):
            place = slot - delay
            if delay < most and wait[place] == 1:
                cost[delay + 1] = min(cost[delay + 1], cost[delay])
            cost[delay] += prices[slot] * use[place]
    return float(cost.min())
