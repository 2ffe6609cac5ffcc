"""What changes during a run of a whole machine: where applications stand, which flows there are, scratch space."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from penstock.engine.machine.network import Network
from penstock.engine.program import Program
from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.kernels.tournament import empty_tree
from penstock.policies.sharing.view import View, empty_view


class Rules(NamedTuple):
    """How each resource is shared."""

    mode: Ints  # R: FAIR, EVEN or ASK
    policy: Ints  # R: which of the policies is asked
    settings: Ints  # P + 1: where the parameters of a policy are
    values: Floats  # the parameters of all
    window: Floats  # P: how long a policy is told that the window is, of its true length
    losses: Ints  # P: 1: it asks for the mean loss
    memory: Ints  # R + 1: where the policy of a resource keeps what it remembers
    part: Ints  # R: which part it belongs to
    part_first: Ints  # parts + 1
    member: Ints  # the resources of each part
    own_part: Ints  # m: the part of an application; -1: it crosses nothing
    restless: Ints  # parts: 1: a policy there goes by the time, so that all of the part decides at each of its events
    heeding: Ints  # parts: 1: what is held in the buffer makes a difference to decisions there
    steady: Ints  # parts: 1: there, rates at levels below those of what comes and goes stay what they are
    tick: FloatTable  # parts × k: seconds between extra decisions of its policies; infinity: none


FAIR, EVEN, ASK = range(3)


class Jobs(NamedTuple):
    """What applications do: operations `first[i] : first[i + 1]`. Times count from the beginning of the run."""

    end: float  # of the window; infinity without one
    nodes: Floats
    release: Floats
    deadline: Floats  # when its walltime ends; infinity: never
    first: Ints
    work: Floats
    volume: Floats
    kind: Ints  # OUT or IN
    tail: Floats
    endless: Ints


class AppState(NamedTuple):
    """Per application. Times count from the beginning of the run."""

    operation: Ints  # it computes towards or moves; first[i + 1] in the tail; -1 before release
    since: Floats  # when its current compute or operation started
    posted: Floats  # 4·m: since when its flows of a kind are asked for
    under_way: Ints  # flows of its operation that are not over
    done: Floats  # ideal progress in seconds, finished phases only
    compute_done: Floats
    transferred: Floats
    completion: Floats  # NaN until it is known
    cut: Floats  # when its walltime ended it; NaN if it has not
    iterations: Floats
    iteration_seconds: Floats
    tree: Floats  # the next event of each
    touched: Ints  # scratch: whose events must be found anew
    is_touched: Ints
    segment_start: Floats
    segment_rate: Floats


class FlowState(NamedTuple):
    """Per flow, edge and resource."""

    active: Ints  # S
    rate: Floats  # S
    remaining: Floats  # S: bytes, when it was last brought up
    updated: Floats  # S
    carried: Floats  # S: bytes moved so far
    peak: Floats  # S: the most that it can be now
    use: Floats  # E: of the resource; what passes through a buffer uses twice its port
    member: Ints  # E: edges of active flows, resource after resource
    slot: Ints  # E: where an edge is in `member`
    members: Ints  # R: how many there are
    moving: Ints  # R: flows with a rate
    busy: Floats  # R: seconds with one
    busy_since: Floats  # R


class Desk(NamedTuple):
    """Scratch space of decisions."""

    stamp: Ints  # 1: of the component that is gathered
    resource_mark: Ints  # R
    flow_mark: Ints  # S
    resources: Ints  # R: of the component
    flows: Ints  # S
    dirty_resource: Ints  # R: to be decided anew
    waiting: Ints  # R: the list of these
    levels: Floats  # the level at which each resource is full, as a tree
    full: Floats  # R: the level at which it stopped flows at its last decision; infinity: it did not
    bottom: Floats  # R: the level at which it would be full if nobody were stopped elsewhere; -1: to be found anew
    bar: Floats  # 1: in this decision, flows that stopped below this level stay as they are
    capacity: Floats  # R: with as many moving as are counted
    room: Floats  # R: what frozen flows leave
    dirty: Ints  # R: to be asked in this round
    unfrozen: Ints  # R: flows that are not frozen
    asked: Ints  # R: 1: its policy has been asked in this decision
    counted: Ints  # R: applications counted as moving
    before: Ints  # R: the same at the decision before
    fixed: Ints  # R: 1: its count stays
    settled: Ints  # R: 1: in this round
    frozen: Ints  # S
    stop: Floats  # S: the level at which it was stopped; infinity: it rises, or has its peak
    given: Floats  # S: rates so far
    base: Floats  # S: of earlier passes
    least: Floats  # S
    grant: Floats  # E
    use: Floats  # compact copies of the flows of a resource, or of an entry
    weight: Floats
    limit: Floats
    edges: Ints
    entry_of: Ints  # 4·m: the row of an application's flows of a kind in the View
    head: Ints  # 4·m: the first edge of a row
    following: Ints  # E: the next edge of the same row
    rates: Floats  # 4·m
    remembered: Floats
    kept: Floats


class Clock(NamedTuple):
    """The run itself."""

    time: Floats  # now
    tick: FloatTable  # parts × k: number of the next tick
    heap_time: Floats
    heap_application: Ints
    counts: Ints


NOW = 0
WAITING, EVENTS, DIRTY, TOUCHED, SEGMENTS, IDLE, LEFT, WRONG, STAMP, ROUNDS = range(10)


def jobs_of(program: Program, kind: Ints, origin: float) -> Jobs:
    """The numbers of a program, with times counted from `origin`; `kind` says which way each operation goes."""
    return Jobs(
        end=program.end - origin,
        nodes=program.nodes,
        release=program.release - origin,
        deadline=program.release - origin + program.walltime,
        first=program.first,
        work=program.work,
        volume=program.volume,
        kind=kind,
        tail=program.tail,
        endless=program.endless.astype(np.int64),
    )


def initial_apps(program: Program) -> AppState:
    """Nobody has started."""
    m = len(program.names)
    zeros = ("since", "compute_done", "transferred", "iterations", "iteration_seconds")
    return AppState(
        operation=np.full(m, -1, np.int64),
        posted=np.zeros(4 * m),
        under_way=np.zeros(m, np.int64),
        done=program.progress.copy(),
        completion=np.full(m, np.nan),
        cut=np.full(m, np.nan),
        tree=empty_tree(m),
        touched=np.zeros(m, np.int64),
        is_touched=np.zeros(m, np.int64),
        segment_start=np.zeros(m),
        segment_rate=np.full(m, -1.0),
        **{name: np.zeros(m) for name in zeros},
    )


def initial_flows(network: Network) -> FlowState:
    """No flow is there."""
    flows, edges, resources = network.owner.size, network.resource.size, network.capacity.size
    return FlowState(
        active=np.zeros(flows, np.int64),
        rate=np.zeros(flows),
        remaining=np.zeros(flows),
        updated=np.zeros(flows),
        carried=np.zeros(flows),
        peak=network.peak.copy(),
        use=network.use.copy(),
        member=np.zeros(edges, np.int64),
        slot=np.zeros(edges, np.int64),
        members=np.zeros(resources, np.int64),
        moving=np.zeros(resources, np.int64),
        busy=np.zeros(resources),
        busy_since=np.zeros(resources),
    )


def empty_desk(network: Network, rules: Rules) -> Desk:
    """Room for every flow to be there at once."""
    m, flows, edges = network.speed.shape[0], network.owner.size, network.resource.size
    resources = network.capacity.size
    most = max(int(np.diff(network.room).max(initial=0)), 1)
    memory = int(np.diff(rules.memory).max(initial=0))
    ints = {
        "stamp": 1,
        **dict.fromkeys(
            ("resource_mark", "resources", "dirty_resource", "waiting", "dirty", "unfrozen", "asked"), resources
        ),
        **dict.fromkeys(("counted", "before", "fixed", "settled"), resources),
        **dict.fromkeys(("flow_mark", "flows", "frozen"), flows),
        **dict.fromkeys(("entry_of", "head"), 4 * m),
        "edges": most,
        "following": edges,
    }
    floats = {
        "room": resources,
        "bar": 1,
        **dict.fromkeys(("given", "base", "least", "stop"), flows),
        **dict.fromkeys(("use", "weight", "limit"), most),
        "grant": edges,
        "rates": 4 * m,
        "remembered": int(rules.memory[-1]),
        "kept": memory,
    }
    return Desk(
        levels=empty_tree(resources),
        capacity=network.capacity.copy(),
        full=np.full(resources, np.inf),
        bottom=np.full(resources, -1.0),
        **{name: np.zeros(size, np.int64) for name, size in ints.items()},
        **{name: np.zeros(size) for name, size in floats.items()},
    )


def initial_clock(program: Program, origin: float, rules: Rules, entry: Floats) -> Clock:
    """Every application waits for its release, its walltime, its entry into the buffer.

    For these stand i, i + m and i + 2·m; i + 3·m for the end of one that has a part.
    """
    m = len(program.names)
    deadline = program.release + program.walltime - origin
    due, entering = np.flatnonzero(deadline < np.inf), np.flatnonzero(entry < np.inf)
    times = np.concatenate([program.start - origin, deadline[due], entry[entering]])
    who = np.concatenate([np.arange(m), m + due, 2 * m + entering])
    order = np.argsort(times, kind="stable")  # a sorted array is a heap
    counts = np.zeros(10, np.int64)
    counts[[WAITING, LEFT]] = times.size, m
    spare = 4 * m - times.size
    return Clock(
        time=np.zeros(1),
        tick=np.ones(rules.tick.shape),
        heap_time=np.concatenate([times[order], np.zeros(spare)]),
        heap_application=np.concatenate([who[order], np.zeros(spare)]).astype(np.int64),
        counts=counts,
    )


def machine_view(m: int, memory: Sequence[Floats], settings: Floats, begin: float, end: float) -> View:
    """Rows for the flows of each kind of every application; memories of all resources one after the other."""
    whole = np.concatenate([np.zeros(0), *memory])
    return empty_view(4 * m, settings, whole)._replace(begin=begin, end=end, bandwidth=np.zeros(4 * m))
