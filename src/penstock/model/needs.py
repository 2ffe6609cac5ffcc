"""What a question needs of a scenario, asked before anything is loaded that could answer it."""

from __future__ import annotations

from penstock.errors import InvalidOption, InvalidScenario
from penstock.model.scenario import Scenario


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
