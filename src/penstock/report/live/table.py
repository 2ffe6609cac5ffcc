"""The controller as tables for operators: who moves what at which rate, and how full each resource is."""

from __future__ import annotations

import pwd
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from penstock.report.parts.fitting_table import Column, FittingTable
from penstock.report.parts.quantities import NOTHING, byte_scale, duration, percent

Fields = Mapping[str, Any]

_BAR, _SHORTEST_BAR = 30, 5
_MODES = {"run": "enforce", "paused": "pause"}  # as `penstock mode` takes them
_STYLES = {"waiting": "bold red", "cut off": "yellow", "lost": "yellow", "expected": "yellow", "moving": "green"}
SETTLED = 5.0  # seconds after which one that stands by must have been seen
_STAGES = {"orphan": "cut off", "lost": "lost", "recovered": "expected", "idle": "idle"}


def status_lines(status: Fields, server: Fields) -> list[str | ResourceLine]:
    """How the controller is, and each resource."""
    pieces = [mode_words(status), f"policy {status['policy']}", f"epoch {status['epoch']}"]
    pieces += [f"up {duration(server['uptime'])}", count(server["connections"], "connection")]
    pieces.append(f"{status['active']:,} of {status['applications']:,} jobs active")
    if status["waiting"]:
        pieces.append(f"{status['waiting']:,} wait for room")
    lines: list[str | ResourceLine] = [", ".join(pieces), *capacity_lines(status["capacity"])]
    if status["last_policy_failure"]:
        lines.append(f"The policy failed {count(status['policy_failures'], 'time')}: {status['last_policy_failure']}")
    lines += [_outside_words(each) for each in status.get("outside", ())]
    lines += leader_lines(server.get("leader"))
    return lines + [f"Warning: {warning}" for warning in server["warnings"]]


def outside_lines(jobs: Sequence[Fields]) -> list[str]:
    """Those of some jobs of which bytes went past their pacers."""
    named = ({**job, "bytes": job["outside"], "by": job["outside_by"]} for job in jobs if job["outside"])
    return [_outside_words(each) for each in named]


def _outside_words(job: Fields) -> str:
    """A job that nothing paces, or not all of it."""
    ways = ", ".join(job["by"]) or "nobody knows how"
    if not job["bytes"]:
        return (
            f"Job {job['job']} of {user_name(job['uid'])} is not paced ({ways}), and counts with all that it can use."
        )
    return f"Job {job['job']} of {user_name(job['uid'])} moved {volume(job['bytes'])} past its pacer ({ways})."


def leader_lines(leader: Fields | None) -> list[str]:
    """By which term the controller leads, and who would take over; nothing where it is alone by configuration."""
    if leader is None:
        return []
    others = ", ".join(f"{each['host']} (process {each['pid']})" for each in leader["standbys"])
    early = leader["since"] < SETTLED
    nobody = "who stands by is not known yet" if early else "nobody stands by"
    found = [f"leads term {leader['term']} of {leader['folder']}; {f'standing by: {others}' if others else nobody}"]
    if not others and not early:
        found.append("Warning: nobody stands by; if this controller dies, nobody takes over")
    return [*found, f"Warning: the lease cannot be renewed: {leader['problem']}"] if leader["problem"] else found


def count(number: int, what: str) -> str:
    """So many things, in the singular where it is one."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def mode_words(status: Fields) -> str:
    """The mode, and what goes with it."""
    words = [f"mode {_MODES.get(status['mode'], status['mode'])}"]
    words += [f"settling ({status['settling']:,} still unpaced)"] if status["settling"] else []
    words += ["draining"] if status.get("draining") else []
    words += ["no rate is raised"] if status.get("frozen") else []
    return ", ".join(words)


@dataclass(frozen=True)
class ResourceLine:
    """One resource: a bar of what is charged, as long as there is room for, and the numbers."""

    name: str
    resource: Fields

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The line."""
        yield Text(self.within(options.max_width))

    def within(self, width: int) -> str:
        """The line of at most so many letters, if it can be that short."""
        capacity, charged, granted = (self.resource[key] for key in ("capacity", "charged", "granted"))
        shown = rate if self.resource.get("kind", "bytes") == "bytes" else on_names
        used = (
            f"{shown(charged)} of {shown(capacity)} charged ({percent(charged / capacity)}), {shown(granted)} granted"
        )
        line = f"{self.name:<10} "
        length = min(_BAR, width - len(line) - len(used) - 1)
        if length < _SHORTEST_BAR:
            return line + used
        full = round(length * min(1.0, charged / capacity))
        return f"{line}{'█' * full}{'░' * (length - full)} {used}"


def capacity_lines(capacities: Mapping[str, Fields]) -> list[ResourceLine]:
    """Each resource in a line."""
    return [ResourceLine(name, each) for name, each in capacities.items()]


def suggestion_lines(capacities: Mapping[str, Fields], doubts: Sequence[Fields]) -> list[str]:
    """What speaks against each capacity, if anything does."""
    by_name = {each["resource"]: each for each in doubts}
    lines = [_suggestion(by_name[name], each) for name, each in capacities.items() if name in by_name]
    if sound := [name for name in capacities if name not in by_name]:
        lines.append(
            f"Nothing says that {', '.join(sound)} could move less than the capacity. Whether more could be moved does "
            "not show: nobody moves what nobody is granted."
        )
    return lines


def _suggestion(doubt: Fields, resource: Fields) -> str:
    shown = rate if resource.get("kind", "bytes") == "bytes" else on_names
    seen = "just now" if doubt["age"] < 60.0 else f"{duration(doubt['age'])} ago"
    command = f"penstock capacity {doubt['resource']} {doubt['suggested']:.0f}"
    return (
        f"{doubt['resource']} may be too high: over {duration(doubt['seconds'])}, until {seen}, jobs were granted "
        f"{shown(doubt['granted'])} and used {shown(doubt['achieved'])} ({percent(doubt['ratio'])}), while all of "
        f"{shown(doubt['capacity'])} was given out. `{command}` gives out what was used; other causes are slow "
        "programs, and others who use the storage."
    )


# Heading, when it goes where it gets narrow (0: never), and whether numbers are below it.
_JOB_HEADINGS = (
    ("job", 0, False),
    ("user", 7, False),
    ("state", 0, False),
    ("direction", 3, False),
    ("volume", 5, True),
    ("done", 4, True),
    ("", 8, True),
    ("rate", 0, True),
    ("limit", 2, True),
    ("waited", 6, True),
    ("lease", 1, True),
)


def jobs_table(jobs: Sequence[Fields]) -> FittingTable:
    """One row for each job."""
    rows = [tuple(_cells(job)) for job in jobs]
    columns = (
        Column(heading, [row[place] for row in rows], spare, right, folds=heading in ("job", "user"))
        for place, (heading, spare, right) in enumerate(_JOB_HEADINGS)
    )
    return FittingTable("", tuple(columns))


def _cells(job: Fields) -> Iterable[Text]:
    active, state = job["active"], state_of(job)
    done = job["done"]  # measured; what remains is what policies reckon with
    in_bytes = job.get("kind", "bytes") == "bytes"
    amount, speed = (volume, rate) if in_bytes else (_count_of, on_names)
    yield Text(job["job"])
    yield Text(user_name(job["uid"]))
    yield Text(state, style=_STYLES.get(state, ""))
    yield Text(job["direction"] or (NOTHING if in_bytes else "metadata"))
    yield Text(amount(job["volume"] if active else None))
    yield Text(amount(done if active else None))
    yield Text(percent(done / job["volume"]) if active and job["volume"] else "")
    yield Text(speed(job["rate"] if active else None))
    yield Text(speed(job["limit"] if active else None))
    yield Text(duration(job["waited"]) if job["waited"] else "")
    yield Text(duration(job["lease"]))


def _count_of(operations: float | None) -> str:
    return NOTHING if operations is None else f"{operations:,.0f} op"


def state_of(job: Fields) -> str:
    """What a job is doing, in a word."""
    if "posted" in job["stages"]:
        return "moving" if job["rate"] > 0 else "waiting"
    return next((word for stage, word in _STAGES.items() if stage in job["stages"]), "idle")


def could_use(job: Fields) -> float:
    """The most that a job would use: its limit, or less if it was seen to need less."""
    limit, usable = float(job["limit"]), job["usable"]
    return limit if usable is None else min(limit, float(usable))


def user_name(uid: int) -> str:
    """A user by name, where this host knows it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except (KeyError, OverflowError):
        return str(uid)


def on_names(value: float | None) -> str:
    """Operations on names a second."""
    return NOTHING if value is None else f"{value:,.0f} op/s"


def rate(value: float | None) -> str:
    """Bytes per second in the unit that fits."""
    return NOTHING if value is None else f"{volume(value)}/s"


def volume(value: float | None) -> str:
    """Bytes in the unit that fits."""
    return byte_scale(value or 0.0, pure=False).show(value)
