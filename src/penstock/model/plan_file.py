"""Plans in files of their own, YAML or JSON: a plan at the top, or a scenario that has one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from penstock.errors import InvalidScenario
from penstock.files import write_whole
from penstock.model.load import read_document, text_format
from penstock.model.plain import plain
from penstock.model.plan import Plan, problems_with
from penstock.model.plan_merge import joined_plans, merged_plans
from penstock.model.problems import Locate, place, refuse
from penstock.model.scenario import Scenario

__all__ = ["PlanLike", "check_ending", "load_plan", "merged_plans", "plan_text", "save_plan", "with_plan"]

PlanLike = Plan | str | os.PathLike[str]


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """The plan in a file; anything wrong with it raises InvalidScenario with the file, the line and the place."""
    return _read(path)[0]


def _read(path: str | os.PathLike[str]) -> tuple[Plan, Locate]:
    document, locate = read_document(path, "a plan: mapping, placement, sharing or another decision")
    if isinstance(document, dict) and "platform" in document:
        if "plan" not in document:
            raise InvalidScenario(f"{locate(())}: is a scenario without a plan; expected one with `plan:`, or a plan")

        def inside(where: Any) -> str:
            return locate(("plan", *where))

        return Plan.checked(document["plan"], inside), inside
    return Plan.checked(_earlier(document, locate), locate), locate


def _earlier(document: Any, locate: Locate) -> Any:
    """A plan as versions before plans wrote it: `targets` has the placement, beside it are names of policies."""
    if not isinstance(document, dict) or "targets" not in document:
        return document
    if "placement" in document and isinstance(document["placement"], dict):
        refuse(locate, ("targets",), "is given beside placement, which says the same; keep placement")
    uses = document.get("target_use", ())
    names = [use.get("name") for use in uses if isinstance(use, dict)] if isinstance(uses, list) else []
    targets = document["targets"]
    if isinstance(targets, dict) and names:
        targets = {name: _by_name(chosen, names) for name, chosen in targets.items()}
    return {"version": document.get("version", 1), "placement": targets}


def _by_name(chosen: Any, names: list[Any]) -> Any:
    if not isinstance(chosen, list):
        return chosen
    return [names[each] if type(each) is int and 0 <= each < len(names) else each for each in chosen]


def with_plan(scenario: Scenario, given: PlanLike | Sequence[PlanLike] | None) -> Scenario:
    """The scenario under another plan than its own, or under several together; None: as it is.

    >>> job = {"name": "a", "phases": [{"write": 1}]}
    >>> platform = {"targets": 2}
    >>> jobs = Scenario.from_document({"version": 1, "platform": platform, "applications": [job]})
    >>> with_plan(jobs, Plan(placement={"a": (1,)})).plan
    Plan(placement={'a': (1,)})
    """
    plans = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    if not plans:
        return scenario
    found = [_given(each) for each in plans]
    whole = joined_plans([(name, plan) for name, plan, _ in found])
    for _, plan, locate in found:
        _check(plan, scenario, locate, {("buffering",)} if len(found) > 1 else set())
    _check(whole, scenario, lambda where: " and ".join(name for name, _, _ in found), set())
    return scenario.model_copy(update={"plan": whole})


def _given(given: Any) -> tuple[str, Plan, Locate]:
    """A plan, what it is called, and what says where in it."""
    if isinstance(given, Plan):
        return "plan", given, _of_argument
    if isinstance(given, str | os.PathLike):
        return str(given), *_read(given)
    raise InvalidScenario(f"a plan, or the path of its file, is needed, not a {type(given).__name__}")


def _check(plan: Plan, scenario: Scenario, locate: Locate, but: set[Any]) -> None:
    """Refuse what does not fit the scenario, `but` what another plan may make good."""
    for where, _, text in problems_with(plan, scenario):
        if where not in but:
            raise InvalidScenario(f"{locate(where)}: {place(where)} {text}")


def _of_argument(where: Any) -> str:
    return "plan"


def check_ending(path: str | os.PathLike[str]) -> None:
    """Refuse a name by whose ending nobody could tell the format."""
    text_format(Path(path))


def plan_text(plan: Plan, path: str | os.PathLike[str]) -> str:
    """A plan as a file with this ending holds it."""
    document = {"version": 1} | {key: value for key, value in plain(plan).items() if key != "version"}
    text: str = text_format(Path(path)).write(document)
    return text


def save_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan as YAML or JSON, by the ending of the name."""
    write_whole(Path(path), plan_text(plan, path).encode())
