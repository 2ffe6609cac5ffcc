"""What a campaign's plan can do with a scenario: one file per task, imported when asked for, as each loads kernels."""

from __future__ import annotations

from importlib import import_module

from penstock.campaign.tasks.task import Metric, Task, Value, Values
from penstock.errors import InvalidOption
from penstock.model.problems import near

__all__ = ["TASKS", "Metric", "Task", "Value", "Values", "find_task"]

TASKS = {
    "simulate": "simulate",
    "pack": "pack",
    "allocate": "allocate",
    "size-buffer": "size_buffer",
    "buffer": "buffer",
    "optimum": "optimum",
}


def find_task(name: object) -> Task:
    """The task of that name.

    >>> find_task("simulate").metric("min_yield").best
    1
    """
    if not isinstance(name, str) or name not in TASKS:
        raise InvalidOption(f"no task named {name!r}{near(name, TASKS) or ';'} known: {', '.join(TASKS)}")
    task: Task = import_module(f"penstock.campaign.tasks.{TASKS[name]}").TASK
    return task
