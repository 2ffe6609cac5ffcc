"""A plan: a task with its options, as a campaign names and as a run hashes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from penstock.campaign.canonical import canonical
from penstock.campaign.grid import points
from penstock.campaign.named_files import full_path, hashed, short_name
from penstock.campaign.tasks import Task, find_task
from penstock.errors import PenstockError
from penstock.model.problems import Locate, explain, place, refuse
from penstock.model.problems import Path as Place
from penstock.model.record import Record
from penstock.model.units import shown
from penstock.policies.sharing.groups import members

_LATER = ("plan",)


@dataclass(frozen=True)
class CampaignPlan:
    """What is done with every scenario."""

    label: str
    task: str
    options: Record

    @property
    def identity(self) -> str:
        """The same for plans that do the same."""
        options = self.options.model_dump()
        # They came later: what does not use them keeps the key that its results lie under.
        given = {name: value for name, value in options.items() if value is not None or name not in _LATER}
        return canonical({"task": self.task, "options": hashed(given)})

    @property
    def command(self) -> list[str]:
        """The command that does the same with a scenario file, without the file."""
        given = {name: value for name, value in self.options.model_dump().items() if not self.options.is_default(name)}
        words = [self.task]
        for name, value in find_task(self.task).of_command(given).items():
            flag = f"--{name.replace('_', '-')}"
            # What a plan leaves out of its results, no command needs to be told.
            words += [] if value is False else [flag] if value is True else [flag, f"{value}"]
        return words


def plans_of(documents: tuple[Any, ...], folder: Path, locate: Locate) -> tuple[CampaignPlan, ...]:
    """All plans that a campaign lists; a list of values stands for as many plans."""
    found: dict[str, CampaignPlan] = {}
    identities: dict[str, tuple[Place, str]] = {}
    for index, document in enumerate(documents):
        where: Place = ("plans", index)
        for plan in _plans(document, folder, locate, where):
            if plan.label in found:
                refuse(locate, where, f"gives the plan {plan.label!r} again; every plan has a label of its own")
            same, label = identities.setdefault(plan.identity, (where, plan.label))
            if (same, label) != (where, plan.label):
                first = place(same) if same != where else repr(label)
                refuse(locate, where, f"asks for the same as {first}; leave one of them out")
            found[plan.label] = plan
    return tuple(found.values())


def _plans(document: Any, folder: Path, locate: Locate, where: Place) -> Iterator[CampaignPlan]:
    if isinstance(document, str):
        document = {"sharing": document}
    if not isinstance(document, Mapping):
        refuse(locate, where, f"is {shown(document)}; a plan is the name of a sharing policy, or a mapping of options")
    options = {str(name): value for name, value in document.items() if name not in ("task", "label")}
    label = document.get("label")
    task = _checked(locate, (*where, "task"), lambda: find_task(document.get("task", "simulate")))
    if label is not None and (not isinstance(label, str) or not label.isprintable() or not label):
        refuse(locate, (*where, "label"), f"is {shown(label)}; a label is printable text, not empty")
    for name, value in options.items():
        if isinstance(value, list) and not value:
            refuse(locate, (*where, name), "is an empty list; a grid needs at least one value")
    if "sharing" in options:
        options["sharing"] = _policies(options["sharing"])
    several = any(isinstance(value, list) and len(value) > 1 for value in options.values())
    for given in points(options):
        yield _plan(task, given, label, several, folder, locate, where)


def _policies(given: Any) -> Any:
    """The names that are given; those of a group, or `all`, in its place, and each once."""
    if not isinstance(given, str | list):
        return given
    listed = [given] if isinstance(given, str) else given
    found = [name for each in listed for name in (isinstance(each, str) and members(each)) or (each,)]
    return list(dict.fromkeys(found)) if found != [given] and all(isinstance(each, str) for each in found) else given


def _plan(
    task: Task, given: dict[str, Any], label: str | None, several: bool, folder: Path, locate: Locate, where: Place
) -> CampaignPlan:
    full = {name: full_path(value, folder) if isinstance(value, str) else value for name, value in given.items()}
    try:
        options = task.options.model_validate(full)
    except ValidationError as error:
        raise explain(error, task.options, lambda path: locate((*where, *path)), whole=place(where)) from None
    _checked(locate, where, lambda: task.check(options))
    default = _default_label(
        task, {name: short_name(value, folder) if isinstance(value, str) else value for name, value in given.items()}
    )
    return CampaignPlan(default if label is None else f"{label}: {default}" if several else label, task.name, options)


def _default_label(task: Task, given: dict[str, Any]) -> str:
    """The plan and the policy of a simulation; else the task and the options that were given, as for policies."""
    if task.name == "simulate":
        return ", ".join(str(given[name]) for name in ("plan", "sharing") if given.get(name)) or "as planned"
    chosen = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{task.name}({chosen})" if chosen else task.name


def _checked(locate: Locate, where: Place, find: Any) -> Any:
    """What `find` gives; what it refuses, with the place."""
    try:
        return find()
    except PenstockError as error:
        raise type(error)(f"{locate(where)}: {place(where)}: {error}") from None
