"""A scenario's plan: what is decided of the five decisions (who goes where, by which part of the buffer, shared how).

Each decision is the name of a policy, or a table that says it all. A plan is part of a scenario (`plan:`) or a file of
its own in the same words; commands that decide something write one (`--plan-out`), so that answers can be run together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from penstock.model.problems import Path, near, reject
from penstock.model.record import Bytes, Count, Name, NotEmpty, Place, Record, Seconds, Share, Version
from penstock.model.units import Refusal, shown

if TYPE_CHECKING:
    from penstock.model.application import Application
    from penstock.model.scenario import Scenario

IO_NODE, TARGET, LINK, BUFFER = KINDS = ("io_node", "target", "link", "buffer")
DEFAULT = "default"
FOREVER_AHEAD = "forever"
AS_PLANNED = "as planned"  # what the sharing of a plan is called that has several policies


def _form(value: object) -> str:
    return "<table>" if isinstance(value, dict) else "<name>"


def _decision(value: object) -> object:
    """Refuse early what is neither: the errors of a union would speak of both."""
    if isinstance(value, str) and not value.strip():
        raise Refusal("is empty; expected the name of a policy, or a table")
    if not isinstance(value, str | dict | Record):
        raise Refusal(f"is {shown(value)}; expected the name of a policy, or a table")
    return value


def _target(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "" or (type(value) is int and value < 0):
        raise Refusal(f"is {shown(value)}; a target is a name, or a place counted from 0")
    return value


TargetChoice = Annotated[int | str, BeforeValidator(_target)]
Mapped = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[dict[Name, Place], NotEmpty, Tag("<table>")],
    Discriminator(_form),
    BeforeValidator(_decision),
]
Counts = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[dict[Name, Count], NotEmpty, Tag("<table>")],
    Discriminator(_form),
    BeforeValidator(_decision),
]
Placed = Annotated[
    Annotated[str, Tag("<name>")]
    | Annotated[dict[Name, Annotated[tuple[TargetChoice, ...], NotEmpty]], NotEmpty, Tag("<table>")],
    Discriminator(_form),
    BeforeValidator(_decision),
]
Shared = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[dict[Name, Name], NotEmpty, Tag("<table>")],
    Discriminator(_form),
    BeforeValidator(_decision),
]
Lead = Annotated[
    Annotated[Literal["forever"], Tag("<name>")] | Annotated[Seconds, Tag("<seconds>")],
    Discriminator(lambda value: "<name>" if value == FOREVER_AHEAD else "<seconds>"),
]


class Buffering(Record):
    """How the burst buffer is used: who drains first, who has which part of it, how early input is fetched."""

    strategy: Name | None = None
    shares: dict[Name, Share] | None = None  # of the capacity; it stands for platform.burst_buffer.shares
    capacity: Bytes | None = None  # it stands for platform.burst_buffer.capacity
    lead: Lead | None = None  # seconds before a release from which on input is fetched


Buffered = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[Buffering, Tag("<table>")],
    Discriminator(lambda value: "<name>" if isinstance(value, str) else "<table>"),
    BeforeValidator(_decision),
]


class Plan(Record):
    """The five decisions; what is left out is open, or takes its default."""

    version: Version | None = None  # of a file of its own
    mapping: Mapped | None = None  # application → I/O node
    start: Annotated[dict[Name, Seconds], NotEmpty] | None = None  # application → when it starts, for its release
    allocation: Counts | None = None  # application → how many targets
    placement: Placed | None = None  # application → which targets
    sharing: Shared | None = None  # resource, kind or `default` → sharing policy
    buffering: Buffered | None = None

    @property
    def buffer(self) -> Buffering:
        """The fifth decision in its long form."""
        given = self.buffering
        return given if isinstance(given, Buffering) else Buffering(strategy=given)

    def policy_of(self, resource: str, kind: str, otherwise: str = "fair-share") -> str:
        """The sharing policy of a resource: by its name, else by its kind, else the default.

        >>> plan = Plan(sharing={"target": "greedy-yield", "target:3": "fcfs", "default": "set-10"})
        >>> asked = ("target:3", "target"), ("target:5", "target"), ("buffer", "buffer")
        >>> [plan.policy_of(*each) for each in asked]
        ['fcfs', 'greedy-yield', 'set-10']
        """
        table = self.sharing
        if not isinstance(table, dict):
            return otherwise if table is None else table
        for key in (resource, kind, DEFAULT):
            if key in table:
                return table[key]
        return otherwise

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Plan", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        placed = self.placement if isinstance(self.placement, dict) else {}
        for name, chosen in placed.items():
            twice = [each for place, each in enumerate(chosen) if each in chosen[:place]]
            if twice:
                text = f"has {shown(twice[0])} twice; an application uses a target once"
                yield ("placement", name), chosen, text
        counts = self.allocation if isinstance(self.allocation, dict) else {}
        for name, count in counts.items():
            if name in placed and len(placed[name]) != count:
                text = f"is {count}, but placement gives {name!r} {len(placed[name])} targets"
                yield ("allocation", name), count, text


def target_places(scenario: Scenario) -> dict[str, int]:
    """The names of the platform's targets and their places; without names they are called by their places."""
    targets = scenario.platform.targets
    if targets is None:
        return {}
    if isinstance(targets, int):
        return {str(place): place for place in range(targets)}
    return {target.name: place for place, target in enumerate(targets)}


def place_of(chosen: int | str, places: Mapping[str, int]) -> int | None:
    """The place of a target that a plan names; a name comes first, for targets may be called by numbers."""
    if isinstance(chosen, str):
        found = places.get(chosen)
        return int(chosen) if found is None and chosen.isdecimal() and int(chosen) < len(places) else found
    return chosen if chosen < len(places) else None


def resource_name(place: int, scenario: Scenario) -> str:
    """What a target is called among the resources: its name, or `target:3`."""
    targets = scenario.platform.targets
    return targets[place].name if isinstance(targets, tuple) else f"target:{place}"


def problems_with(plan: Plan, scenario: Scenario) -> Iterator[tuple[Path, object, str]]:
    """What of a plan does not fit a scenario; places are inside the plan."""
    names = {application.name: application for application in scenario.applications}
    for key in ("mapping", "start", "allocation", "placement"):
        table = getattr(plan, key)
        yield from _unknown_applications(key, table if isinstance(table, dict) else {}, names)
    yield from _unknown_applications("buffering.shares", plan.buffer.shares or {}, names)
    yield from _mapping_problems(plan, scenario, names)
    yield from _start_problems(plan, scenario, names)
    yield from _target_problems(plan, scenario, names)
    yield from _sharing_problems(plan, scenario)
    if plan.buffering is not None and scenario.platform.burst_buffer is None and plan.buffer.capacity is None:
        yield ("buffering",), plan.buffering, "is given, but the platform has no burst_buffer"


def _unknown_applications(
    key: str, table: Mapping[str, object], names: Mapping[str, Application]
) -> Iterator[tuple[Path, object, str]]:
    for name in table:
        if name not in names:
            hint = near(name, names) or f"; there are {', '.join(list(names)[:3])}{', …' if len(names) > 3 else ''}"
            yield (*key.split("."), name), name, f"is for an application that is not there{hint}"


def _mapping_problems(
    plan: Plan, scenario: Scenario, names: Mapping[str, Application]
) -> Iterator[tuple[Path, object, str]]:
    if plan.mapping is None:
        return
    nodes = scenario.platform.io_nodes
    if nodes is None:
        yield ("mapping",), plan.mapping, "is given, but the platform has no io_nodes"
        return
    if isinstance(plan.mapping, str):
        for each in names.values():
            if each.io_node is not None:
                text = (
                    f"is a policy, but application {each.name!r} itself says io_node: {each.io_node}; keep one of them"
                )
                yield ("mapping",), plan.mapping, text
        return
    for name, node in plan.mapping.items():
        if node >= nodes.count:
            yield ("mapping", name), node, f"is {node}; the platform has {nodes.count} I/O nodes, counted from 0"
        elif name in names and names[name].io_node not in (None, node):
            text = f"is {node}, but the application itself says io_node: {names[name].io_node}; keep one of them"
            yield ("mapping", name), node, text


def _start_problems(
    plan: Plan, scenario: Scenario, names: Mapping[str, Application]
) -> Iterator[tuple[Path, object, str]]:
    for name, start in (plan.start or {}).items():
        if name in names and start < names[name].release:
            yield (
                ("start", name),
                start,
                f"is {start:g}, but it is released at {names[name].release:g}; start it then, or later",
            )
        if scenario.window is not None and start >= scenario.window.end:
            yield ("start", name), start, f"is {start:g}; a start is before window.end, {scenario.window.end:g}"


def started(scenario: Scenario) -> Scenario:
    """The scenario with its plan's starts for releases."""
    starts = scenario.plan.start if scenario.plan else None
    if not starts:
        return scenario
    applications = tuple(
        each.model_copy(update={"release": starts[each.name]}) if each.name in starts else each
        for each in scenario.applications
    )
    return scenario.model_copy(update={"applications": applications})


def _target_problems(
    plan: Plan, scenario: Scenario, names: Mapping[str, Application]
) -> Iterator[tuple[Path, object, str]]:
    for key in ("allocation", "placement"):
        if getattr(plan, key) is not None and scenario.platform.targets is None:
            yield (key,), getattr(plan, key), "is given, but the platform has no targets"
    places = target_places(scenario)
    if not places:
        return
    for name, chosen in (plan.placement if isinstance(plan.placement, dict) else {}).items():
        for place, each in enumerate(chosen):
            if place_of(each, places) is None:
                shown_names = ", ".join(list(places)[:3]) + (", …" if len(places) > 3 else "")
                text = f"is {shown(each)}; a target is one of {shown_names}, or a place from 0 to {len(places) - 1}"
                yield ("placement", name, place), each, text
        if len({place_of(each, places) for each in chosen}) < len(chosen):
            yield ("placement", name), chosen, "has a target twice, by its name and by its place"
        yield from _count_problems("placement", name, len(chosen), names)
    for name, count in (plan.allocation if isinstance(plan.allocation, dict) else {}).items():
        if count > len(places):
            yield ("allocation", name), count, f"is {count}; the platform has {len(places)} targets"
        yield from _count_problems("allocation", name, count, names)


def _count_problems(
    key: str, name: str, count: int, names: Mapping[str, Application]
) -> Iterator[tuple[Path, object, str]]:
    profile = names[name].profile if name in names else None
    if profile is not None and count not in profile:
        known = ", ".join(str(each) for each in sorted(profile))
        yield (key, name), count, f"is for {count} targets; the profile of {name!r} has {known}"


def _sharing_problems(plan: Plan, scenario: Scenario) -> Iterator[tuple[Path, object, str]]:
    if not isinstance(plan.sharing, dict):
        return
    known = {DEFAULT, *KINDS, *resource_names(scenario)}
    for key in plan.sharing:
        if key not in known:
            hint = near(key, known) or f"; a resource is {', '.join(resource_names(scenario)[:4])}, …"
            text = f"is for a resource that is not there{hint} (kinds: {', '.join(KINDS)}; else default)"
            yield ("sharing", key), key, text


def kinds_of(scenario: Scenario) -> tuple[str, ...]:
    """The kinds of resources that the platform of a scenario states."""
    platform = scenario.platform
    links = platform.read_bandwidth or platform.write_bandwidth or (platform.bandwidth and platform.targets is None)
    stated = (platform.io_nodes, platform.targets, links, platform.burst_buffer)
    return tuple(kind for kind, there in zip(KINDS, stated, strict=True) if there)


def resource_names(scenario: Scenario) -> list[str]:
    """What a plan can call the shared resources of a scenario."""
    platform = scenario.platform
    found = [f"io_node:{k}" for k in range(platform.io_nodes.count)] if platform.io_nodes else []
    found += [resource_name(place, scenario) for place in target_places(scenario).values()]
    found += ["file_system:read"] if platform.read_bandwidth else []
    found += ["file_system:write"] if platform.write_bandwidth else []
    found += ["file_system"] if platform.bandwidth and platform.targets is None else []
    return [*found, "buffer"] if platform.burst_buffer else found
