"""Writing what a command decided as a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.rooms import model
from penstock.files import check_place

if TYPE_CHECKING:
    from penstock.model import Plan


def check_plan_out(file: Path | None) -> None:
    """Refuse a file that could not be written before the work is done."""
    if file is not None:
        model.plan_file.check_ending(file)
        check_place(file)


def write_plan(plan: Plan, file: Path) -> None:
    """The plan as YAML or JSON."""
    model.plan_file.save_plan(plan, file)
