"""What safety.md says of bursts that nobody announced, measured: 4 MiB free for each, in T seconds 4 MiB · (1 + 4T).

A real segment, the agent's side of it, and a program that wants as much as it can get, in virtual time.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from client.agent.payer import Payer
from penstock.client.agent import phase_watch, segment_pool
from penstock.client.agent.node_job import NodeJob
from penstock.client.agent.segment_pool import SegmentPool
from penstock.client.bucket import boottime
from penstock.client.member import Member, MemberSettings
from penstock.client.segment import _BELL, Kind, Lane, Segment

FREE = 4 << 20  # bytes
STEP, LOOK = 0.01, 0.05  # seconds: of the program, and between two looks of the agent
FALLBACK = 30e6  # bytes/s, in phases
SECONDS = 20.0


class CountedPool(SegmentPool):
    """Notes what passes free of charge from one burst to the next."""

    free_now = free_most = 0

    def rest(self, fallback: float | None) -> None:
        """The next burst begins."""
        super().rest(fallback)
        self.free_now = 0

    def passed(self, amount: int) -> None:
        """Bytes of a burst that asked nobody."""
        self.free_now += amount
        self.free_most = max(self.free_most, self.free_now)


class Greedy:
    """Writes bursts of about what is free, closes its file to be done sooner, pauses for about as long as it takes."""

    def __init__(self, segment: Segment, chance: random.Random) -> None:
        self._payer, self._chance = Payer(segment), chance
        self._left, self._asked, self._pause = 0, 0, 0.0

    def step(self) -> int:
        """Go on for a while; what was moved."""
        moved = 0
        self._pause -= STEP
        while self._pause <= 0.0:
            if self._asked and not self._payer.served():
                break
            if self._asked:
                self._payer.paid(self._asked)
                moved += self._asked
                self._left -= self._asked
            if self._left <= 0 and self._asked:
                self._rest()
                break
            if not self._left:
                self._left = FREE + self._chance.choice((-1, 0, 1, 1, 1, 1 << 20))
            self._asked = min(self._left, self._chance.choice((1 << 16, 1 << 20, FREE)))
            self._payer.ask(self._asked)
        return moved

    def _rest(self) -> None:
        self._asked = 0
        if self._chance.random() < 0.9:
            self._payer.close()
        self._pause = self._chance.choice((0.0, 0.05, 0.2, 0.26, 0.3, 1.05))


def watched(folder: Path, seed: int) -> tuple[int, float]:
    """The most that passed in one burst, and the most in any time over what may pass in it."""
    chance, t = random.Random(seed), boottime()
    pool = CountedPool(folder / "segment", (os.getuid(), os.getgid()), 0)
    assert pool.segment is not None
    pool.segment.clock = lambda: t
    own = Segment(folder / "segment", clock=lambda: t)
    program = Greedy(own, chance)
    job = NodeJob(Member(MemberSettings(fallbacks={"": FALLBACK})), pool, lambda job, output: None)
    job.begin(t)
    free: list[tuple[float, int]] = []
    look_at, end = t, t + SECONDS
    while t < end:
        before = job.member.op is None
        if (moved := program.step()) and before:
            pool.passed(moved)
            free.append((t, moved))
        if t >= look_at or own.words[_BELL]:
            look_at = t + LOOK
            pool.segment.answer()
            pool.keep_alive()
            job.look(t)
        t += STEP
    return pool.free_most, worst_window(free)


def worst_window(free: list[tuple[float, int]]) -> float:
    """The highest ratio over all times from one to another of what passed to 4 MiB · (1 + 4T)."""
    worst = 0.0
    for first in range(len(free)):
        sum_ = 0
        for time, amount in free[first:]:
            sum_ += amount
            worst = max(worst, sum_ / (FREE * (1.0 + 4.0 * (time - free[first][0]))))
    return worst


SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_bound_holds(tmp_path: Path, seed: int) -> None:
    most, worst = watched(tmp_path, seed)
    assert most <= FREE
    assert worst <= 1.0 + 1e-9
    assert most == FREE and worst > 0.5  # a program that does not try proves nothing


def more_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_pool, "UNASKED", 1.25 * FREE)


def over_when_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phase_watch, "CLOSED", 0.0)


def over_without_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phase_watch, "QUIET", 0.0)


def goes_on_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The allowance, and a little more all the time."""

    def allowance(segment: Any, amount: float, fallback: float | None = None, kind: Kind = Kind.BYTES) -> None:
        base = segment.promised(kind) + amount
        segment._write(kind, Lane(base, 1e6, segment.clock(), float("inf"), fallback or 0.0, amount))

    monkeypatch.setattr(Segment, "set_allowance", allowance)


MUTANTS = (more_each_time, over_when_closed, over_without_quiet, goes_on_at_rest)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__)
def test_a_broken_rule_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mutant: Any) -> None:
    mutant(monkeypatch)
    found = []
    for seed in SEEDS:
        (folder := tmp_path / str(seed)).mkdir()
        found.append(watched(folder, seed))
        if found[-1][0] > FREE or found[-1][1] > 1.0 + 1e-9:
            return
    raise AssertionError(found)
