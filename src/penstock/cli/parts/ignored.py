"""One line on standard error about what a scenario states and a command does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from penstock.cli.rooms import model

if TYPE_CHECKING:
    from penstock.model import Scenario

_LINK = frozenset({"nodes", "walltime", "node_skew", "io_node", "release", "progress", "window"})
_WHOLE = ("simulate", "compare", "advise")  # which run a whole machine under a plan
# What each command uses of all that a scenario may state.
USED = {
    "simulate": _LINK,
    "compare": _LINK,
    "advise": _LINK | {"targets", "profile"},
    "optimum": _LINK - {"walltime"},
    "reference": _LINK,
    "pack": frozenset({"io_nodes", "nodes", "node_skew", "release"}),
    # P4 states a bandwidth with its targets, and so do all that took it over: nobody wants to be told every time.
    "allocate": frozenset(
        {
            *("bandwidth", "targets", "profile"),
            *("nodes", "walltime", "node_skew", "release", "progress", "window"),
        }
    ),
    "buffer": frozenset(
        {
            *("burst_buffer", "bandwidth", "read_bandwidth", "write_bandwidth", "interference"),
            *("nodes", "walltime", "node_skew", "release"),
        }
    ),
    "size-buffer": frozenset(
        {"burst_buffer.bandwidth", "bandwidth", "read_bandwidth", "write_bandwidth", "nodes", "node_skew", "release"}
    ),
}


def say_ignored(scenario: Scenario, command: str, *also_used: str) -> dict[str, Any]:
    """Say what plays no part, if something does; the same for the JSON."""
    used = USED[command] | {*also_used}
    if command in _WHOLE and scenario.plan is not None:
        used |= _of_machine(scenario)
        for note in model.plan_notes.plan_notes(scenario):
            typer.echo(f"{note}.", err=True)
    elif command in (*_WHOLE, "optimum", "reference"):
        through = scenario.shared_bandwidth != scenario.platform.bandwidth or scenario.by_io_node
        used |= {"io_nodes"} if through else {"bandwidth", "interference"}
    elif command == "pack" and scenario.platform.io_nodes is None:
        used |= {"bandwidth"}
    found = model.ignored.ignored(scenario, used)
    if found:
        typer.echo(model.ignored.ignored_line(found, command), err=True)
    return {"ignored": found} if found else {}


def _of_machine(scenario: Scenario) -> set[str]:
    """What a whole machine uses: all that the plan, or an application itself, sends somebody through."""
    platform, plan = scenario.platform, scenario.plan
    used = {*model.ignored.PLATFORM, *model.ignored.APPLICATION, "plan"}
    mapped = plan is not None and plan.mapping is not None
    if not mapped and not scenario.by_io_node:
        used.discard("io_nodes")
    used.discard("profile" if platform.targets is None else "bandwidth")
    return used
