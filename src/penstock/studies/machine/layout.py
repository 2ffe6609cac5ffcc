"""Who goes where on a whole machine: by the tables of a plan, or as the policies decide that it names."""

from __future__ import annotations

from typing import Any

from penstock.engine.machine.network import Layout
from penstock.errors import InvalidScenario
from penstock.model import Plan, Scenario
from penstock.model.plan import place_of, target_places
from penstock.studies.packs import pack
from penstock.studies.targets import allocate


def plan_of(scenario: Scenario) -> Plan:
    """Its plan; one that says nothing if it has none."""
    return scenario.plan or Plan()


def layout_of(scenario: Scenario) -> Layout:
    """The I/O node and the targets of each application."""
    return Layout(_io_nodes(scenario), _targets(scenario))


def _io_nodes(scenario: Scenario) -> list[int]:
    """-1: it goes through none."""
    plan, own = plan_of(scenario), [each.io_node for each in scenario.applications]
    if isinstance(plan.mapping, str):
        found = {job.name: job.io_node for job in pack(_alone(scenario), plan.mapping).jobs}
        return [found[each.name] for each in scenario.applications]
    table = plan.mapping or {}
    chosen = [table.get(each.name, node) for each, node in zip(scenario.applications, own, strict=True)]
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
    named: dict[str, Any] = {"allocation": plan.allocation, "placement": plan.placement}
    decided = allocate(_alone(scenario), **{key: name for key, name in named.items() if name is not None})
    return [each.targets for each in decided.applications]


def _alone(scenario: Scenario) -> Scenario:
    """The scenario without a plan, for a command that decides one thing."""
    return scenario.model_copy(update={"plan": None})
