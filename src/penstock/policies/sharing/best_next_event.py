"""Best next event: constant rates that make the minimum yield at the next predictable event as high as possible.

A predictable event is the first completion, or the end of the window (P1 §4.3, appendix A). Suppose application k
completes first, u seconds from now, so at rate V_k/u; nobody else completes earlier. With T the progress and a the
age now, the best minimum yield at now + u is the lowest of

    (T_k + V_k/b_k) / (a_k + u)                                    k itself, falling in u
    (T_i + min(u, V_i/b_i)) / (a_i + u)                            the others at their most
    (u·B - V_k + Σ_I b_i·T_i) / Σ_I b_i·(a_i + u)                  the others I that need bandwidth, sharing the rest

and the last one is itself the minimum over all subsets I. So the optimum over u is the highest point under a family
of curves (n0 + n1·u)/(d0 + d1·u), each rising or falling throughout: intersect a rising with a falling one, see which
curve is lowest there, let it replace its kind, and repeat until it is none new. That takes two or three looks where
P1 partitions time into O(m²) intervals, and the intersection is an upper bound that rejects most k at once.
The best (u, k) leaves one allocation: fill yields from below, nobody above its limit or beyond its completion.

Of a thousand applications a few are low enough to matter: one that is above all that the lowest can reach is not looked
at again. And every curve of the best event so far limits the others, with their own V_k in it: most are rejected by
that without a look at anybody.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, kernel, total
from penstock.kernels.numba_types import numba_type
from penstock.policies.sharing.order import coarse
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import RATES, VIEW, View

_NOBODY = -1
_EXACT = 1e-14
_SAME_YIELD = 1e-9
_MOST_LOOKS = 200
_SOUND = 1e-3


class YieldCurve(NamedTuple):
    """y(u) = (n0 + n1·u) / (d0 + d1·u), with a positive denominator for u > 0."""

    n0: float
    n1: float
    d0: float
    d1: float


_C = numba_type(YieldCurve)


class EventLimits(NamedTuple):
    """What limits any event that is as good as the best so far."""

    few: int  # the first so many of `view.rows` are those who can be the lowest then
    lowest: int  # who would be the lowest at u if all were done
    u: float  # of the best so far
    level: float  # its minimum yield
    rest: YieldCurve  # what those have in common who need bandwidth for that level, if it is all for them


_B = numba_type(EventLimits)


@inlined
def _height(curve: YieldCurve, u: float) -> float:
    return (curve.n0 + curve.n1 * u) / (curve.d0 + curve.d1 * u)


@inlined
def _rises(curve: YieldCurve) -> bool:
    # A constant counts as falling: among equally good events the earliest wins.
    gain, loss = curve.n1 * curve.d0, curve.n0 * curve.d1
    return gain > loss + _SAME_YIELD * abs(loss)


@inlined
def _done_at(view: View, row: int) -> YieldCurve:
    """The yield of an application whose transfer ends just then."""
    full = view.progress[row] + view.remaining[row] / view.bandwidth[row]
    return YieldCurve(full, 0.0, view.now - view.release[row], 1.0)


@inlined
def _pace(view: View, row: int) -> float:
    """Progress per second at its limit: 1, unless an application's flows can have more than they would alone."""
    return view.limit[row] / view.bandwidth[row]  # type: ignore[no-any-return]


@inlined
def _soonest(view: View, row: int) -> float:
    """Seconds until a transfer ends at the earliest; interference may leave less than its limit."""
    return view.remaining[row] / min(view.limit[row], view.capacity)  # type: ignore[no-any-return]


@kernel(_C(VIEW, types.int64, types.int64, types.float64))
def _lowest_at_most(view: View, few: int, k: int, u: float) -> YieldCurve:
    """Of all applications at the most they can reach by u, with `k` completing then, the lowest."""
    lowest, worst, full = np.inf, 0, False
    for place in range(few):
        row = view.rows[place]
        ends = row == k or view.remaining[row] / view.limit[row] <= u
        gained = view.remaining[row] / view.bandwidth[row] if ends else u * _pace(view, row)
        reach = (view.progress[row] + gained) / (view.now - view.release[row] + u)
        if reach < lowest:
            lowest, worst, full = reach, row, not ends
    if full:
        return YieldCurve(view.progress[worst], _pace(view, worst), view.now - view.release[worst], 1.0)
    return _done_at(view, worst)


@kernel(_C(VIEW, types.int64, types.int64, types.float64, types.float64))
def _sharing_below(view: View, few: int, k: int, u: float, level: float) -> YieldCurve:
    """The common yield if what `k` leaves is shared by those who would lie below `level` at u without any."""
    bandwidth, credit, ages = 0.0, 0.0, 0.0
    for place in range(few):
        row = view.rows[place]
        age = view.now - view.release[row]
        if row != k and view.progress[row] <= level * (age + u):
            bandwidth += view.bandwidth[row]
            credit += view.bandwidth[row] * view.progress[row]
            ages += view.bandwidth[row] * age
    spent = view.remaining[k] if k >= 0 else 0.0
    return YieldCurve(credit - spent, view.capacity, ages, bandwidth)


@kernel(_C(VIEW, types.int64, types.int64, types.float64))
def _binding(view: View, few: int, k: int, u: float) -> YieldCurve:
    """The curve that limits the minimum yield when the next event is at u, `k` completing then."""
    curve = _lowest_at_most(view, few, k, u)
    level = _height(curve, u)
    rest = _sharing_below(view, few, k, u, level)
    # Who lies above the level needs nothing: dropping them lowers the level until nobody is left above it.
    while rest.d1 > 0.0 and _height(rest, u) < level:
        curve, level = rest, _height(rest, u)
        rest = _sharing_below(view, few, k, u, level)
    return curve


@kernel(types.float64(_C, _C, types.float64, types.float64))
def _crossing(rising: YieldCurve, falling: YieldCurve, low: float, high: float) -> float:
    """Where the two meet between `low` (rising below falling) and `high`; `high` if they do not."""
    a = rising.n1 * falling.d1 - falling.n1 * rising.d1
    b = rising.n1 * falling.d0 + rising.n0 * falling.d1 - falling.n1 * rising.d0 - falling.n0 * rising.d1
    c = rising.n0 * falling.d0 - falling.n0 * rising.d0
    root = -1.0
    if a == 0.0:
        if b != 0.0:
            root = -c / b
    else:
        inside = b * b - 4.0 * a * c
        if inside >= 0.0:
            q = -0.5 * (b + math.copysign(math.sqrt(inside), b))
            # One rises and one falls wherever u > 0, so at most one root is positive.
            root = max(q / a, c / q if q != 0.0 else -1.0)
    return min(max(root, low), high) if root > 0.0 else high


@kernel(types.UniTuple(types.float64, 2)(VIEW, types.int64, types.int64, types.float64))
def _best_completion(view: View, few: int, k: int, to_beat: float) -> tuple[float, float]:
    """The highest minimum yield at an event that is the completion of `k`, and its u; (-1, 0) if below `to_beat`."""
    low, high = _soonest(view, k), view.end - view.now
    falling = _done_at(view, k)
    if low > high or _height(falling, low) < to_beat:
        return -1.0, 0.0
    rising = _binding(view, few, k, low)
    u = low
    best = _height(rising, u)
    looks = 0
    while looks < _MOST_LOOKS and _rises(rising):
        looks += 1
        u = _crossing(rising, falling, low, high)
        ceiling = _height(rising, u)
        if ceiling < to_beat:
            return -1.0, 0.0
        lowest = _binding(view, few, k, u)
        best = _height(lowest, u)
        up = _rises(lowest)
        if best >= ceiling * (1.0 - _EXACT) or (up and u == high):
            break
        if up:
            rising, low = lowest, u
        else:
            falling = lowest
    return best, u


@kernel(types.int64(VIEW, types.float64))
def _pick_lowest(view: View, to_beat: float) -> int:
    """Put those into `view.rows` who can be the lowest at an event as good as `to_beat`; return how many."""
    most, latest = np.inf, np.inf
    for row in range(view.limit.size):
        age = view.now - view.release[row]
        needs = view.remaining[row] / view.limit[row]
        full = view.progress[row] + view.remaining[row] / view.bandwidth[row]
        latest = min(latest, full / to_beat - age)
        if view.progress[row] <= age * _pace(view, row):
            most = min(most, full / (age + needs))
    high = most * (1.0 + _SAME_YIELD)
    few = 0
    for row in range(view.limit.size):
        if not view.progress[row] > high * (view.now - view.release[row] + latest * (1.0 + _SAME_YIELD)):
            view.rows[few] = row
            few += 1
    return few


@kernel(types.int64(VIEW, types.float64))
def _lowest_when_done(view: View, u: float) -> int:
    """Who has the lowest yield at u, or at its own completion if that is later, if all are served in full."""
    lowest, worst = np.inf, 0
    for row in range(view.limit.size):
        reach = _height(_done_at(view, row), max(u, view.remaining[row] / view.limit[row]))
        if reach < lowest:
            lowest, worst = reach, row
    return worst


@kernel(_B(VIEW, types.float64, types.float64))
def _bounds(view: View, best: float, u: float) -> EventLimits:
    """What follows from an event at u with this minimum yield for all others."""
    few = _pick_lowest(view, best * (1.0 - _SAME_YIELD))
    return EventLimits(few, _lowest_when_done(view, u), u, best, _sharing_below(view, few, _NOBODY, u, best))


@kernel(types.float64(_C, _C, types.float64, types.float64))
def _peak(rising: YieldCurve, falling: YieldCurve, low: float, high: float) -> float:
    """The highest point under both curves between `low` and `high`."""
    if _height(rising, low) >= _height(falling, low):
        return _height(falling, low)
    return _height(rising, _crossing(rising, falling, low, high))


@kernel(types.float64(VIEW, _B, types.int64))
def _at_most(view: View, bounds: EventLimits, k: int) -> float:
    """A minimum yield that no event exceeds that is the completion of `k`."""
    low, high = _soonest(view, k), view.end - view.now
    done, other = _done_at(view, k), _done_at(view, bounds.lowest)
    rest, age = bounds.rest, view.now - view.release[k]
    credit, ages, bandwidth = rest.n0, rest.d0, rest.d1
    if view.progress[k] <= bounds.level * (age + bounds.u):
        credit -= view.bandwidth[k] * view.progress[k]
        ages -= view.bandwidth[k] * age
        bandwidth -= view.bandwidth[k]
    # What is left of a sum without its largest part is rounding noise.
    sound = credit >= _SOUND * rest.n0 and ages >= _SOUND * rest.d0 and bandwidth > _SOUND * rest.d1
    without = YieldCurve(credit - view.remaining[k], view.capacity, ages, bandwidth)
    if low <= high and sound and _rises(without):
        return min(_peak(without, done, low, high), _peak(without, other, low, high))
    return min(_height(done, low), _height(other, low))


@kernel(types.float64(VIEW, types.float64, types.float64, types.float64))
def _level_below(view: View, u: float, left: float, level: float) -> float:
    """The yield that `left` gives to those still to fill (`view.rows` is 1) who lie below `level` at u."""
    credit, ages = left * u, 0.0
    for row in range(view.limit.size):
        age = view.now - view.release[row] + u
        if view.rows[row] == 1 and view.progress[row] <= level * age:
            credit += view.bandwidth[row] * view.progress[row]
            ages += view.bandwidth[row] * age
    return credit / ages if ages > 0.0 else level


@kernel(types.float64(VIEW, types.float64, types.float64, RATES))
def _stop_full(view: View, u: float, level: float, rates: Floats) -> float:
    """Bring those still to fill to `level`; fix who cannot go higher, and return what these take."""
    taken = 0.0
    for row in range(rates.size):
        if view.rows[row] == 1:
            age = view.now - view.release[row] + u
            most = min(view.limit[row], view.remaining[row] / u)
            rates[row] = max(0.0, view.bandwidth[row] * (level * age - view.progress[row]) / u)
            if rates[row] >= most:
                rates[row] = most
                view.rows[row] = 0
                taken += most
    return taken


@kernel(types.void(VIEW, types.int64, types.float64, RATES))
def _fill_yields(view: View, k: int, u: float, rates: Floats) -> None:
    """Lexicographically best rates for an event at u: raise the lowest yields together, stop who reaches its most."""
    view.rows[:] = 1
    left = view.capacity
    if k >= 0:
        view.rows[k] = 0
        rates[k] = min(view.limit[k], view.remaining[k] / u)
        left -= rates[k]
    taken = 1.0
    while taken > 0.0 and left > 0.0:
        level = np.inf
        lower = _level_below(view, u, left, level)
        while lower < level:
            level = lower
            lower = _level_below(view, u, left, level)
        taken = _stop_full(view, u, level, rates) if level < np.inf else 0.0
        left -= taken


@sharing("best-next-event", source="P1 §4.3, appendix A")
def best_next_event(view: View, rates: Floats) -> None:
    """Constant rates that maximise the minimum yield at the best predictable event, even if some bandwidth idles."""
    if total(view.limit, rates.size) <= view.capacity:
        for row in range(rates.size):
            rates[row] = view.limit[row]
        return
    best, best_u, best_k = -1.0, np.inf, _NOBODY
    for row in range(rates.size):
        view.rows[row] = row
    if view.end < np.inf:
        best_u = view.end - view.now
        best = coarse(_height(_binding(view, rates.size, _NOBODY, best_u), best_u))
    # Whoever is the lowest even if it is served in full comes first: it is often the one, and then bounds are tight.
    first = _lowest_when_done(view, 0.0)
    bounds = EventLimits(rates.size, first, 0.0, np.inf, _sharing_below(view, rates.size, _NOBODY, 0.0, np.inf))
    for turn in range(-1, rates.size):
        k = first if turn < 0 else turn
        if _at_most(view, bounds, k) < best * (1.0 - _SAME_YIELD):
            continue
        height, u = _best_completion(view, bounds.few, k, best * (1.0 - _SAME_YIELD))
        height = coarse(height)
        tie = height == best and coarse(u) == coarse(best_u)
        if (
            height > best
            or (height == best and coarse(u) < coarse(best_u))
            or (tie and best_k >= 0 and view.application[k] < view.application[best_k])
        ):
            best, best_u, best_k = height, u, k
            bounds = _bounds(view, best, best_u)
    _fill_yields(view, best_k, best_u, rates)
    # Ages of weeks and events in milliseconds: the difference of two yields loses digits, the sum must hold.
    excess = total(rates, rates.size) / view.capacity
    if excess > 1.0:
        for row in range(rates.size):
            rates[row] /= excess
