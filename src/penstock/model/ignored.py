"""What a scenario states and a command does not use: said in one line, never passed over in silence (models §9)."""

from __future__ import annotations

from collections.abc import Set

from penstock.model.scenario import Scenario

# What commands differ in; all the rest of a scenario is used by every one of them.
PARTS = {"burst_buffer": ("capacity", "bandwidth", "shares")}  # of which a command may use some
PLATFORM = (
    *("bandwidth", "read_bandwidth", "write_bandwidth", "io_nodes", "targets", "burst_buffer"),
    *("interference", "nodes"),
)
APPLICATION = ("walltime", "node_skew", "profile", "io_node", "release", "progress")


def stated(scenario: Scenario) -> list[str]:
    """Those keys that the scenario has, platform first."""
    found = [key for key in PLATFORM if not scenario.platform.is_default(key)]
    found += [key for key in APPLICATION if any(not each.is_default(key) for each in scenario.applications)]
    found += ["window"] if scenario.window else []
    return [*found, "plan"] if scenario.plan else found


def ignored(scenario: Scenario, used: Set[str]) -> list[str]:
    """What it states beyond what a command uses.

    >>> platform = {"bandwidth": 1, "targets": 4}
    >>> job = {"name": "a", "walltime": 9, "phases": [{"write": 1}]}
    >>> given = Scenario.from_document({"version": 1, "platform": platform, "applications": [job]})
    >>> ignored(given, used={"bandwidth", "walltime"})
    ['targets']
    """
    found = []
    for key in stated(scenario):
        parts = [f"{key}.{part}" for part in PARTS.get(key, ())]
        if not used.isdisjoint(parts):
            found += [part for part in parts if part not in used and _is_stated(scenario, part)]
        elif key not in used:
            found.append(key)
    return found


def _is_stated(scenario: Scenario, part: str) -> bool:
    key, name = part.split(".")
    return not getattr(scenario.platform, key).is_default(name)


def ignored_line(keys: list[str], command: str) -> str:
    """One sentence about them; empty if there are none.

    >>> ignored_line(["targets", "burst_buffer"], "pack")
    'targets and burst_buffer play no part in `penstock pack`.'
    """
    if not keys:
        return ""
    names = keys[0] if len(keys) == 1 else f"{', '.join(keys[:-1])} and {keys[-1]}"
    return f"{names} {'plays' if len(keys) == 1 else 'play'} no part in `penstock {command}`."
