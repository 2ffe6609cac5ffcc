"""One yardstick for all plans that a study tries: what each application could have alone on this machine, at best.

A run is measured by what its applications have alone *under its own plan*. For one plan that is right; between plans it
is not: who has one target instead of eight is slower alone, too, and so seems to lose less. Here bytes count at the
speed that their application has alone with the best choice that is open: as many targets as serve it best, the fastest
of them, with a part of the buffer or without. No plan makes anybody faster than that, and none changes it. What takes
fewer node-hours then loses fewer; inside a window, what gets more done does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.engine.compile import compile_with
from penstock.engine.dedicated import dedicated
from penstock.engine.link.execution import Run
from penstock.engine.machine.network import IN, OUT, Layout, Network, network_of, targets_of
from penstock.engine.program import Program
from penstock.kernels.arrays import Bools, Floats, FloatTable
from penstock.metrics.measure import Yardsticks, measure
from penstock.metrics.result import Result
from penstock.model.needs import BUFFERING, PLACEMENT
from penstock.model.plan_file import with_plan
from penstock.studies.machine import MachineStudy
from penstock.studies.planning.draft import Task
from penstock.studies.planning.result import JudgedBy, Speed
from penstock.studies.planning.starts import unasked


class Yardstick:
    """What all plans of one search are judged by."""

    def __init__(self, task: Task) -> None:
        self.task = task
        study = MachineStudy(with_plan(task.scenario, task.plan_of(unasked(task))))
        self.speed = _best(task, study)
        caps = [(float(row[IN]), float(row[OUT])) for row in self.speed]
        self.program: Program = compile_with(study.scenario, caps, study.bandwidth)[0]
        self._alone = Yardsticks(dedicated(self.program), None, np.inf, None, 0.0)

    @property
    def words(self) -> str:
        """What it is, in a sentence."""
        open_ = self.task.open
        best = ["on the best number of targets"] if PLACEMENT in open_ else []
        best += ["with a part of the buffer or without"] if BUFFERING in open_ else []
        how = f" at best, {', '.join(best)}" if best else ""
        return f"bytes count at the speed that their application could have alone on this machine{how}"

    def stated(self) -> JudgedBy:
        """For the answer."""
        rows = zip(self.program.names, self.speed, strict=True)
        return JudgedBy(self.words, tuple(Speed(name, float(row[OUT]), float(row[IN])) for name, row in rows))

    def judged(self, result: Result) -> Result:
        """A run measured by this instead of by its own plan."""
        program, jobs = self.program, result.applications
        moved = np.array([job.transferred for job in jobs])
        never = np.full(moved.size, np.nan)
        completion = np.array([np.nan if job.completion is None else job.completion for job in jobs])
        run = Run(
            origin=program.origin,
            end=result.end - program.origin,
            events=0,
            seconds=0.0,
            compute_done=np.array([job.compute_done for job in jobs]),
            transferred=moved,
            io_seconds=self._seconds(moved),
            completion=completion - program.origin,
            cut=np.where([job.cut for job in jobs], program.until - program.origin, never),
            timeline=None,
        )
        return measure(program, self._alone, "", run)

    def _seconds(self, moved: Floats) -> Floats:
        """How long each would take for its first so many bytes: whatever the plan, they move in the order of phases."""
        program, found = self.program, np.zeros(moved.size)
        for i in range(moved.size):
            own = slice(program.first[i], program.first[i + 1])
            volume = program.volume[own]
            bytes_ = np.concatenate([[0.0], np.cumsum(volume)])
            seconds = np.concatenate([[0.0], np.cumsum(volume / program.limit[own])])
            found[i] = np.interp(moved[i], bytes_, seconds)
        return found


def _best(task: Task, study: MachineStudy) -> FloatTable:
    """For each application, writing and reading: the most that it has alone over the choices that are open."""
    scenario, layout, shares = study.scenario, study.layout, study.behind.shares
    parts = [np.zeros_like(shares), np.ones_like(shares)] if BUFFERING in task.open else [shares]
    placed = _stripings(task) if PLACEMENT in task.open else [layout.targets]

    def network(targets: Sequence[Sequence[int]], part: Floats) -> Network:
        return network_of(scenario, study.resources, Layout(layout.io_node, targets), part)

    straight = [network(targets, parts[0]) for targets in placed]
    found = [each.speed for each in straight]
    # How many targets there are behind a part of the buffer is nothing to who writes into it.
    found += [network(placed[0], part).speed for part in parts[1:]]
    past = [network(targets, np.zeros_like(shares)) for targets in placed] if parts[0].any() else straight
    found += [_pooled(each, parts[-1] > 0.0) for each in past]
    speeds: FloatTable = np.max(found, axis=0)
    return speeds


def _pooled(network: Network, buffered: Bools) -> FloatTable:
    """What is read past the buffer by who has a part of it: its flows draw on one pool, and none waits for another."""
    found = np.zeros_like(network.speed)
    for i in np.flatnonzero(buffered):
        found[i, IN] = network.weight[network.first[4 * i + IN] : network.first[4 * i + IN + 1]].sum()
    return found


def _stripings(task: Task) -> list[list[tuple[int, ...]]]:
    """Every number of targets that is allowed, on the fastest of them."""
    listed = targets_of(task.scenario)
    pace = [min(each.capacity or np.inf, each.bandwidth or np.inf) for each in listed]
    fastest = sorted(range(len(listed)), key=lambda place: -pace[place])
    most = max(len(counts) for counts in task.counts)
    return [[tuple(fastest[: counts[min(k, len(counts) - 1)]]) for counts in task.counts] for k in range(most)]
