"""For buffering policies: flows one after the other; the first takes all that it can use, the next what is left."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import inlined
from penstock.policies.buffering.port import left_beside_straight, more_beside_straight
from penstock.policies.buffering.view import Flows


@inlined
def left_of(flows: Flows, rates: Floats) -> tuple[float, float, float]:
    """What these rates leave of the limits: of reads, of writes, of both."""
    into, out, both = flows.read_limit, flows.write_limit, flows.joint_limit
    for row in range(rates.size):
        both -= rates[row]
        if flows.reading[row] == 1:
            into -= rates[row]
        else:
            out -= rates[row]
    return into, out, both


@inlined
def room_made(flows: Flows, rates: Floats, row: int) -> float:
    """What a flow into a full part may take: what leaves that part, and what it grows by; infinity: it is not full."""
    if flows.under[row] < 0 and flows.grows[row] == 0:
        return np.inf
    made = rates[flows.under[row]] if flows.under[row] >= 0 else 0.0
    if flows.grows[row] == 1:
        for other in range(rates.size):
            made += rates[other] if flows.over[other] == 1 else 0.0
    return made


@inlined
def keep_parts(flows: Flows, rates: Floats) -> None:
    """Let no part overflow, whoever divides; what is not a number stays one."""
    for row in range(rates.size):
        made = room_made(flows, rates, row)
        rates[row] = made if made < rates[row] else rates[row]


@inlined
def serve_in_turn(flows: Flows, rates: Floats) -> None:
    """Give flows by rising `key` as much more as each can use; those with an infinite key get nothing more."""
    _serve(flows, rates, np.inf)


@inlined
def serve_straight(flows: Flows, rates: Floats) -> None:
    """The same within what is left of the port, if as much as possible passes straight."""
    _serve(flows, rates, left_beside_straight(flows, rates))


@inlined
def _serve(flows: Flows, rates: Floats, port: float) -> None:
    into, out, both = left_of(flows, rates)
    for row in range(rates.size):
        flows.rows[row] = row
    for place in range(rates.size):
        best = place
        for other in range(place + 1, rates.size):
            if flows.key[flows.rows[other]] < flows.key[flows.rows[best]]:
                best = other
        row = flows.rows[best]
        flows.rows[best] = flows.rows[place]
        if flows.key[row] == np.inf:
            return
        more = min(flows.cap[row] - rates[row], both, into if flows.reading[row] == 1 else out)
        more = min(more, room_made(flows, rates, row) - rates[row], more_beside_straight(flows, rates, row, port))
        if more > 0.0:
            rates[row] += more
            port = port if port == np.inf else left_beside_straight(flows, rates)
            both -= more
            if flows.reading[row] == 1:
                into -= more
            else:
                out -= more
