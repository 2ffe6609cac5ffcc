"""What the controller keeps of jobs that announced nothing: same user, program and number of nodes is the same job.

A run is over when its last member is gone. What is kept of it is the median volume of its phases and the length of its
iterations, of the last three runs; a phase that nobody announced is taken to move as much, with a confidence. Programs
are known by a digest that the agent of a node makes, so neither this nor the journal says what anybody runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite, nan
from statistics import median
from typing import NamedTuple

from penstock.live.core.members import App
from penstock.wire.guesses import ENOUGH, LEARNT, UNKNOWN, agree

FEW_RUNS = 0.6  # confidence in one or two of them
MOST = 10_000  # jobs that are remembered, those that ended last
MOST_EACH = 100  # of one user

Key = tuple[int, str, int]  # user, program, nodes


class Run(NamedTuple):
    """What one run was like: bytes of a phase of a member, seconds of an iteration (NaN: not known)."""

    volume: float
    period: float


class Expected(NamedTuple):
    """What the next run is thought to be like."""

    volume: float
    period: float
    confidence: float


class History:
    """The last runs of each job, in the order in which jobs ended last."""

    def __init__(self) -> None:
        self.runs: dict[Key, list[Run]] = {}

    def over(self, app: App) -> None:
        """The last member of a job is gone."""
        if app.program and app.volumes:
            key = app.uid, app.program, app.most_nodes
            before = self.runs.pop(key, [])
            self.runs[key] = [*before[1 - ENOUGH :], Run(median(app.volumes), app.omega)]
            self._bound(app.uid)
        app.volumes, app.most_nodes = [], 0

    def expect(self, uid: int, program: str, nodes: int) -> Expected | None:
        """What a job is thought to move in a phase, if it ran before."""
        runs = self.runs.get((uid, program, nodes), [])
        if not runs:
            return None
        volumes = [run.volume for run in runs]
        periods = [run.period for run in runs if isfinite(run.period)]
        sure = FEW_RUNS if len(runs) < ENOUGH else LEARNT if agree(volumes) else UNKNOWN
        return Expected(median(volumes), median(periods) if periods else nan, sure)

    def packed(self) -> list[list[object]]:
        """All of it, in plain data."""
        return [[*key, [list(run) for run in runs]] for key, runs in self.runs.items()]

    def unpack(self, packed: Iterable[tuple[int, str, int, list[list[float]]]]) -> None:
        """The same back."""
        self.runs = {(uid, program, nodes): [Run(*run) for run in runs] for uid, program, nodes, runs in packed}

    def _bound(self, uid: int) -> None:
        """Nobody may fill the memory: of one user and of all, those that ended long ago are forgotten."""
        own = [key for key in self.runs if key[0] == uid]
        for key in own[: max(0, len(own) - MOST_EACH)]:
            del self.runs[key]
        for key in list(self.runs)[: max(0, len(self.runs) - MOST)]:
            del self.runs[key]
