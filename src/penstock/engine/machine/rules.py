"""Which policy shares which resource in the loop, in arrays; parts; what policies remember, when they are asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.engine.dedicated import dedicated
from penstock.engine.link.execution import tick_of
from penstock.engine.machine.asking import MOST_POLICIES
from penstock.engine.machine.network import IN, Network
from penstock.engine.machine.state import ASK, EVEN, FAIR, Rules
from penstock.engine.program import Program
from penstock.engine.stepping import idle
from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.sharing.asking import compiled, first_class
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Outlook, Sharing

# Policies that resources apply by themselves, to flows; and those whose answers do not change as time goes by.
_OWN = {"fair-share": FAIR, "best-effort": FAIR, "max-min": EVEN}
# Behind a buffer first come, first served changes: what drains was posted when its part was last empty.
_RESTFUL = (*_OWN, "fcfs")
_SMALL = 1e-6  # of a capacity, or a peak of a weight; rests below 1e-9 are nothing


def parts_of(network: Network, program: Program, kind: Ints) -> tuple[Ints, Ints]:
    """The part of every resource and of every application (-1: it crosses nothing): joined by somebody's paths.

    Who only writes does not join what is read from to the rest. One without operations is where it might move.
    """
    count, m = network.capacity.size, network.speed.shape[0]
    leader = np.arange(count)

    def root(resource: int) -> int:
        while leader[resource] != resource:
            leader[resource] = leader[leader[resource]]
            resource = int(leader[resource])
        return resource

    first_of = np.full(m, -1)
    owner, way = network.owner[network.edge_flow], network.kind[network.edge_flow] % 2
    moves = np.zeros((m, 2), dtype=bool)
    moves[np.repeat(np.arange(m), np.diff(program.first)), kind] = True
    moves[~moves.any(axis=1)] = True
    used = moves[owner, way]
    for i, resource in zip(owner[used], network.resource[used], strict=True):
        if first_of[i] < 0:
            first_of[i] = resource
        else:
            leader[root(int(resource))] = root(int(first_of[i]))
    roots = np.array([root(resource) for resource in range(count)])
    _, part = np.unique(roots, return_inverse=True)
    own = np.where(first_of >= 0, part[first_of], -1)
    return part.astype(np.int64), own.astype(np.int64)


def rules_of(
    network: Network,
    chosen: Sequence[Sharing],
    program: Program,
    kind: Ints,
    foresight: Foresight | None,
    origin: float | None,
) -> tuple[Rules, list[Floats], tuple[Any, ...]]:
    """Rules, what each resource's policy remembers at first, and the policies as kernels call them.

    `chosen` has a policy for each resource; `kind` says which way each operation goes.
    """
    distinct = list({id(policy): policy for policy in chosen}.values())
    asked = [policy for policy in distinct if _mode(policy) == ASK]
    if len(asked) > MOST_POLICIES:
        raise PolicyError(
            f"a plan has {len(asked)} different sharing policies; at most {MOST_POLICIES}, besides fair-share"
        )
    number = {id(policy): place for place, policy in enumerate(asked)}
    part, own_part = parts_of(network, program, kind)
    parts = int(part.max(initial=-1)) + 1
    ticks = _ticks(chosen, part, own_part, program, parts)
    several = np.bincount(part)[part] > 1  # resources of its part, for each
    memory = [_memory(network, chosen[k], k, foresight, origin, bool(several[k])) for k in range(len(chosen))]
    settings = [policy.settings_array() for policy in asked] or [np.zeros(0)]
    order = np.argsort(part, kind="stable")
    settled = _OWN if network.buffered.any() else _RESTFUL
    restful = np.array([policy.name in settled for policy in chosen], dtype=bool)
    mode = np.array([_mode(policy) for policy in chosen], np.int64)
    readers = np.repeat(np.arange(own_part.size), np.diff(program.first))[kind == IN]
    heeding = _heeding(network, mode, part, own_part, readers)
    rules = Rules(
        mode=mode,
        policy=np.array([number.get(id(policy), 0) for policy in chosen], np.int64),
        settings=np.cumsum([0] + [each.size for each in settings]).astype(np.int64),
        values=np.concatenate(settings),
        window=np.array([policy.window for policy in asked] or [1.0]),
        losses=np.array([int(policy.losses) for policy in asked] or [0], np.int64),
        memory=np.cumsum([0] + [each.size for each in memory]).astype(np.int64),
        part=part,
        part_first=np.searchsorted(part[order], np.arange(parts + 1)).astype(np.int64),
        member=order.astype(np.int64),
        own_part=own_part,
        restless=np.array([int(not restful[part == group].all()) for group in range(parts)], np.int64),
        heeding=heeding,
        steady=_steady(network, mode, part, heeding),
        tick=ticks,
    )
    decide = [first_class(policy) if policy.compiled else compiled(policy) for policy in asked]
    return rules, memory, tuple([*decide, *[idle] * (MOST_POLICIES - len(decide))])


def _heeding(network: Network, mode: Ints, part: Ints, own_part: Ints, readers: Ints) -> Ints:
    """Parts in which what the buffer holds makes a difference to decisions; elsewhere only flows that come and go do.

    It does to policies that are asked, to who gives way where resources that are shared differently wait for each
    other, to what is fetched into full parts, and to what passes a port.
    """
    own_modes = [mode[part == group] for group in range(int(part.max(initial=-1)) + 1)]
    heeding = np.array([int(ASK in own or np.unique(own).size > 1) for own in own_modes], np.int64)
    heeding[own_part[readers][own_part[readers] >= 0]] = 1
    if network.port >= 0:
        heeding[part[network.port]] = 1
    return heeding


def _steady(network: Network, mode: Ints, part: Ints, heeding: Ints) -> Ints:
    """Parts whose rates follow from the flows that are there, level by level, so that the lower ones may stay.

    All must share alike by themselves, and no flow get so little that it could be taken for rounding, even if all that
    may come were there. Where each flow crosses one resource there is nothing to leave out.
    """
    flow, resource, parts = network.edge_flow, network.resource, heeding.size
    steady = np.zeros(parts, np.int64)
    if network.efficiency.size > 0 or flow.size == 0:
        return steady
    weight = np.where(mode[resource] == EVEN, network.even[flow], network.weight[flow])
    asked = np.bincount(resource, weights=network.use * weight, minlength=part.size)
    lowest = np.full(network.owner.size, np.inf)  # level of each flow
    np.minimum.at(lowest, flow, network.capacity[resource] / asked[resource])
    least = network.use * np.minimum(network.peak[flow], lowest[flow] * weight) / network.capacity[resource]
    small = (least <= _SMALL) | (network.peak[flow] <= _SMALL * network.weight[flow])
    joined = np.diff(network.path)[flow] > 1
    for group in np.flatnonzero(heeding == 0) if network.buffered.any() else range(parts):
        own, here = mode[part == group], part[resource] == group
        alike = own[0] != ASK and bool((own == own[0]).all())
        steady[group] = int(alike and joined[here].any() and not small[here].any())
    return steady


def _mode(policy: Sharing) -> int:
    return _OWN.get(policy.name, ASK) if policy.compiled else ASK


def _memory(
    network: Network, policy: Sharing, resource: int, foresight: Foresight | None, origin: float | None, several: bool
) -> Floats:
    """What the policy of a resource remembers at first; one that plans ahead plans for those who may come there.

    Such a policy counts what it has started, by its own grants. Where flows cross several resources another one may
    grant less, and behind a buffer nobody knows when bytes drain: there it is refused.
    """
    own = slice(network.occupant_first[resource], network.occupant_first[resource + 1])
    occupants = network.occupant[own]
    # As the loop numbers those that ask: a port has four kinds of flows even if nobody has a part behind it.
    kinds = 4 if network.buffered.any() or network.port != -1 else 1
    if policy.prepare is None or occupants.size == 0:
        return np.zeros(0 if _mode(policy) != ASK else policy.memory * occupants.size * kinds)
    told = None
    if foresight is not None and origin is not None and kinds == 1 and not several:
        picked = foresight.pick(occupants)
        told = picked._replace(start=picked.start - origin, until=picked.untils() - origin)
    return policy.initial_memory(occupants.size, told)


def _ticks(chosen: Sequence[Sharing], part: Ints, own_part: Ints, program: Program, parts: int) -> Floats:
    """Seconds between the extra decisions of each part; infinity where there are none."""
    found: list[set[float]] = [set() for _ in range(parts)]
    outlooks: dict[int, tuple[Outlook, Program]] = {}
    for policy, group in zip(chosen, part.tolist(), strict=True):
        rows = np.flatnonzero(own_part == group)
        if rows.size == 0 or _mode(policy) != ASK:
            continue
        if group not in outlooks:
            own = program.pick(rows)
            outlooks[group] = Outlook(own.begin, own.end, int(dedicated(own).started.sum())), own
        if seconds := tick_of(policy, *outlooks[group]):
            found[group].add(seconds)
    width = max((len(each) for each in found), default=0)
    table = np.full((parts, width), np.inf)
    for group, each in enumerate(found):
        table[group, : len(each)] = sorted(each)
    return table
