"""The mean loss on one storage target while the loop runs, for policies that ask for it."""

from __future__ import annotations

from numba import types

from penstock.engine.link.losses import of_rows
from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.kernels.compile import kernel
from penstock.policies.sharing.rules import loss

_F = types.float64[::1]
_I = types.int64[::1]


@kernel(
    types.float64(types.float64, _F, _F, types.int64, types.int64, types.int64, _I, _I, _F, _F, _F),
    fastmath={"nsz", "reassoc"},
)
def mean_loss_on_target(
    now: float,
    row_release: Floats,
    row_progress: Floats,
    start: int,
    active: int,
    stop: int,
    occupant: Ints,
    operation: Ints,
    release: Floats,
    until: Floats,
    lost: Floats,
) -> float:
    """The mean over all of the target whose places are `start : stop` that have started and not ended."""
    in_all, there = 0.0, 0.0
    nearly = now * (1.0 + SAME)
    for place in range(start, stop):
        application = occupant[place]
        if operation[application] >= 0 and until[application] > nearly:
            there += 1.0
            in_all += loss(lost[place], now - release[application])
    return (in_all + of_rows(now, row_release, row_progress, start, active)) / there
