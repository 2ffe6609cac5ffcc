"""What a scenario states and a command does not use: said in one line, never passed over in silence (models §9)."""

from __future__ import annotations

from collections.abc import Collection

from penstock.model.scenario import Scenario

# What commands differ in; all the rest of a scenario is used by every one of them.
PLATFORM = ("io_nodes", "targets", "burst_buffer", "read_bandwidth", "write_bandwidth", "interference", "nodes")
APPLICATION = ("walltime", "node_skew", "profile", "io_node", "release", "progress")


def stated(scenario: Scenario) -> list[str]:
    """Those keys that the scenario has, platform first."""
    found = [key for key in PLATFORM if not scenario.platform.is_default(key)]
    found += [key for key in APPLICATION if any(not each.is_default(key) for each in scenario.applications)]
    return [*found, *(["window"] if scenario.window else [])]


def ignored(scenario: Scenario, used: Collection[str]) -> list[str]:
    """What it states beyond what a command uses.

    >>> platform = {"bandwidth": 1, "targets": 4}
    >>> job = {"name": "a", "walltime": 9, "phases": [{"write": 1}]}
    >>> given = Scenario.from_document({"version": 1, "platform": platform, "applications": [job]})
    >>> ignored(given, used={"walltime"})
    ['targets']
    """
    return [key for key in stated(scenario) if key not in used]


def ignored_line(keys: list[str], command: str) -> str:
    """One sentence about them; empty if there are none.

    >>> ignored_line(["targets", "burst_buffer"], "pack")
    'targets and burst_buffer play no part in `penstock pack`.'
    """
    if not keys:
        return ""
    names = keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} and {keys[-1]}"
    return f"{names} {'plays' if len(keys) == 1 else 'play'} no part in `penstock {command}`."
