"""I/O nodes in a study of packs: pack after pack, or job by job. None disturbs another, so each runs on its own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from penstock.engine.link.execution import Execution, Run, execute
from penstock.kernels.arrays import SAME, Floats
from penstock.policies.sharing.policy import Outlook, Sharing
from penstock.studies.packs.batch import Batch


class IoNodesAtWork(ABC):
    """What the two ways to run an I/O node have in common. `seconds` is the engine's time for it."""

    def __init__(self, batch: Batch, policy: Sharing) -> None:
        self.program, self.policy = batch.study.program, policy
        self.foresight = batch.study.foresight if policy.prepare else None
        self.jobs: list[list[int]] = [[] for _ in range(batch.machine.count)]  # that run on each

    @property
    @abstractmethod
    def seconds(self) -> float:
        """The engine's CPU time so far."""

    @abstractmethod
    def start(self, node: int, jobs: Sequence[int], now: float) -> None:
        """Start jobs, in the order of the scenario; what was said of the next end there no longer holds."""

    @abstractmethod
    def next_end(self, node: int, stop: float) -> float:
        """When something ends there; infinity if that lies beyond `stop` and is not known yet."""

    @abstractmethod
    def take_ended(self, node: int, now: float) -> tuple[list[int], Floats]:
        """The jobs that have ended, and when; they no longer run."""


class PackByPack(IoNodesAtWork):
    """An I/O node that has started jobs is busy until all of them are done; each pack is a run of its own."""

    def __init__(self, batch: Batch, policy: Sharing) -> None:
        super().__init__(batch, policy)
        self.runs: dict[int, tuple[float, Run]] = {}  # of each I/O node that is busy: since when, with what
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """The engine's CPU time so far."""
        return self._seconds

    def start(self, node: int, jobs: Sequence[int], now: float) -> None:
        """Start a pack."""
        foresight = self.foresight.pick(np.asarray(jobs)) if self.foresight else None
        program = self.program.pick(jobs)
        run = execute(program, self.policy, _outlook(program.volume.size), foresight)
        self.jobs[node], self.runs[node] = list(jobs), (now, run)
        self._seconds += run.seconds

    def next_end(self, node: int, stop: float) -> float:
        """When the pack is over."""
        start, run = self.runs[node]
        return start + run.end

    def take_ended(self, node: int, now: float) -> tuple[list[int], Floats]:
        """All jobs of the pack."""
        start, run = self.runs.pop(node)
        over, self.jobs[node] = self.jobs[node], []
        return over, start + run.completion


class JobByJob(IoNodesAtWork):
    """An I/O node starts jobs beside those that run there."""

    def __init__(self, batch: Batch, policy: Sharing) -> None:
        super().__init__(batch, policy)
        self.executions: dict[int, Execution] = {}

    @property
    def seconds(self) -> float:
        """The engine's CPU time so far."""
        return sum(execution.seconds for execution in self.executions.values())

    def start(self, node: int, jobs: Sequence[int], now: float) -> None:
        """Start jobs beside the others."""
        if node not in self.executions:
            outlook = _outlook(self.program.volume.size)
            self.executions[node] = Execution(self.program, self.policy, outlook, self.foresight, held=True)
        execution = self.executions[node]
        if execution.time > now:
            # It was run ahead to its next end, because nobody knew that jobs would join before.
            execution.go_back()
            execution.next_end(now)
        execution.admit(jobs, now)
        self.jobs[node] += jobs

    def next_end(self, node: int, stop: float) -> float:
        """When a job ends, if that is up to `stop`."""
        if len(self.jobs) > 1:
            self.executions[node].save()
        return self.executions[node].next_end(stop)

    def take_ended(self, node: int, now: float) -> tuple[list[int], Floats]:
        """The jobs that are over by now."""
        completion = self.executions[node].completion
        over = [job for job in self.jobs[node] if completion[job] <= now * (1.0 + SAME)]
        self.jobs[node] = [job for job in self.jobs[node] if job not in over]
        return over, completion[over]


def _outlook(operations: int) -> Outlook:
    return Outlook(0.0, math.inf, operations)
