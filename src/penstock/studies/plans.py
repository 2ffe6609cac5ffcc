"""Answers of studies that decide one thing, as plans: so that they can be run together."""

from __future__ import annotations

import math
from typing import Literal

from penstock.errors import InvalidOption
from penstock.model import Buffering, Plan, Scenario
from penstock.model.plan import IO_NODE, LINK
from penstock.policies.sharing.max_min import max_min
from penstock.studies.buffers import Buffered
from penstock.studies.packs import Packing
from penstock.studies.sizing import Sizing
from penstock.studies.targets.export import plan_of_allotment

__all__ = ["plan_of_allotment", "plan_of_buffered", "plan_of_packing", "plan_of_sizing"]


def plan_of_packing(packing: Packing, scenario: Scenario) -> Plan:
    """The I/O node of every job, when it starts, and how I/O nodes are shared.

    Packs are in its starts: who is in one starts when the one before has ended. A platform without I/O nodes is one.
    """
    through = scenario.platform.io_nodes is not None
    return Plan(
        mapping={job.name: job.io_node for job in packing.jobs} if through else None,
        start={job.name: job.start for job in packing.jobs},
        sharing={IO_NODE if through else LINK: packing.sharing},
    )


def plan_of_sizing(sizing: Sizing) -> Plan:
    """The smallest buffer and its parts."""
    if sizing.infeasible is not None or sizing.shares is None:
        why = "nobody has a part of his own" if sizing.shares is None else "no size is enough"
        raise InvalidOption(f"--plan-out: {why}, so there is nothing to plan; choose another --partition or --lead")
    size = sizing.size
    shares = {name: share / size if size > 0.0 else 0.0 for name, share in sizing.shares.items()}
    return Plan(buffering=Buffering(capacity=size, shares=shares, lead=_lead(sizing.lead)))


def plan_of_buffered(run: Buffered) -> Plan:
    """The buffer, its parts, and how the file system behind it is shared: P5's greedy strategy is max-min."""
    if run.partition == "dynamic" or run.common > 0.0:
        raise InvalidOption("--plan-out: a plan gives every application a part of its own; leave --common out")
    whole = run.capacity
    shares = {name: part / whole if whole > 0.0 else 0.0 for name, part in zip(run.names, run.shares, strict=True)}
    # What a sharing policy says as well is said by that: it is what a whole machine goes by.
    fair = run.strategy == "fair"
    chosen = Buffering(strategy=None if fair else run.strategy, capacity=whole, shares=shares, lead=_lead(run.lead))
    return Plan(buffering=chosen, sharing={LINK: max_min.name} if fair else None)


def _lead(seconds: float) -> Literal["forever"] | float:
    return "forever" if math.isinf(seconds) else seconds
