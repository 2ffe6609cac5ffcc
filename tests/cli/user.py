"""What a user has at hand: a scenario, a state, a shell with its environment, and what a command answers."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

SCENARIO = """\
version: 1
platform: {bandwidth: 1}
window: {begin: 0, end: 100}
applications:
  - name: a
    phases: [{write: 0.5}, {compute: 3}]
  - name: b
    phases: [{write: 2}, {repeat: forever, phases: [{compute: 9}, {write: 2}]}]
"""
TO_COMPLETION = """\
version: 1
platform: {bandwidth: 1}
applications:
  - name: a
    phases: [{write: 1}, {compute: 1}, {write: 1}]
  - name: b
    phases: [{write: 1}]
"""
STATE = """\
{"capacity": 1, "now": 10, "end": 100, "active": [
  {"name": "a", "bandwidth": 1, "remaining": 2, "posted": 9, "release": 0, "progress": 9},
  {"name": "b", "bandwidth": 1, "remaining": 2, "posted": 8, "release": 0, "progress": 4, "omega": 20}]}
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    """The environment of a user: nothing that asks for colours, unbuffered output or no bytecode."""
    odd = {"NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PENSTOCK_QUIET"}
    return {name: value for name, value in os.environ.items() if name not in odd} | changes


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def parsed(outcome: Outcome) -> Any:
    """The JSON of a command that went well."""
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def refusal(outcome: Outcome) -> str:
    """The one sentence of a command that was refused."""
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1
    return outcome.err
