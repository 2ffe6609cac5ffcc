"""The whole machine: a thousand applications on targets behind a buffer, and flows over links as SimGrid has them.

An event is what the loop itself counts, something that happens to one application: its release, its entry into the
buffer, the posting of an operation, the end of a flow (an operation on n targets has n, whether or not they end
together); behind the buffer, an instant at which its part is full or empty, or something is fetched, written or read to
its end. How many get other rates by it does not count. The loops of one link and of a buffer count instants instead,
that of targets counts each target at an instant.

For SimGrid every application writes once, on some targets and through an I/O node: flows that share links by max-min
fairness, weighted by what each has alone. Both say when each is over; that must agree before any time counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.peers.build import build_peer, missing, run_shares
from benchmarks.rows import Row
from penstock import Scenario, allocate, generate, simulate
from penstock.model import Plan
from penstock.studies.buffers import buffer
from penstock.studies.plans import plan_of_allotment, plan_of_buffered

APPLICATIONS = {"full": 1_000, "quick": 60}
TARGETS = {"full": 100, "quick": 12}
FLOWS = {"full": 600, "quick": 60}
NODES, NODE, TARGET = 20, 24e9, 4e9  # I/O nodes, and what each of them and each target moves
BUFFER = 0.25  # of all checkpoints together
REPEATS = 3
TOLERANCE = 1e-6
EVENTS = 0.5  # millions a second
FASTER = 10.0  # than SimGrid
SPECIAL = {"full": 200, "quick": 40}  # applications on targets
SPECIAL_REPEATS = {"full": 15, "quick": 3}
SPECIAL_MOST = 1.1  # of the time; what a clock can tell apart
_Timed = Callable[[], float]


def whole_machine_rows(quick: bool) -> list[Row]:
    """One run of all kinds of resources, and the same flows in SimGrid."""
    size = "quick" if quick else "full"
    repeats = 1 if quick else REPEATS
    rows = [_events_row(size, repeats, buffer) for buffer in (BUFFER, 0.0)]
    return [*rows, *_special_rows(size), _simgrid_row(size, repeats)]


def _special_rows(size: str) -> list[Row]:
    """A plan that needs one kind of resource, against the command made for that: the same loop runs, as fast."""
    link, targets = generate("synthetic", 1), generate("targets", 1, applications=SPECIAL[size])
    checkpoints = generate("checkpoints", 1)
    placed = plan_of_allotment(allocate(targets, interval="all"))
    assert isinstance(placed.placement, dict)
    places = {name: tuple(map(str, chosen)) for name, chosen in placed.placement.items()}
    parts = plan_of_buffered(buffer(checkpoints, 1e12))
    pairs: dict[str, tuple[_Timed, _Timed]] = {
        "one bandwidth": (
            lambda: simulate(link).seconds,
            lambda: simulate(link, plan=Plan(sharing="fair-share")).seconds,
        ),
        "targets": (
            lambda: allocate(targets, plan=places, interval="all").seconds,
            lambda: simulate(targets, plan=placed).seconds,
        ),
        "a buffer": (lambda: buffer(checkpoints, 1e12).seconds, lambda: simulate(checkpoints, plan=parts).seconds),
    }
    rows = []
    for kind, (command, planned) in pairs.items():
        # In turns, so that a busy moment of the machine hits both.
        times = [(command(), planned()) for _ in range(SPECIAL_REPEATS[size])]
        alone, under = min(each for each, _ in times), min(each for _, each in times)
        note = f"{1e3 * under:.2f} ms, {1e3 * alone:.2f} ms"
        rows.append(Row(f"a plan of {kind} only, against its command", under / alone, most=SPECIAL_MOST, note=note))
    return rows


def _events_row(size: str, repeats: int, buffer: float) -> Row:
    jobs, targets = APPLICATIONS[size], TARGETS[size]
    scenario = generate(
        "machine", 1, jobs=jobs, targets=targets, nodes=100 * jobs, buffer=buffer, stripes=4, hours=12.0
    )
    runs = [simulate(scenario) for _ in range(repeats)]
    speed = max(run.events / run.seconds for run in runs) / 1e6
    note = f"{runs[0].events:,} events, min yield {runs[0].min_yield:.3f}"
    behind = " × buffer" if buffer else ", no buffer"
    return Row(f"{jobs:,} applications × {targets} targets{behind}", speed, " M/s", least=EVENTS, note=note)


def _simgrid_row(size: str, repeats: int) -> Row:
    what = f"{FLOWS[size]:,} applications over links, against SimGrid"
    if reason := missing("shares"):
        return Row(what, None, "× faster", note=reason)
    scenario, lines = crossing_flows(FLOWS[size], TARGETS[size])
    with tempfile.TemporaryDirectory() as folder:
        instance = Path(folder) / "flows"
        instance.write_text("\n".join(lines) + "\n")
        peer = run_shares(build_peer("shares"), instance, repeats)
    runs = [simulate(scenario) for _ in range(repeats)]
    ours = np.array([each.completion for each in runs[0].applications])
    theirs = np.maximum.reduceat(peer.ends, _first_flows(scenario))
    if not np.allclose(ours, theirs, rtol=TOLERANCE, atol=0.0):
        worst = float(np.abs(ours / theirs - 1.0).max())
        return Row(what, None, "× faster", note=f"completions differ by up to {worst:.1e}", broken=True)
    seconds = min(run.seconds for run in runs)
    note = f"{peer.seconds:.3f} s there, {seconds:.4f} s here, the same completions"
    return Row(what, peer.seconds / seconds, "× faster", least=FASTER, note=note)


def crossing_flows(applications: int, targets: int) -> tuple[Scenario, list[str]]:
    """Applications that write once each, as a scenario and as the instance that the peer reads."""
    draw = np.random.default_rng(1)
    jobs, lines, mapping, placement = [], [], {}, {}
    for i in range(applications):
        name, count = f"a{i:04}", int(draw.choice([1, 2, 4, 8]))
        start, volume = round(float(draw.uniform(0.0, 600.0)), 3), 1_000_000 * int(draw.integers(20_000, 400_000))
        peak = float(draw.choice([1.0, 2.0, 3.0])) * 1e9
        node, places = int(draw.integers(NODES)), sorted(draw.choice(targets, count, replace=False).tolist())
        jobs.append({"name": name, "bandwidth": count * peak, "release": start, "phases": [{"write": count * volume}]})
        mapping[name], placement[name] = node, places
        # Alone all its flows are alike: the peak, or its part of the I/O node.
        weight = min(peak, TARGET, NODE / count)
        lines += [f"{start} {volume} {weight!r} {peak!r} 2 {node} {NODES + place}" for place in places]
    document = {
        "version": 1,
        "platform": {
            "io_nodes": {"count": NODES, "bandwidth": NODE, "nodes": 1_000_000},
            "targets": [{"name": f"t{k}", "capacity": TARGET} for k in range(targets)],
        },
        "applications": jobs,
        "plan": {"mapping": mapping, "placement": placement, "sharing": "fair-share"},
    }
    capacities = [NODE] * NODES + [TARGET] * targets
    head = [f"{len(capacities)} {len(lines)}", " ".join(map(repr, capacities))]
    return Scenario.from_document(document), head + lines


def _first_flows(scenario: Scenario) -> list[int]:
    """Where the flows of each application begin."""
    assert scenario.plan is not None
    assert isinstance(scenario.plan.placement, dict)
    sizes = [len(scenario.plan.placement[each.name]) for each in scenario.applications]
    return [0, *np.cumsum(sizes)[:-1].tolist()]
