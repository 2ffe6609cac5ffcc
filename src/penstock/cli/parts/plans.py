"""Plans on the command line: those to run under, and what a command decided as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from penstock.cli.rooms import model
from penstock.files import check_place

if TYPE_CHECKING:
    from penstock.model import Plan, Scenario


def under_plans(scenario: Scenario, files: Sequence[Path] | None) -> Scenario:
    """The scenario under these plans instead of its own; what its own decides and they do not is said to be open."""
    found = model.with_plan(scenario, files)
    if files and scenario.plan is not None:
        given = (name for name in model.plan.Plan.model_fields if getattr(scenario.plan, name) is not None)
        lost = [name for name in given if name != "version" and getattr(found.plan, name) is None]
        if lost:
            names = lost[0] if len(lost) == 1 else f"{', '.join(lost[:-1])} and {lost[-1]}"
            verb = "plays" if len(lost) == 1 else "play"
            typer.echo(f"--plan stands for the scenario's own plan: {names} of that one {verb} no part.", err=True)
    return found


def check_plan_out(file: Path | None) -> None:
    """Refuse a file that could not be written before the work is done."""
    if file is not None:
        model.plan_file.check_ending(file)
        check_place(file)


def write_plan(plan: Plan, file: Path) -> None:
    """The plan as YAML or JSON."""
    model.plan_file.save_plan(plan, file)
