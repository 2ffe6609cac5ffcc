"""A draft of a plan: what the search changes, one entry per application, and what of it is open.

Decisions that a scenario's own plan has made, or that its applications or its platform state, stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from penstock.model import Application, Scenario
from penstock.model.needs import need_open_decision, open_decisions
from penstock.model.plan import BUFFER, IO_NODE, LINK, TARGET, Buffering, Plan, resource_name
from penstock.model.plan_file import merged_plans


@dataclass(frozen=True)
class Draft:
    """What is decided for each application, in the order of the scenario; None where nothing is open."""

    nodes: tuple[int, ...] | None = None  # I/O node of each
    targets: tuple[tuple[int, ...], ...] | None = None  # places of the targets of each
    parts: tuple[float, ...] | None = None  # of the buffer; together at most 1
    sharing: tuple[tuple[str, str], ...] | None = None  # policy of each kind of resource

    def with_policy(self, kind: str, policy: str) -> Draft:
        """The same with another policy on one kind of resource."""
        return replace(self, sharing=tuple((each, policy if each == kind else old) for each, old in self.sharing or ()))


class Task:
    """A scenario, and which of its decisions are open."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.given = scenario.plan or Plan()
        need_open_decision(scenario)
        self.open = open_decisions(scenario)

    @property
    def applications(self) -> tuple[Application, ...]:
        """Those whose decisions these are."""
        return self.scenario.applications

    @cached_property
    def targets(self) -> int:
        """How many targets there are."""
        listed = self.scenario.platform.targets
        return len(listed) if isinstance(listed, tuple) else listed or 0

    @cached_property
    def io_nodes(self) -> int:
        """How many I/O nodes there are."""
        nodes = self.scenario.platform.io_nodes
        return nodes.count if nodes else 0

    @cached_property
    def counts(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of targets that each may have: its profile's, else 1, 2, 4, … and all; or as is decided."""
        decided = self.given.allocation if isinstance(self.given.allocation, dict) else {}
        doubling = sorted({*(2**k for k in range(self.targets.bit_length()) if 2**k <= self.targets), self.targets})
        return tuple(
            (decided[each.name],)
            if each.name in decided
            else tuple(sorted(n for n in each.profile if n <= self.targets))
            if each.profile
            else tuple(doubling)
            for each in self.applications
        )

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of resources that a policy can be chosen for."""
        platform = self.scenario.platform
        links = platform.read_bandwidth or platform.write_bandwidth
        whole = platform.bandwidth is not None and platform.targets is None
        port = platform.burst_buffer is not None and platform.burst_buffer.bandwidth is not None
        there = {IO_NODE: platform.io_nodes, TARGET: platform.targets, LINK: links or whole, BUFFER: port}
        return tuple(kind for kind, is_there in there.items() if is_there)

    def plan_of(self, draft: Draft) -> Plan:
        """A draft as a plan that `simulate --plan` runs, with what was decided before."""
        names = [each.name for each in self.applications]
        mapping = None if draft.nodes is None else dict(zip(names, draft.nodes, strict=True))
        placement = None
        if draft.targets is not None:
            placed = (tuple(self._called(place) for place in places) for places in draft.targets)
            placement = dict(zip(names, placed, strict=True))
        buffering = None if draft.parts is None else Buffering(shares=dict(zip(names, draft.parts, strict=True)))
        sharing = None if draft.sharing is None else self._told(draft.sharing)
        found = Plan(mapping=mapping, placement=placement, buffering=buffering, sharing=sharing)
        return merged_plans(self.given, found)

    def _called(self, place: int) -> int | str:
        listed = isinstance(self.scenario.platform.targets, tuple)
        return resource_name(place, self.scenario) if listed else place

    def _told(self, sharing: tuple[tuple[str, str], ...]) -> str | dict[str, str]:
        """One name if all kinds of resources have the same policy."""
        policies = {policy for _, policy in sharing}
        return policies.pop() if len(policies) == 1 else dict(sharing)
