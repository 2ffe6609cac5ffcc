"""The common part of a burst buffer in the loop: who has filled his own part goes on there, until it is full.

Room that is freed in a full common part goes to those who write into it, alike, as far as each can use it: it stays
full, and they write faster than they send. If nobody does, others may fetch ahead into it, all together no faster than
room is freed.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.tier.arrays import (
    COMMON_FULL,
    COMMON_RATE,
    COMMON_USED,
    READING,
    WAITING,
    WRITING,
    Script,
    TierState,
)
from penstock.engine.tier.rules import an_instant, filling_of, growth_of, held_by, is_full
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined, part


@inlined
def settle_common(script: Script, state: TierState, now: float) -> None:
    """Count what is in the common part, and note whether that is all it can hold."""
    if script.common == 0.0:
        return
    used = 0.0
    for k in range(state.doing.size):
        if state.beyond[k] == 1:
            used += max(0.0, held_by(state, k) - state.space[k])
    state.clock[COMMON_USED] = used
    growing = state.clock[COMMON_RATE]
    if growing > 0.0 and script.common - used <= growing * an_instant(script, now):
        state.counts[COMMON_FULL] = 1
    state.counts[WAITING] = 0
    for k in range(state.doing.size):
        state.counts[WAITING] += state.doing[k] == WRITING and is_full(state, k)


@inlined
def _hand_out(state: TierState, unused: Floats, freed: float, waiting: int) -> float:
    """Raise all that wait together, as far as each can use it; what is left of `freed`."""
    while freed > 0.0 and waiting > 0:
        alike, least = freed / waiting, np.inf
        for k in range(unused.size):
            if unused[k] > 0.0:
                least = min(least, unused[k])
        given = min(alike, least)
        for k in range(unused.size):
            if unused[k] > 0.0:
                state.producing[k] += given
                unused[k] -= given
                waiting -= unused[k] <= 0.0
                freed -= given
        if given == alike:
            return 0.0
    return freed


@inlined
def _hold_back(script: Script, state: TierState, growing: float) -> None:
    """Let those who fetch ahead into the common part do so more slowly, all alike, so that it does not grow."""
    fetching = 0.0
    for k in range(state.doing.size):
        if script.whole[k] == 0.0 and state.doing[k] != READING:
            fetching += state.fetching[k]
    for k in range(state.doing.size):
        if script.whole[k] == 0.0 and state.doing[k] != READING:
            state.fetching[k] *= max(0.0, fetching - growing) / fetching


@inlined
def share_freed(script: Script, state: TierState, unused: Floats) -> None:
    """Let those who wait for room have what is freed; note how fast the common part fills then."""
    if script.common == 0.0:
        return
    m = state.doing.size
    growing, waiting = 0.0, 0
    for k in range(m):
        unused[k] = 0.0
        if state.beyond[k] == 1:
            growing += filling_of(state, k) - growth_of(state, k)
            if state.doing[k] == WRITING:
                unused[k] = script.write_cap[k] - state.producing[k]
                waiting += unused[k] > 0.0
    if state.counts[COMMON_FULL] == 1 and growing > 0.0:
        _hold_back(script, state, growing)
        growing = 0.0
    elif state.counts[COMMON_FULL] == 1 and growing < 0.0:
        growing = -_hand_out(state, part(unused, 0, m), -growing, waiting)
        if growing < 0.0:
            state.counts[COMMON_FULL] = 0
    state.clock[COMMON_RATE] = growing


@inlined
def common_full_at(script: Script, state: TierState, now: float) -> float:
    """When the common part will be full, as things stand."""
    growing = state.clock[COMMON_RATE]
    if state.counts[COMMON_FULL] == 1 or growing <= 0.0:
        return np.inf
    return now + max(0.0, script.common - state.clock[COMMON_USED]) / growing  # type: ignore[no-any-return]
