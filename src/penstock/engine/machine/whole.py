"""All that the loop of a whole machine works on, in one record: what its functions hand to each other."""

from __future__ import annotations

from typing import NamedTuple

from penstock.engine.link.state import Segments
from penstock.engine.machine.network import Network
from penstock.engine.machine.pool import Pool
from penstock.engine.machine.state import AppState, Clock, Desk, FlowState, Jobs, Rules
from penstock.kernels.records import record_type
from penstock.policies.sharing.view import View


class Machine(NamedTuple):
    """A function that needs more than two of these takes all of them."""

    network: Network
    rules: Rules
    jobs: Jobs
    apps: AppState
    flows: FlowState
    pool: Pool
    clock: Clock
    desk: Desk
    seen: View  # what policies are shown
    segments: Segments


MACHINE = record_type(Machine)
