"""What holds on every whole machine, with a buffer or without: looked at after every event of the loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given

from machines import machines
from penstock import Scenario, simulate
from penstock.engine.link.loop import DONE
from penstock.engine.machine.execution import MachineExecution
from penstock.model import Plan
from penstock.studies.machine import MachineStudy
from penstock.studies.machine.run import policies_of
from reference import machine, machine_shares
from reference.machine_filling import exactly, unfair
from reference.machine_shares import Flow
from reference.policies import quantise

Document = dict[str, Any]
GRAIN = 1e-9


def study_of(document: Document, plan: Document) -> MachineStudy:
    scenario = Scenario.from_document(document).model_copy(update={"plan": Plan.model_validate(plan)})
    return MachineStudy(scenario)


def instants(study: MachineStudy) -> Iterator[MachineExecution]:
    """A run, stopped whenever rates are in force that nothing has changed yet."""
    policies = policies_of(study, None)
    given = (study.program, study.kind, study.network, study.resources, policies, None, study.behind)
    run = MachineExecution(*given, False)
    run.go_on(0)
    while run.go_on(1) != DONE:
        yield run
    yield run


def uninterrupted(document: Document) -> Document:
    """Without a window or walltimes, so that everything moves all its bytes."""
    jobs = [{key: value for key, value in job.items() if key != "walltime"} for job in document["applications"]]
    return {key: value for key, value in document.items() if key != "window"} | {"applications": jobs}


def capacities(run: MachineExecution) -> np.ndarray:
    """With as few applications moving as there are."""
    network, moving = run.network, np.zeros(run.network.capacity.size)
    for resource in range(moving.size):
        flows = network.edge_flow[network.resource == resource]
        fast = flows[run.flows.rate[flows] > GRAIN * network.weight[flows]]
        moving[resource] = max(1, np.unique(network.owner[fast]).size)
    if not network.efficiency.size:
        return network.capacity
    places = np.minimum(moving, network.efficiency.shape[1]).astype(int) - 1
    return network.capacity * network.efficiency[np.arange(moving.size), places]


@given(machines())
def test_nothing_carries_more_than_it_can_and_no_part_is_overfull(
    drawn: tuple[Document, Document],
) -> None:
    study = study_of(*drawn)
    for run in instants(study):
        network, flows, pool = run.network, run.flows, run.pool
        used = np.bincount(network.resource, flows.use * flows.rate[network.edge_flow], network.capacity.size)
        assert (used <= capacities(run) * (1 + GRAIN)).all()
        assert (flows.rate >= 0.0).all() and (flows.rate <= flows.peak * (1 + GRAIN))[flows.active == 1].all()
        held, whole = pool.out + pool.input, study.behind.capacity
        there = (network.buffered == 1) & (pool.over == 0)
        assert (held <= pool.space + GRAIN * whole)[there].all()
        assert held[network.buffered == 1].sum() <= whole * (1 + GRAIN)


@given(machines())
def test_every_byte_crosses_what_is_on_its_way(drawn: tuple[Document, Document]) -> None:
    document, plan = uninterrupted(drawn[0]), drawn[1]
    study = study_of(document, plan)
    *_, run = instants(study)
    network, program = run.network, run.program
    # What drains to several targets comes from one pool: who is faster has more of it. So targets count together.
    bucket = np.array([-1 if each.kind == "target" else place for place, each in enumerate(study.resources)])
    expected = np.zeros(bucket.size + 1)
    for i in range(len(program.names)):
        for way in (0, 1):
            first, last = network.first[4 * i + way : 4 * i + way + 2]
            own = slice(program.first[i], program.first[i + 1])
            volume = program.volume[own][study.kind[own] == way].sum()
            for edge in range(network.path[first], network.path[last]):
                expected[bucket[network.resource[edge]]] += volume / (last - first)
    crossed = np.zeros(expected.size)
    np.add.at(crossed, bucket[network.resource], run.flows.carried[network.edge_flow])
    others = np.arange(expected.size) != network.port
    assert crossed[others] == pytest.approx(expected[others], rel=1e-8, abs=1e-8)


def yields(document: Document, plan: Document) -> dict[str, float]:
    found = simulate(Scenario.from_document(document), plan=Plan.model_validate(plan))
    return {each.name: each.yield_ for each in found.applications}


def has_ties(document: Document, plan: Document) -> bool:
    """Whether two applications ever ask with one time of posting; asked of the reference, which is told all times."""
    plain, ties = machine_shares.allocate, list[int]()

    def watched(machine: Any, capacity: dict[str, float], flows: list[Flow], moment: Any) -> Any:
        asking = {(flow.application, quantise(moment["facts"][flow.owner]["posted"])) for flow in flows}
        ties.append(len(asking) - len({posted for _, posted in asking}))
        return plain(machine, capacity, flows, moment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_shares, "allocate", watched)
        machine.simulate(document, plan)
    return any(ties)


# As by hand, in `test_what_drains_ties_with_the_post_that_made_its_part_fill`.
TIED: tuple[Document, Document] = (
    {
        "version": 1,
        "platform": {
            "targets": [{"name": "both", "capacity": 0.5}, {"name": "own", "capacity": 0.5}],
            "burst_buffer": {"capacity": 1.0, "bandwidth": 2.2},
        },
        "applications": [
            {"name": "w", "bandwidth": 1.0, "phases": [{"compute": 1.0}, {"write": 4.0}]},
            {"name": "r", "bandwidth": 1.0, "phases": [{"compute": 2.0}, {"read": 4.0}]},
        ],
    },
    {"placement": {"w": [0, 1], "r": [0]}, "buffering": {"shares": {"w": 0.04, "r": 0.1}}, "sharing": "fcfs"},
)


@example(TIED)
@given(machines())
def test_the_order_of_applications_and_resources_only_breaks_ties(drawn: tuple[Document, Document]) -> None:
    document, plan = drawn
    document = {key: value for key, value in document.items() if key not in ("noise", "seed", "window")}
    # Released one after the other, so that few post at once.
    jobs = [job | {"release": 0.1 + 0.37 * place} for place, job in enumerate(document["applications"])]
    document = document | {"applications": jobs}
    turned, placed = document | {"applications": jobs[::-1]}, dict(plan)
    if targets := document["platform"].get("targets"):
        turned = turned | {"platform": document["platform"] | {"targets": targets[::-1]}}
        last = len(targets) - 1
        placed["placement"] = {name: [last - place for place in own] for name, own in plan["placement"].items()}
    found, other = yields(document, plan), yields(turned, placed)
    # Some still do: what drains counts as posted when its part began to fill, which the post of another may cause.
    assert found == pytest.approx(other, rel=1e-9) or has_ties(document, plan)


@given(machines())
def test_each_decision_keeps_its_promises(drawn: tuple[Document, Document]) -> None:
    """Of the reference, to which the loop is held: nobody is below the first round; fair-share is exact filling."""
    plain, low = machine_shares.allocate, list[Flow]()

    def watched(machine: Any, capacity: dict[str, float], flows: list[Flow], moment: Any) -> Any:
        rates, first = plain(machine, capacity, flows, moment)
        if all(shared.policy != "set-10" for shared in machine.values()):  # it goes by what is left of a resource
            low.extend(flow for flow, rate in first.items() if rates[flow] < rate - GRAIN * flow.weight)
        if all(shared.policy == "fair-share" for shared in machine.values()):
            asking = [flow for flow in flows if flow.uses and flow.peak > 0.0]
            exact = exactly(asking, capacity)
            assert [rates[flow] for flow in asking] == pytest.approx([exact[flow] for flow in asking], abs=1e-8)
            assert unfair(asking, capacity, rates) == []
        return rates, first

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_shares, "allocate", watched)
        machine.simulate(*drawn)
    assert low == []
