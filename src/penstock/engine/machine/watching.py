"""The loop of a whole machine, stopped again and again to look: what crossed every resource until then, as a `Passage`.

The run is made once more, a few events at a time, when somebody wants to see where bytes were. Between two looks every
flow has one rate, or few, so that means over steps of time are right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from penstock.engine.link.loop import DONE
from penstock.engine.machine.state import NOW
from penstock.engine.passage import Passage
from penstock.kernels.arrays import Floats

if TYPE_CHECKING:
    from penstock.engine.machine.execution import MachineExecution

LOOKS = 3000
STEPS = 600


class Look(NamedTuple):
    """Totals since the beginning of the run, and what the buffer holds."""

    time: float
    crossed: Floats
    used: Floats
    moved: float
    held: float


def passage_of(execution: MachineExecution, events: int, room: float) -> Passage:
    """Run to the end, looking after every few of so many events."""
    execution.go_on(0)
    looks = [_look(execution)]
    while execution.go_on(max(1, events // LOOKS)) != DONE:
        looks.append(_look(execution))
    looks.append(_look(execution))
    times = np.array([look.time for look in looks])
    at = np.linspace(0.0, times[-1], STEPS + 1)
    seconds = at[1] - at[0]

    def rates(totals: Floats) -> Floats:
        means: Floats = np.diff(np.interp(at, times, totals)) / seconds
        return means

    crossed, used = (np.array(column) for column in zip(*((look.crossed, look.used) for look in looks), strict=True))
    capacity = execution.network.capacity
    shown = [k for k in range(capacity.size) if crossed[-1, k] > 0.0 or execution.resources[k].kind == "target"]
    held = np.interp((at[:-1] + at[1:]) / 2.0, times, [look.held for look in looks])
    return Passage(
        begin=execution.origin,
        end=execution.origin + float(times[-1]),
        names=tuple(execution.resources[k].name for k in shown),
        kinds=tuple(execution.resources[k].kind for k in shown),
        use=np.clip(np.array([rates(used[:, k]) / capacity[k] for k in shown]), 0.0, 1.0),
        rate=np.array([rates(crossed[:, k]) for k in shown]),
        moved=np.maximum(0.0, rates(np.array([look.moved for look in looks]))),
        held=np.maximum(0.0, held),
        room=room,
    )


def _look(execution: MachineExecution) -> Look:
    network, flows, apps, pool = execution.network, execution.flows, execution.apps, execution.pool
    now = float(execution.clock.time[NOW])
    late = np.where(flows.active == 1, flows.rate * (now - flows.updated), 0.0)
    carried = (flows.carried + late)[network.edge_flow]
    size = network.capacity.size
    since = now - pool.updated
    held = pool.out + pool.input + (pool.write - pool.drain + pool.fetch - pool.read) * since
    moved = float(apps.transferred.sum())
    for i in np.flatnonzero((apps.under_way > 0) & (apps.operation >= 0) & np.isnan(apps.completion)):
        operation = apps.operation[i]
        if network.buffered[i]:
            left = pool.todo[i] - (pool.write[i] + pool.read[i]) * since[i]
        else:
            own = 4 * i + execution.jobs.kind[operation]
            mine = slice(network.first[own], network.first[own + 1])
            left = np.where(flows.active[mine] == 1, flows.remaining[mine] - late[mine], 0.0).sum()
        moved += float(execution.jobs.volume[operation] - max(0.0, float(left)))
    return Look(
        now,
        np.bincount(network.resource, carried, size).astype(np.float64),
        np.bincount(network.resource, carried * network.use, size).astype(np.float64),
        moved,
        float(held[network.buffered == 1].sum()),
    )
