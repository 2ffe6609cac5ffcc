"""Mistakes made on purpose in the rules of the reference: the cases worked out by hand notice each of them."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from engine.machine import test_by_hand
from reference.machine import Job
from reference.machine_pool import Pool, Side
from reference.machine_shares import Flow

CASES = [case for name, case in vars(test_by_hand).items() if name.startswith("test_")]


def reads_cross_the_port(side: Side, use: float, most: float = inf) -> Side:
    return with_port(side, use or 2.0, most)


def drains_are_posted_with_the_write(pool: Pool, side: Side, posted: float, to_write: float) -> dict[str, Any]:
    return facts(pool, side, posted, to_write) | ({"posted": posted} if side.owner.endswith(":drain") else {})


def fetches_are_posted_with_the_read(pool: Pool, side: Side, posted: float, to_write: float) -> dict[str, Any]:
    return facts(pool, side, posted, to_write) | ({"posted": posted} if side.owner.endswith(":fetch") else {})


def yields_fall_after_the_end(job: Job, now: float) -> dict[str, Any]:
    return job.facts() | {"progress": job.progress()}


def cuts_are_no_events(job: Job, now: float) -> bool:
    cut_off(job, now)
    return False


def nothing_passes_through(pool: Pool, doing: str, kind: str, own: list[Flow], rates: Any) -> bool:
    return kind != "write" and violated(pool, doing, kind, own, rates)


with_port, facts, cut_off, violated = Side.with_port, Pool.facts, Job.cut_off, Pool.violated
MISTAKES: list[tuple[type, str, Any]] = [
    (Side, "with_port", reads_cross_the_port),
    (Pool, "facts", drains_are_posted_with_the_write),
    (Pool, "facts", fetches_are_posted_with_the_read),
    (Pool, "violated", nothing_passes_through),
    (Pool, "leaving", lambda *_: inf),  # a full part may be overfilled
    (Job, "drains", yields_fall_after_the_end),
    (Job, "cut_off", cuts_are_no_events),
    (Job, "to_write", lambda job: job.volume),  # what comes next is still to be written
    (Flow, "application", property(lambda flow: flow.owner)),  # who drains and fetches disturbs itself
]


@pytest.mark.parametrize(("where", "name", "mistake"), MISTAKES)
def test_a_mistake_is_noticed(where: type, name: str, mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, name, mistake)
    with pytest.raises((AssertionError, ArithmeticError)):
        for case in CASES:
            case()
