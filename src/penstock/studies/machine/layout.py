"""A study of a whole machine: who goes where, by the tables of a plan, or as the policies decide that it names."""

from __future__ import annotations

from typing import Any

from penstock.engine.machine.network import Layout
from penstock.errors import InvalidScenario, PenstockError, PolicyError
from penstock.model import Plan, Scenario
from penstock.model.plan import IO_NODE, place_of, target_places
from penstock.policies.allocation import catalogue as allocations
from penstock.policies.placement import catalogue as placements
from penstock.policies.sharing import find
from penstock.policies.sharing.max_min import max_min
from penstock.studies.packs import pack
from penstock.studies.targets import allocate
from penstock.studies.targets.result import Allotment


def plan_of(scenario: Scenario) -> Plan:
    """Its plan; one that says nothing if it has none."""
    return scenario.plan or Plan()


def mapped(scenario: Scenario) -> Scenario:
    """The scenario with a table for the mapping policy that its plan names: who goes where, and who starts when.

    As `pack` decides it, with the plan's policy on I/O nodes; a start that the plan itself states stays.
    """
    plan = plan_of(scenario)
    if not isinstance(plan.mapping, str):
        return scenario
    shared = plan.policy_of(IO_NODE, IO_NODE)
    try:
        policy = max_min if shared == max_min.name else find(shared)
        jobs = pack(_alone(scenario), mapping=plan.mapping, sharing=policy).jobs
    except PenstockError as error:
        raise type(error)(f"plan.mapping: {error}") from None
    starts = {job.name: job.start for job in jobs} | (plan.start or {})
    decided = plan.model_copy(update={"mapping": {job.name: job.io_node for job in jobs}, "start": starts})
    return scenario.model_copy(update={"plan": decided})


def layout_of(scenario: Scenario) -> Layout:
    """The I/O node and the targets of each application."""
    return Layout(_io_nodes(scenario), _targets(scenario))


def _io_nodes(scenario: Scenario) -> list[int]:
    """-1: it goes through none."""
    plan = plan_of(scenario)
    table = plan.mapping if isinstance(plan.mapping, dict) else {}
    chosen = [table.get(each.name, each.io_node) for each in scenario.applications]
    return [-1 if node is None else node for node in chosen]


def _targets(scenario: Scenario) -> list[tuple[int, ...]]:
    """By place; none for those that the plan leaves out, which is possible only if it places nobody."""
    plan, places = plan_of(scenario), target_places(scenario)
    if not places:
        return [()] * len(scenario.applications)
    if isinstance(plan.placement, dict):
        missing = [each.name for each in scenario.applications if each.name not in plan.placement]
        if missing:
            raise InvalidScenario(
                f"plan.placement has no targets for application {missing[0]!r}; give some to every one of them"
            )
        found = {name: [place_of(each, places) for each in chosen] for name, chosen in plan.placement.items()}
        return [tuple(place for place in found[each.name] if place is not None) for each in scenario.applications]
    if isinstance(plan.allocation, dict):
        raise InvalidScenario(
            "plan.allocation says how many targets each application has, but not which; give plan.placement a table, "
            "or leave both to policies"
        )
    return [each.targets for each in _allocated(scenario, plan).applications]


def _allocated(scenario: Scenario, plan: Plan) -> Allotment:
    """By the policies that the plan names, else by those of `allocate`; what these cannot do is a gap in the plan."""
    given = {"allocation": plan.allocation, "placement": plan.placement}
    named: dict[str, Any] = {key: name for key, name in given.items() if name is not None}
    for key, name in named.items():
        try:
            {"allocation": allocations, "placement": placements}[key].check(name)
        except PenstockError as error:
            raise PolicyError(f"plan.{key}: {error}") from None
    try:
        return allocate(_alone(scenario), **named)
    except PenstockError as error:
        gap = f"plan.{' and plan.'.join(named)}" if named else "plan.placement is missing"
        raise type(error)(
            f"{gap}: no policy can say which targets each application has ({error}); give plan.placement a table, or "
            "let `penstock plan` find one"
        ) from None


def _alone(scenario: Scenario) -> Scenario:
    """The scenario without a plan, for a command that decides one thing."""
    return scenario.model_copy(update={"plan": None})
