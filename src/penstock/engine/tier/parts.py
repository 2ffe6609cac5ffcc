"""Parts of a burst buffer in the loop, never more than it has: given at the entry, topped up, given back at the end.

What is free is what the parts of those that run, and the bytes of those that have ended, leave of the device. A
newcomer gets of its part what is free. Later all that becomes free goes to the first, by release, without its whole
part, which thus grows as fast as those that have ended drain. Or, if applications wait, each starts, in the order of
release, when there is room for its whole part.
"""

from __future__ import annotations

from penstock.engine.tier.arrays import (
    COMMON_FULL,
    FREE,
    FREED,
    GROWER,
    GROWTH,
    HEAD,
    NOBODY,
    OVER,
    WRITING,
    Script,
    TierState,
)
from penstock.engine.tier.rules import an_instant, held_by, is_full
from penstock.kernels.arrays import SAME
from penstock.kernels.compile import inlined


@inlined
def _lacks(script: Script, state: TierState, k: int) -> bool:
    """Whether it runs without its whole part."""
    runs = state.entered[k] == 1 and state.doing[k] != OVER
    return runs and state.space[k] < script.whole[k]  # type: ignore[no-any-return]


@inlined
def _comes(script: Script, state: TierState, k: int, now: float) -> bool:
    """Whether it is due to enter."""
    outside = state.entered[k] == 0 and state.doing[k] != OVER
    return outside and script.entry[k] <= now + an_instant(script, now)  # type: ignore[no-any-return]


@inlined
def _free(script: Script, state: TierState) -> float:
    """What is nobody's."""
    free = script.device
    for k in range(state.doing.size):
        if state.entered[k] == 1:
            free -= min(state.space[k], held_by(state, k)) if state.doing[k] == OVER else state.space[k]
    return free


@inlined
def _give(script: Script, state: TierState, k: int, free: float) -> float:
    """Let it have what it lacks, or what there is, if that is more than rounding; what is left."""
    given = script.whole[k] - state.space[k]
    if given <= free + SAME * script.device:
        state.space[k] = script.whole[k]
    else:
        given = free if free > SAME * script.device else 0.0
        state.space[k] += given
    if given > SAME * script.device and state.beyond[k] == 1:
        if held_by(state, k) > state.space[k] - given:  # what it has in the common part moves into its own
            state.counts[COMMON_FULL] = script.common == 0.0
        state.beyond[k] = held_by(state, k) >= state.space[k]
    return free - given  # type: ignore[no-any-return]


@inlined
def _enter(script: Script, state: TierState, k: int, free: float) -> float:
    """Give a newcomer its part; what is left."""
    state.entered[k] = 1
    left = _give(script, state, k, free)
    state.beyond[k] = state.space[k] == 0.0
    return left


@inlined
def _admit(script: Script, state: TierState, now: float, free: float) -> float:
    """Start those for whose whole parts there is room, nobody before an earlier one; what is left."""
    while state.counts[HEAD] < state.doing.size:
        k = script.order[state.counts[HEAD]]
        if state.doing[k] != OVER:
            if not _comes(script, state, k, now) or script.whole[k] > free + SAME * script.device:
                return free
            free = _enter(script, state, k, free)
            state.until[k] = now
        state.counts[HEAD] += 1
    return free


@inlined
def settle_parts(script: Script, state: TierState, now: float) -> None:
    """Hand out what is free at this instant: to those that have waited longest, then to newcomers."""
    state.counts[GROWER] = NOBODY
    state.clock[GROWTH] = 0.0
    asked = False
    for k in range(state.doing.size):
        asked = asked or _lacks(script, state, k) or _comes(script, state, k, now)
    if not asked:
        return
    free = _free(script, state)
    if script.waits == 1:
        state.clock[FREE] = _admit(script, state, now, free)
        return
    for k in script.order:
        if _lacks(script, state, k):
            free = _give(script, state, k, free)
    for k in range(state.doing.size):
        if _comes(script, state, k, now):
            free = _enter(script, state, k, free)
    for k in script.order:
        if state.counts[GROWER] == NOBODY and _lacks(script, state, k):
            state.counts[GROWER] = k


@inlined
def grow(script: Script, state: TierState) -> None:
    """Let the part of the first who lacks some of it grow as fast as those that have ended drain; it can use that."""
    freed = 0.0
    for k in range(state.doing.size):
        if state.doing[k] == OVER and (script.common == 0.0 or state.beyond[k] == 0):
            freed += state.sending[k]
    state.clock[FREED] = freed
    k = state.counts[GROWER]
    if k == NOBODY:
        return
    state.clock[GROWTH] = freed
    if state.doing[k] == WRITING and is_full(state, k):
        state.producing[k] = min(script.write_cap[k], state.sending[k] + freed)
