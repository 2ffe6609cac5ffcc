"""The whole machine's sharing judged: against exact filling, SimGrid, what models §9 promises, and cases by hand."""

import random
import subprocess
from math import isclose

import pytest

from benchmarks.peers.build import build_peer, missing

from .machine_filling import exactly, unfair
from .machine_shares import Flow, Shared, allocate, moment_of, operation, shares

ORDERS = ("fcfs", "greedy-yield", "greedy-com")
STEADY = ("fair-share", "max-min", *ORDERS, "set-10")
# Whom these put first depends on what is left of a resource: asked again in a later round they may choose another.
FICKLE = ("credited-yield", "loss-capped-srpt", "lookahead-greedy-yield")


def networks(seed, costs=(1.0,), owners=8, resources=6):
    """Resources, flows over some of them, and what is known of their owners."""
    draw = random.Random(seed)
    capacity = {f"r{i}": draw.choice([1.0, 2.0, 5.0, draw.uniform(0.5, 9)]) for i in range(draw.randint(1, resources))}
    flows, facts = [], {}
    for i in range(draw.randint(1, owners)):
        common = draw.sample(sorted(capacity), draw.randint(0, min(2, len(capacity))))
        ways = []
        for _ in range(draw.choice([1, 1, 2, 3])):
            own = draw.sample(sorted(capacity), draw.randint(0 if common else 1, len(capacity)))
            uses = {name: draw.choice(costs) for name in {*common, *own}}
            ways.append((uses, draw.choice([1.0, 2.0, draw.uniform(0.2, 8)])))
        flows += operation(f"a{i}", ways, capacity)
        known = {"posted": draw.choice([0.0, 1.0, draw.uniform(0, 9)]), "release": 0.0, "nodes": 1}
        known |= {"progress": draw.choice([1.0, draw.uniform(0, 9)]), "time_left": draw.uniform(0.1, 9)}
        facts[f"a{i}"] = known
    return capacity, flows, moment_of(facts, now=10.0, end=50.0)


def machine_of(capacity, policy):
    choose = policy if callable(policy) else lambda _: policy
    return {name: Shared(size, choose(name)) for name, size in capacity.items()}


def mixed(seed):
    """A policy of its own for each resource."""
    draw = random.Random(seed)
    return lambda _: draw.choice(STEADY)


@pytest.mark.parametrize("seed", range(150))
def test_fair_share_everywhere_is_max_min(seed):
    capacity, flows, moment = networks(seed, costs=(1.0, 2.0, 0.3))
    rates, _ = allocate(machine_of(capacity, "fair-share"), capacity, flows, moment)
    assert unfair(flows, capacity, rates) == []
    assert [rates[flow] for flow in flows] == pytest.approx(list(exactly(flows, capacity).values()), rel=1e-7)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("policy", [*STEADY, *FICKLE, "mixed"])
def test_what_the_rounds_promise(seed, policy):
    """Capacities hold; every flow is at its peak or on something full; nobody is below its first round."""
    capacity, flows, moment = networks(seed + 1000)
    rates, first = allocate(machine_of(capacity, mixed(seed) if policy == "mixed" else policy), capacity, flows, moment)
    used = {name: sum(flow.uses.get(name, 0.0) * rates[flow] for flow in flows) for name in capacity}
    for name, size in capacity.items():
        assert used[name] <= size * (1 + 1e-9)
    for flow in flows:
        full = any(used[name] >= capacity[name] * (1 - 1e-8) for name in flow.uses)
        assert full or rates[flow] >= flow.peak * (1 - 1e-8)
        assert policy in FICKLE or rates[flow] >= first[flow] * (1 - 1e-9) - 1e-12


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("policy", ORDERS)
def test_an_order_everywhere_serves_in_that_order(seed, policy):
    """Applications one after the other, each by max-min filling on what is left."""
    capacity, flows, moment = networks(seed + 2000)
    rates, _ = allocate(machine_of(capacity, policy), capacity, flows, moment)
    left, order = dict(capacity), ranks(policy, moment)
    for owner in order:
        mine = [flow for flow in flows if flow.owner == owner]
        alone = exactly(mine, left)
        for flow in mine:
            assert isclose(rates[flow], alone[flow], rel_tol=1e-7, abs_tol=1e-9)
        used = {name: sum(flow.uses.get(name, 0.0) * alone[flow] for flow in mine) for name in left}
        left = {name: max(0.0, size - used[name]) for name, size in left.items()}


def ranks(policy, moment):
    """The order in which a policy serves applications that all want more than there is."""
    from .policies import POLICIES as KNOWN  # noqa: PLC0415 - its name is taken here

    asked = [
        facts | {"name": name, "bandwidth": 1.0, "limit": 1.0, "remaining": facts["time_left"]}
        for name, facts in moment["facts"].items()
    ]
    found = []
    while asked:
        given = KNOWN[policy]({"capacity": 0.5, "now": moment["now"], "begin": 0.0, "end": 50.0, "active": asked})
        found.append(max(given, key=given.get))
        asked = [flow for flow in asked if flow["name"] != found[-1]]
    return found


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("policy", ["fair-share", "max-min", "fcfs", "greedy-com", "mixed"])
def test_the_order_of_resources_changes_nothing(seed, policy):
    capacity, flows, moment = networks(seed + 3000)
    machine = machine_of(capacity, mixed(seed) if policy == "mixed" else policy)
    turned = dict(reversed(list(machine.items())))
    one, _ = allocate(machine, capacity, flows, moment)
    other, _ = allocate(turned, dict(reversed(list(capacity.items()))), flows, moment)
    assert [one[flow] for flow in flows] == pytest.approx([other[flow] for flow in flows], rel=1e-9, abs=1e-12)


def asking(*owners, **more):
    """Facts of owners in the order of the scenario; the first has posted first."""
    base = {"release": 0.0, "progress": 1.0, "nodes": 1, "time_left": 1.0}
    return {name: base | {"posted": float(place)} | more.get(name, {}) for place, name in enumerate(owners)}


def test_crossed_priorities_leave_nobody_at_nothing():
    """a leads on the one, b on the other; both need both. Who posted last gives way, the other has all."""
    capacity = {"r": 1.0, "s": 1.0}
    flows = [Flow(name, {"r": 1.0, "s": 1.0}, 1.0, 1.0) for name in "ab"]
    machine = {"r": Shared(1.0, "fcfs"), "s": Shared(1.0, "greedy-com")}
    moment = moment_of(asking("a", "b", b={"time_left": 0.5}), now=10.0)
    rates, _ = allocate(machine, capacity, flows, moment)
    assert [rates[flow] for flow in flows] == [1.0, 0.0]


def test_a_circle_of_three_by_hand():
    """Three resources of 1, each flow on two; each resource puts another flow first. Nobody is settled at first.

    Least grants are all 0; c posted last: frozen at 0. Then on r (a, b: a first) and t (a alone) a has 1, b 0 on r.
    Nobody is left with room everywhere: b needs r, c needs t.
    """
    capacity = {"r": 1.0, "s": 1.0, "t": 1.0}
    ways = {"a": ("r", "t"), "b": ("r", "s"), "c": ("s", "t")}
    flows = [Flow(name, dict.fromkeys(way, 1.0), 1.0, 1.0) for name, way in ways.items()]
    first = {"r": "a", "s": "b", "t": "c"}

    def putting_first(state):
        lead = first[state["resource"]]
        rates, left = {}, state["capacity"]
        for flow in sorted(state["active"], key=lambda flow: flow["name"] != lead):
            rates[flow["name"]] = min(flow["limit"], left)
            left -= rates[flow["name"]]
        return rates

    rates, _ = allocate(machine_of(capacity, lambda _: putting_first), capacity, flows, moment_of(asking(*"abc"), 10.0))
    assert [rates[flow] for flow in flows] == [1.0, 0.0, 0.0]


def test_what_a_circle_leaves_is_offered_again():
    """As above, but the least grants are halves, and r is wider: what c gave up there goes to whoever can use it.

    r (2) and s (1) shared by a and b. On s everyone has half, on r (fcfs) a has its peak 1.5 and b 0.5. s is settled:
    both have 0.5; r has 1 left, of which nobody can use anything, since s is full.
    """
    capacity = {"r": 2.0, "s": 1.0}
    flows = [Flow(name, {"r": 1.0, "s": 1.0}, 1.5, 1.0) for name in "ab"]
    machine = {"r": Shared(2.0, "fcfs"), "s": Shared(1.0, "fair-share")}
    rates, _ = allocate(machine, capacity, flows, moment_of(asking(*"ab"), 10.0))
    assert [rates[flow] for flow in flows] == [0.5, 0.5]


def test_weights_are_rates_alone():
    """Two flows of one application over a shared I/O node: 3 in all, of which the slow target carries 1."""
    capacity = {"node": 3.0, "slow": 1.0, "fast": 9.0}
    flows = operation("a", [({"node": 1.0, "slow": 1.0}, 2.0), ({"node": 1.0, "fast": 1.0}, 2.0)], capacity)
    assert [flow.weight for flow in flows] == [1.0, 2.0]


def test_interference_counts_who_moves():
    """Three ask, fcfs serves one: asked with a half, then, as one moves, with all."""
    machine = {"r": Shared(1.0, "fcfs", (1.0, 0.75, 0.5))}
    flows = [Flow(name, {"r": 1.0}, 1.0, 1.0) for name in "abc"]
    assert [*shares(machine, flows, moment_of(asking(*"abc"), 10.0)).values()] == [1.0, 0.0, 0.0]
    machine["r"].policy = "fair-share"
    assert [*shares(machine, flows, moment_of(asking(*"abc"), 10.0)).values()] == pytest.approx([1 / 6] * 3)


@pytest.fixture(scope="module")
def simgrid():
    if reason := missing("shares"):
        pytest.skip(reason)
    return build_peer("shares")


@pytest.mark.parametrize("seed", range(25))
def test_fair_share_is_simgrids_sharing(simgrid, seed, tmp_path):
    """Its links, with our weights: the same rates, on graphs that no machine has."""
    capacity, flows, moment = networks(seed + 4000, owners=12, resources=8)
    rates, _ = allocate(machine_of(capacity, "fair-share"), capacity, flows, moment)
    lines = [f"{len(capacity)} {len(flows)}", " ".join(repr(1e6 * size) for size in capacity.values())]
    places = {name: place for place, name in enumerate(capacity)}
    for flow in flows:
        ways = " ".join(str(places[name]) for name in flow.uses)
        lines.append(f"0 1 {flow.weight!r} {1e6 * flow.peak!r} {len(flow.uses)} {ways}")
    (tmp_path / "instance").write_text("\n".join(lines) + "\n")
    run = subprocess.run([simgrid, tmp_path / "instance", "--rates"], capture_output=True, text=True, check=True)
    found = [float(line) / 1e6 for line in run.stdout.splitlines()[1:]]
    assert found == pytest.approx([rates[flow] for flow in flows], rel=1e-6, abs=1e-9)
