"""Campaigns that take milliseconds."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from penstock.campaign import Campaign

SMALL: dict[str, Any] = {
    "version": 1,
    "name": "small",
    "workloads": [{"generate": "chains", "set": {"m": [2, 3], "n_max": 20}, "seeds": "1-3"}],
    "plans": [{"sharing": ["fair-share", "list-fifo"]}],
    "metrics": ["makespan"],
}
# All are at odds with scenarios of three applications; `mark` is a file beside them.
POLICY = """\
import os
import time
from pathlib import Path

MARK = Path(__file__).with_name("mark")

def picky(view, rates):
    if view.application.max() == 2:
        raise ValueError("three are too many")
    rates[0] = view.limit[0]

def patient(view, rates):
    if view.application.max() == 2 and not MARK.exists():
        raise ValueError("three are too many yet")
    rates[0] = view.limit[0]

def deadly(view, rates):
    if view.application.max() == 2:
        os.kill(os.getpid(), 9)
    rates[0] = view.limit[0]

def slow(view, rates):
    if MARK.exists():
        time.sleep(0.01)
    rates[0] = view.limit[0]

def deadly_once(view, rates):
    if view.application.max() == 2 and not MARK.exists():
        MARK.touch()
        os.kill(os.getpid(), 9)
    rates[0] = view.limit[0]
"""
COMPILED = """\
from penstock.sharing import sharing

@sharing("part")
def part(view, rates):
    rates[0] = PART * view.limit[0]
"""


def small(folder: Path | str = ".", **changes: Any) -> Campaign:
    return Campaign.from_document(copy.deepcopy(SMALL) | changes, folder)


def with_policy(folder: Path, function: str, seeds: str = "1-3") -> Campaign:
    """The small campaign with a policy of a user beside fair-share."""
    (folder / "own.py").write_text(POLICY)
    workload = SMALL["workloads"][0] | {"seeds": seeds}
    return small(folder, workloads=[workload], plans=["fair-share", f"own.py:{function}"])


def with_compiled_policy(folder: Path, part: float = 1.0) -> Campaign:
    """The small campaign with a policy of a user that is compiled beside fair-share."""
    (folder / "part.py").write_text(COMPILED.replace("PART", str(part)))
    return small(folder, plans=["fair-share", "part.py"])
