"""Plans in files of their own, YAML or JSON: a plan at the top, or a scenario that has one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from penstock.errors import InvalidScenario
from penstock.files import write_whole
from penstock.model.load import read_document, text_format
from penstock.model.plain import plain
from penstock.model.plan import Plan, problems_with
from penstock.model.problems import Locate, place, refuse
from penstock.model.scenario import Scenario

PlanLike = Plan | str | os.PathLike[str]


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """The plan in a file; anything wrong with it raises InvalidScenario with the file, the line and the place."""
    return _read(path)[0]


def _read(path: str | os.PathLike[str]) -> tuple[Plan, Locate]:
    document, locate = read_document(path)
    if isinstance(document, dict) and "platform" in document:
        if "plan" not in document:
            raise InvalidScenario(f"{locate(())}: is a scenario without a plan; expected one with `plan:`, or a plan")
        return Plan.checked(document["plan"], lambda where: locate(("plan", *where))), locate
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


def with_plan(scenario: Scenario, given: PlanLike | None) -> Scenario:
    """The scenario under another plan than its own; None: as it is.

    >>> job = {"name": "a", "phases": [{"write": 1}]}
    >>> platform = {"targets": 2}
    >>> jobs = Scenario.from_document({"version": 1, "platform": platform, "applications": [job]})
    >>> with_plan(jobs, Plan(placement={"a": (1,)})).plan
    Plan(placement={'a': (1,)})
    """
    if given is None:
        return scenario
    locate: Locate
    if isinstance(given, Plan):
        plan, locate = given, _of_argument
    elif isinstance(given, str | os.PathLike):
        plan, locate = _read(given)
    else:
        raise InvalidScenario(f"a plan, or the path of its file, is needed, not a {type(given).__name__}")
    for where, _, text in problems_with(plan, scenario):
        raise InvalidScenario(f"{locate(where)}: {place(where)} {text}")
    return scenario.model_copy(update={"plan": plan})


def _of_argument(where: Any) -> str:
    return "plan"


def merged_plans(first: Plan | None, second: Plan) -> Plan:
    """The decisions of both; where both decide, those of the second."""
    if first is None:
        return second
    given = {name: getattr(second, name) for name in Plan.model_fields if getattr(second, name) is not None}
    return first.model_copy(update=given)


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
