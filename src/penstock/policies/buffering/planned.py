"""Planned: who is held up first, then the schedule of the smallest buffer, then who would be held up next (ours).

With the smallest buffer nobody who writes is held up but by rounding, and everybody ends as planned. Draining earlier
than planned frees room and harms nobody, so output may run ahead of its plan. If nobody is late it keeps the planned
rate then: would it wait for its plan, two flows could take turns at being ahead, a thousand times a second. Input that
is fetched earlier takes room, so only what is late, or waited for, may. With less than the smallest buffer the schedule
is a guide.

What is written and sent at once passes straight, as in the schedule; nothing beyond it gets more of the buffer's port
than the schedule leaves.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.in_turn import left_of, room_made, serve_straight
from penstock.policies.buffering.policy import strategy
from penstock.policies.buffering.view import Flows

_LAST = np.finfo(np.float64).max


@inlined
def _as_planned(flows: Flows, rates: Floats, ahead: bool) -> None:
    """Give flows that have nothing yet their planned rate: those not ahead of their plan, or output that is."""
    into, out, both = left_of(flows, rates)
    for row in range(rates.size):
        reading = flows.reading[row] == 1
        chosen = flows.lag[row] < 0.0 and not reading if ahead else flows.lag[row] >= 0.0
        if chosen and rates[row] == 0.0:
            rate = min(flows.planned[row], flows.cap[row], both, into if reading else out)
            rate = max(0.0, min(rate, room_made(flows, rates, row)))
            rates[row] = rate
            both -= rate
            if reading:
                into -= rate
            else:
                out -= rate


@strategy("planned", source="ours", plans=True)
def planned(flows: Flows, rates: Floats) -> None:
    """Whoever is held up, then the schedule that was planned; what is left to whoever would be held up first."""
    for row in range(rates.size):
        rates[row] = 0.0
        flows.key[row] = flows.now if flows.blocked[row] == 1 and flows.reading[row] == 0 else np.inf
    serve_straight(flows, rates)
    _as_planned(flows, rates, False)
    for row in range(rates.size):
        flows.key[row] = min(flows.stuck[row], _LAST) if flows.lag[row] > 0.0 else np.inf
    serve_straight(flows, rates)
    _as_planned(flows, rates, True)
    for row in range(rates.size):
        waits = flows.blocked[row] == 1 or flows.lag[row] > 0.0
        flows.key[row] = min(flows.stuck[row], _LAST) if waits or flows.reading[row] == 0 else np.inf
    serve_straight(flows, rates)
