"""What a command announces, from its options and its surroundings."""

from __future__ import annotations

import os
import sys

from penstock.client.amounts import parse_amount
from penstock.client.config import ClientConfig, from_environment
from penstock.errors import InvalidOption, PenstockError


def announced(volume: str | None, direction: str) -> float:
    """The volume in bytes, 0 if it is not known; refuses what cannot be announced."""
    if direction not in ("read", "write"):
        raise InvalidOption(f"--direction is {direction!r}; accepted are read and write")
    if volume is None:
        return 0.0
    amount = parse_amount(volume, "--volume")
    if amount == 0.0:
        raise InvalidOption(f"--volume is {volume!r}; a volume above 0 can be announced")
    return amount


def surroundings(job: str | None) -> ClientConfig | None:
    """What the environment says; None if that cannot be taken, which is said and no reason to stop a job."""
    try:
        return from_environment(os.environ if job is None else {**os.environ, "PENSTOCK_JOB": job})
    except PenstockError as error:
        print(f"penstock: the command starts without a turn: {error}", file=sys.stderr)
        return None


def targets_of(text: str | None) -> tuple[str, ...]:
    """The names of targets."""
    if text is None:
        return ()
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InvalidOption(f"--targets: {text!r} has an empty name; give names as in ost0,ost1")
    return names
