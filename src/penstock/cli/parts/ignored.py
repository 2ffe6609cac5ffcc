"""One line on standard error about what a scenario states and a command does not use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from penstock.cli.rooms import model

if TYPE_CHECKING:
    from penstock.model import Scenario

_LINK = frozenset({"nodes", "walltime", "node_skew", "io_node", "release", "progress", "window"})
# What each command uses of all that a scenario may state.
USED = {
    "simulate": _LINK,
    "compare": _LINK,
    "optimum": _LINK - {"walltime"},
    "reference": _LINK,
    "pack": frozenset({"io_nodes", "nodes", "node_skew", "release"}),
    "allocate": frozenset({"targets", "profile", "nodes", "walltime", "node_skew", "release", "progress", "window"}),
    "buffer": frozenset(
        {
            *("burst_buffer", "read_bandwidth", "write_bandwidth", "interference"),
            *("nodes", "walltime", "node_skew", "release"),
        }
    ),
    "size-buffer": frozenset(
        {"burst_buffer.bandwidth", "read_bandwidth", "write_bandwidth", "nodes", "node_skew", "release"}
    ),
}


def say_ignored(scenario: Scenario, command: str, *also_used: str) -> dict[str, Any]:
    """Say what plays no part, if something does; the same for the JSON."""
    used = USED[command] | {*also_used}
    if command in ("simulate", "compare", "optimum", "reference"):
        through = scenario.shared_bandwidth != scenario.platform.bandwidth or scenario.by_io_node
        used |= {"io_nodes"} if through else {"interference"}
    found = model.ignored.ignored(scenario, used)
    if found:
        typer.echo(model.ignored.ignored_line(found, command), err=True)
    return {"ignored": found} if found else {}
