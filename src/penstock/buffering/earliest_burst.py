"""Earliest burst: who would be held up first if nothing were done for it comes first (ours).

A buffer that drains has until its application has filled it again: the start of its next burst, and the time to fill
the room that there is. One that is fetched into has until the input that is there has been read. This is the rule that
finds a schedule whenever shares are enough (see the sizing of static partitions), with what is known of the next burst
only.
"""

from __future__ import annotations

from penstock.buffering.strategy import strategy
from penstock.buffering.view import Flows
from penstock.sharing.view import Floats


@strategy("earliest-burst", source="ours")
def earliest_burst(flows: Flows, rates: Floats) -> None:
    """Whoever would be held up first if nothing were done for it comes first."""
    for row in range(rates.size):
        spare = flows.held[row] if flows.reading[row] == 1 else flows.room[row]
        flows.key[row] = flows.due[row] + spare / flows.pace[row]
        flows.rows[row] = row
        rates[row] = 0.0
    into, out, both = flows.read_limit, flows.write_limit, flows.joint_limit
    for place in range(rates.size):
        best = place
        for other in range(place + 1, rates.size):
            if flows.key[flows.rows[other]] < flows.key[flows.rows[best]]:
                best = other
        row = flows.rows[best]
        flows.rows[best] = flows.rows[place]
        rate = min(flows.cap[row], both, into if flows.reading[row] == 1 else out)
        if flows.under[row] >= 0:
            rate = min(rate, rates[flows.under[row]])
        rates[row] = rate
        both -= rate
        if flows.reading[row] == 1:
            into -= rate
        else:
            out -= rate
