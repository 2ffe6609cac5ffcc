"""The controller as operators see it: who moves what at which rate, and how full each resource is."""

from __future__ import annotations

import pwd
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from penstock.report.quantities import NOTHING, byte_scale, duration, percent
from penstock.report.titled import titled_table

Fields = Mapping[str, Any]

_BAR = 30
_STYLES = {"waiting": "bold red", "cut off": "yellow", "lost": "yellow", "back": "yellow", "moving": "green"}
_STAGES = {"orphan": "cut off", "lost": "lost", "recovered": "back", "idle": "idle"}


def status_lines(status: Fields, server: Fields) -> list[str]:
    """How the controller is, and each resource."""
    pieces = [mode_words(status), f"policy {status['policy']}", f"epoch {status['epoch']}"]
    pieces += [f"up {duration(server['uptime'])}", count(server["connections"], "connection")]
    pieces.append(f"{status['active']:,} of {status['applications']:,} jobs active")
    if status["waiting"]:
        pieces.append(f"{status['waiting']:,} wait for room")
    lines = [", ".join(pieces)]
    lines += [resource_line(name, each) for name, each in status["capacity"].items()]
    if status["last_policy_failure"]:
        lines.append(f"The policy failed {count(status['policy_failures'], 'time')}: {status['last_policy_failure']}")
    return lines + [f"Warning: {warning}" for warning in server["warnings"]]


def count(number: int, what: str) -> str:
    """So many things, in the singular where it is one."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def mode_words(status: Fields) -> str:
    """The mode, and what goes with it."""
    words = [f"mode {status['mode']}"]
    words += [f"settling ({status['settling']:,} still unpaced)"] if status["settling"] else []
    words += ["draining"] if status.get("draining") else []
    words += ["no rate is raised"] if status.get("frozen") else []
    return ", ".join(words)


def resource_line(name: str, resource: Fields) -> str:
    """One resource: a bar of what is charged, and the numbers."""
    capacity, charged = resource["capacity"], resource["charged"]
    full = round(_BAR * min(1.0, charged / capacity))
    used = f"{rate(charged)} of {rate(capacity)} charged ({percent(charged / capacity)})"
    return f"{name:<10} {'█' * full}{'░' * (_BAR - full)} {used}, {rate(resource['granted'])} granted"


def capacity_lines(capacities: Mapping[str, Fields]) -> list[str]:
    """Each resource in a line."""
    return [resource_line(name, each) for name, each in capacities.items()]


def jobs_table(jobs: Sequence[Fields]) -> Table:
    """One row for each job."""
    table = titled_table("")
    for heading in ("job", "user", "state", "direction"):
        table.add_column(heading, overflow="fold")
    for heading in ("volume", "done", "", "rate", "limit", "waited", "lease"):
        table.add_column(heading, justify="right", no_wrap=True)
    for job in jobs:
        table.add_row(*_cells(job))
    return table


def _cells(job: Fields) -> Iterable[Text]:
    active, state = job["active"], state_of(job)
    done = job["volume"] - job["remaining"] if active else 0.0
    yield Text(job["job"])
    yield Text(user_name(job["uid"]))
    yield Text(state, style=_STYLES.get(state, ""))
    yield Text(job["direction"] or NOTHING)
    yield Text(volume(job["volume"] if active else None))
    yield Text(volume(done if active else None))
    yield Text(percent(done / job["volume"]) if active and job["volume"] else "")
    yield Text(rate(job["rate"] if active else None))
    yield Text(rate(job["limit"] if active else None))
    yield Text(duration(job["waited"]) if job["waited"] else "")
    yield Text(duration(job["lease"]))


def state_of(job: Fields) -> str:
    """What a job is doing, in a word."""
    if "posted" in job["stages"]:
        return "moving" if job["rate"] > 0 else "waiting"
    return next((word for stage, word in _STAGES.items() if stage in job["stages"]), "idle")


def user_name(uid: int) -> str:
    """A user by name, where this host knows it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return str(uid)


def rate(value: float | None) -> str:
    """Bytes per second in the unit that fits."""
    return NOTHING if value is None else f"{volume(value)}/s"


def volume(value: float | None) -> str:
    """Bytes in the unit that fits."""
    return byte_scale(value or 0.0, pure=False).show(value)
