"""The loop shows the unfrozen flows of a resource to its policy, and divides what each row is granted among its flows.

A row stands for the flows of one kind of one application: its limit is what they can use together, its bandwidth what
they would have if the application were alone, its remaining bytes that bandwidth for the seconds left.
"""

from __future__ import annotations

import numpy as np

from penstock.engine.link.losses import NOT_ASKED
from penstock.engine.machine.filling import level_of
from penstock.engine.machine.standing import progress_now, time_left
from penstock.engine.machine.whole import Machine
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import glance, inner, part
from penstock.policies.sharing.policy import Decide
from penstock.policies.sharing.rules import loss, mean_iteration
from penstock.policies.sharing.view import View

MOST_POLICIES = 6  # that a plan may have on its resources, besides those that loops apply by themselves


@inner
def _rows_of(machine: Machine, resource: int, kinds: int) -> int:
    """Group the unfrozen flows of a resource by application and kind, with what each can use; how many there are."""
    network, flows, desk, view = machine.network, machine.flows, machine.desk, machine.seen
    start, rows = network.room[resource], 0
    for place in range(start, start + flows.members[resource]):
        flow = network.edge_flow[flows.member[place]]
        desk.entry_of[4 * network.owner[flow] + network.kind[flow]] = -1
    for place in range(start, start + flows.members[resource]):
        edge = flows.member[place]
        flow = network.edge_flow[edge]
        if desk.frozen[flow] == 1:
            continue
        own = 4 * network.owner[flow] + network.kind[flow]
        row = desk.entry_of[own]
        if row < 0:
            row = rows
            rows += 1
            desk.entry_of[own] = row
            desk.head[row] = -1
            who = network.place[edge]
            view.application[row] = who if kinds == 1 else kinds * who + network.kind[flow]
            view.limit[row] = 0.0
            view.bandwidth[row] = 0.0
            view.rate[row] = 0.0
            view.rows[row] = own
        desk.following[edge] = desk.head[row]
        desk.head[row] = edge
        view.limit[row] += flows.use[edge] * (flows.peak[flow] - desk.base[flow])
        view.bandwidth[row] += flows.use[edge] * network.weight[flow]
        view.rate[row] += flows.use[edge] * flows.rate[flow]
    return rows


@inner
def _describe(machine: Machine, rows: int, capacity: float, now: float) -> None:
    """The rest of the columns."""
    jobs, apps, view = machine.jobs, machine.apps, machine.seen
    for row in range(rows):
        own = view.rows[row]
        i, kind = own // 4, own % 4
        view.limit[row] = min(view.limit[row], capacity)
        view.nodes[row] = jobs.nodes[i]
        view.posted[row] = apps.posted[own]
        view.release[row] = jobs.release[i]
        view.progress[row] = progress_now(machine, i, now)
        view.omega[row] = mean_iteration(apps.iteration_seconds[i], apps.iterations[i])
        view.remaining[row] = view.bandwidth[row] * time_left(machine, i, kind, now)


@inner
def _mean_loss(machine: Machine, resource: int, now: float) -> float:
    """The mean loss of those who may use a resource, are released and not finished."""
    network, jobs, apps = machine.network, machine.jobs, machine.apps
    in_all, there = 0.0, 0
    nearly = now * (1.0 + SAME)
    for place in range(network.occupant_first[resource], network.occupant_first[resource + 1]):
        i = network.occupant[place]
        if apps.operation[i] >= 0 and not apps.completion[i] <= nearly and np.isnan(apps.cut[i]):
            age = now - jobs.release[i]
            there += 1
            in_all += loss(age - progress_now(machine, i, now), age)
    return in_all / there if there > 0 else 0.0


@inner
def _improper(view: View, rates: Floats, rows: int, room: float) -> bool:
    """Whether a decision gives what is not there."""
    in_all = 0.0
    for row in range(rows):
        if not 0.0 <= rates[row] <= view.limit[row] * (1.0 + SAME):
            return True
        in_all += rates[row]
    return in_all > room * (1.0 + SAME)


@inner
def _decide(machine: Machine, policies: tuple[Decide, ...], resource: int, rows: int, now: float, lost: float) -> None:
    """Ask the policy of a resource for the rates of its rows, on what is left of it."""
    rules, desk, view = machine.rules, machine.desk, machine.seen
    which = rules.policy[resource]
    for row in range(rows):
        desk.rates[row] = 0.0
    shown = View(
        now,
        view.begin,
        view.end * rules.window[which],
        desk.room[resource],
        glance(view.application, 0, rows),
        glance(view.nodes, 0, rows),
        glance(view.limit, 0, rows),
        glance(view.remaining, 0, rows),
        glance(view.posted, 0, rows),
        glance(view.release, 0, rows),
        glance(view.progress, 0, rows),
        glance(view.omega, 0, rows),
        glance(view.rate, 0, rows),
        glance(view.confidence, 0, rows),
        glance(view.bandwidth, 0, rows),
        glance(rules.values, rules.settings[which], rules.settings[which + 1] - rules.settings[which]),
        part(view.memory, rules.memory[resource], rules.memory[resource + 1] - rules.memory[resource]),
        part(view.key, 0, rows),
        part(view.rows, 0, rows),
        lost,
    )
    policies[which](shown, part(desk.rates, 0, rows))


@inner
def _copy(source: Floats, start: int, target: Floats, place: int, size: int) -> None:
    for k in range(size):
        target[place + k] = source[start + k]


@inner
def _hand_out(machine: Machine, rows: int) -> None:
    """Divide what each row got among its flows, at one level."""
    network, flows, desk = machine.network, machine.flows, machine.desk
    for row in range(rows):
        size, edge = 0, desk.head[row]
        while edge >= 0:
            flow = network.edge_flow[edge]
            desk.edges[size] = edge
            desk.use[size] = flows.use[edge]
            desk.weight[size] = network.weight[flow]
            desk.limit[size] = flows.peak[flow] - desk.base[flow]
            size += 1
            edge = desk.following[edge]
        if size == 1:
            desk.grant[desk.edges[0]] = min(desk.limit[0], desk.rates[row] / desk.use[0])
            continue
        level = level_of(desk.use, desk.weight, desk.limit, size, desk.rates[row], 0.0)
        for place in range(size):
            most = desk.limit[place]
            desk.grant[desk.edges[place]] = most if level == np.inf else min(most, level * desk.weight[place])


@inner
def ask_policy(
    machine: Machine, policies: tuple[Decide, ...], resource: int, kinds: int, keep: bool, now: float
) -> bool:
    """The grants of a resource that a policy divides; False if it gives what is not there.

    What a policy remembers is what it noted when it was first asked in this decision, when it saw everybody. In later
    rounds less is left than some could use. A policy that reckons with nobody being able to use more than there is, and
    so gives what is not there, is asked again as if they could not.
    """
    network, rules, desk, view = machine.network, machine.rules, machine.desk, machine.seen
    rows = _rows_of(machine, resource, kinds)
    _describe(machine, rows, network.capacity[resource], now)
    lost = NOT_ASKED
    if rules.losses[rules.policy[resource]] == 1:
        lost = _mean_loss(machine, resource, now)
    start = rules.memory[resource]
    size = rules.memory[resource + 1] - start
    again = desk.asked[resource] == 1
    if keep and size > 0:
        _copy(view.memory, start, desk.kept, 0, size)
        if again:
            _copy(desk.remembered, start, view.memory, start, size)
        else:
            _copy(view.memory, start, desk.remembered, start, size)
    desk.asked[resource] = 1
    _decide(machine, policies, resource, rows, now, lost)
    room = desk.room[resource]
    proper = not _improper(view, desk.rates, rows, room)
    if not proper and room < network.capacity[resource]:
        for row in range(rows):
            view.limit[row] = min(view.limit[row], room)
        if keep and size > 0:
            _copy(desk.remembered, start, view.memory, start, size)
        _decide(machine, policies, resource, rows, now, lost)
        proper = not _improper(view, desk.rates, rows, room)
    if keep and size > 0 and again:
        _copy(desk.kept, 0, view.memory, start, size)
    if proper:
        _hand_out(machine, rows)
    return proper
