"""The lockstep loop is the simulator's: with the policy itself deciding, nothing differs in any digit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from live.harness.lockstep import Decider, Lockstep
from penstock import Scenario
from penstock.engine.foresight import foresee
from penstock.engine.link.execution import execute, origin_of, tick_of
from penstock.engine.program import Program
from penstock.policies.sharing import Sharing, find
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import COLUMNS, View, active_rows, empty_view
from penstock.studies.study import Study
from strategies import scenarios


class Asked(Decider):
    """Keeps the View as the engine does and asks the policy."""

    def __init__(self, program: Program, policy: Sharing, origin: float, foresight: Foresight | None) -> None:
        self.program, self.policy = program, policy
        m = len(program.names)
        if foresight is not None:
            foresight = foresight._replace(start=foresight.start - origin)
        blank = empty_view(m, policy.settings_array(), policy.initial_memory(m, foresight))
        window: dict[str, Any] = {"begin": program.begin - origin, "end": program.end - origin}
        self.view: View = blank._replace(**window, capacity=program.capacity)
        self.release = program.release - origin
        self.done = program.progress.copy()
        self.iterations, self.seconds = np.zeros(m), np.zeros(m)
        self.active, self.settled = 0, 0.0
        self.lost: dict[int, float] = {}  # seconds, of those that compute
        self.pending: list[tuple[str, int, int]] = []

    def released(self, application: int) -> None:
        self.pending.append(("compute", application, 0))

    def finished(self, application: int) -> None:
        self.pending.append(("end", application, 0))

    def posted(self, application: int, operation: int) -> None:
        self.pending.append(("post", application, operation))

    def completed(self, application: int, operation: int) -> None:
        self.pending.append(("complete", application, operation))

    def _mean_loss(self) -> float:
        rows = slice(0, self.active)
        ages = self.now - self.view.release[rows]
        losses = [
            1.0 - progress / age for progress, age in zip(self.view.progress[rows], ages, strict=True) if age > 0.0
        ]
        computing = [(lost, self.now - self.release[application]) for application, lost in self.lost.items()]
        losses += [lost / age for lost, age in computing if age > 0.0]
        return sum(losses) / (self.active + len(self.lost))

    def rates(self, active: list[int]) -> list[float]:
        rows = slice(0, self.active)
        moved = self.view.rate[rows] * (self.now - self.settled)
        self.view.remaining[rows] -= moved
        self.view.progress[rows] += moved / self.view.limit[rows]
        self.settled = self.now
        for kind, application, operation in self.pending:
            if kind in ("post", "complete"):
                (self._post if kind == "post" else self._complete)(application, operation)
            self.lost.pop(application, None)
            if kind in ("compute", "complete"):
                self.lost[application] = self.now - self.release[application] - self.done[application]
        self.pending.clear()
        if not active:
            return []
        assert self.view.application[: self.active].tolist() == active
        given = np.zeros(len(active))
        self.policy.decide(active_rows(self.view, self.now, 0, self.active, self._mean_loss()), given)
        self.view.rate[: self.active] = given
        return given.tolist()

    def _post(self, application: int, operation: int) -> None:
        program, row = self.program, self.active
        self.active += 1
        self.done[application] += program.work[operation]
        mean = self.seconds[application] / self.iterations[application] if self.iterations[application] else np.nan
        values = (
            application, program.nodes[application], program.limit[operation], program.volume[operation], self.now,
            self.release[application], self.done[application], mean, 0.0,
        )  # fmt: skip
        for name, value in zip(COLUMNS[:-2], values, strict=True):  # confidence stays 1, the bandwidth is the limit
            getattr(self.view, name)[row] = value

    def _complete(self, application: int, operation: int) -> None:
        program = self.program
        seconds = program.volume[operation] / program.limit[operation]
        self.done[application] += seconds
        if operation > program.first[application] or program.work[operation] > 0.0:
            self.iterations[application] += 1.0
            self.seconds[application] += program.work[operation] + seconds
        self.active -= 1
        row = int(np.flatnonzero(self.view.application[: self.active + 1] == application)[0])
        for name in COLUMNS:
            column = getattr(self.view, name)
            column[row] = column[self.active]


@pytest.mark.parametrize("name", ["fair-share", "greedy-yield", "set-10", "periodic-greedy-yield", "list-stretch"])
@given(scenario=scenarios())
def test_the_loop_is_the_simulators(scenario: Scenario, name: str) -> None:
    study, policy = Study(scenario), find(name)
    program = study.program
    foresight = foresee(scenario, program) if policy.prepare else None
    tick = tick_of(policy, study.outlook, program)
    origin = origin_of(program, tick)
    ours = Lockstep(program, origin, tick, Asked(program, policy, origin, foresight)).run()
    theirs = execute(program, policy, study.outlook, foresight, timeline=True)
    for mine, other in zip(vars(ours).items(), vars(theirs).items(), strict=True):
        if mine[0] == "timeline":
            for ours_column, theirs_column in zip(vars(mine[1]).items(), vars(other[1]).items(), strict=True):
                np.testing.assert_array_equal(ours_column[1], theirs_column[1], err_msg=ours_column[0])
        elif mine[0] != "seconds":
            np.testing.assert_array_equal(mine[1], other[1], err_msg=mine[0])
