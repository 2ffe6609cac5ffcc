"""Whether a scenario has what a question needs, asked before anything is loaded that could answer it."""

from __future__ import annotations

from importlib.util import find_spec

from penstock.errors import InvalidOption, InvalidScenario
from penstock.model.plan import Plan
from penstock.model.scenario import Scenario

MAPPING, ALLOCATION, PLACEMENT, BUFFERING, SHARING = DECISIONS = (
    "mapping",
    "allocation",
    "placement",
    "buffering",
    "sharing",
)


def need_targets(scenario: Scenario) -> None:
    """Refuse to give out targets that nobody has told of."""
    if scenario.platform.targets is None:
        raise InvalidScenario(
            "platform.targets is missing; say how many there are, as in targets: 20, or list their names"
        )


def need_io_nodes(scenario: Scenario) -> None:
    """Refuse to pack jobs that are cut off, or without I/O nodes; a platform with nodes counts as one."""
    platform = scenario.platform
    if scenario.window is not None:
        raise InvalidScenario("the scenario has a window; packs run every job to its end, so leave the window out")
    if platform.io_nodes is None and not (platform.bandwidth and platform.nodes):
        raise InvalidScenario(
            "platform.io_nodes is missing; packs run on I/O nodes, as in "
            "io_nodes: {count: 3, bandwidth: 20 GB/s, nodes: 128}"
        )


def need_completion(scenario: Scenario) -> None:
    """Refuse to look for the shortest schedule of jobs that need not end."""
    if scenario.window is not None:
        raise InvalidOption(
            f"the optimum is that of a run to completion, but the scenario has a window that ends at "
            f"{scenario.window.end:g} s; leave out the window, and give a number of repeats in place of forever"
        )


def need_ortools() -> None:
    """Refuse to look for an optimum without the library for it."""
    if find_spec("ortools") is None:
        raise InvalidOption("the exact optimum needs ortools; pip install penstock[optimum]")


def need_end(scenario: Scenario) -> None:
    """Refuse to size a buffer for jobs that are cut off."""
    if scenario.window is not None:
        raise InvalidScenario(
            "the scenario has a window; a buffer is sized for applications that run to their end, so leave it out"
        )


def need_open_decision(scenario: Scenario) -> None:
    """Refuse to plan what is planned already."""
    if not open_decisions(scenario):
        raise InvalidOption(
            "nothing is left to decide: the plan of the scenario says it all; take out of it what is to be decided "
            f"({', '.join(DECISIONS)})"
        )


def open_decisions(scenario: Scenario) -> tuple[str, ...]:
    """What neither the scenario's own plan nor its applications nor its platform have decided."""
    return tuple(name for name in DECISIONS if _is_open(scenario, name))


def _is_open(scenario: Scenario, decision: str) -> bool:
    platform, given = scenario.platform, scenario.plan or Plan()
    if decision == MAPPING:
        return platform.io_nodes is not None and not scenario.by_io_node and given.mapping is None
    if decision in (ALLOCATION, PLACEMENT):
        fixed = given.placement is not None or (decision == ALLOCATION and given.allocation is not None)
        return platform.targets is not None and not fixed
    if decision == BUFFERING:
        buffer = platform.burst_buffer
        return buffer is not None and buffer.shares is None and given.buffering is None
    return given.sharing is None
