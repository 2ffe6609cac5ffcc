"""A study of a plan with a burst buffer alone, in front of a file system: it runs on the loop of `penstock buffer`."""

from __future__ import annotations

import numpy as np

from penstock.engine.link.execution import Run
from penstock.engine.stepping import Progress
from penstock.engine.tier.execution import TierRun, execute_tier
from penstock.kernels.arrays import Floats
from penstock.metrics.result import ResourceUse
from penstock.policies.buffering import find
from penstock.studies.buffers.script import Division, script_of
from penstock.studies.machine.study import MachineStudy
from penstock.studies.sizing.traffic import limits_of

STRATEGY = "fair"  # what max-min on the file system is called there


def on_tier(study: MachineStudy, progress: Progress | None) -> tuple[Run, list[ResourceUse]]:
    """The run, and what the file system did."""
    behind, scenario = study.behind, study.scenario
    division = Division(behind.capacity * behind.shares, behind.capacity, 0.0, behind.lead)
    names = tuple(each.name for each in scenario.applications)
    found = execute_tier(
        script_of(scenario, division), limits_of(scenario), find(STRATEGY), None, names=names, progress=progress
    )
    run = _as_run(study, found)
    return run, _uses(study, found, run)


def _as_run(study: MachineStudy, found: TierRun) -> Run:
    """In the form that is measured: everybody has come to the end, so all that they had to do is done."""
    program = study.program
    count = len(program.names)
    owner = np.repeat(np.arange(count), np.diff(program.first))

    def in_all(each: Floats) -> Floats:
        return np.bincount(owner, each, count).astype(np.float64)

    return Run(
        origin=0.0,
        end=float(found.completion.max()),
        events=found.events,
        seconds=found.seconds,
        compute_done=in_all(program.work) + program.tail,
        transferred=in_all(program.volume),
        io_seconds=in_all(program.volume / program.limit),
        completion=found.completion,
        cut=np.full(count, np.nan),
        timeline=None,
    )


def _uses(study: MachineStudy, found: TierRun, run: Run) -> list[ResourceUse]:
    """All that is read and written crosses the file system, through the buffer or past it."""
    ways = [study.by_way(i, float(moved)) for i, moved in enumerate(run.transferred)]
    written, read = (float(sum(part)) for part in zip(*ways, strict=True))
    reads, writes, moves = found.busy
    by_name = {
        "file_system:read": (reads, read),
        "file_system:write": (writes, written),
        "file_system": (moves, read + written),
    }
    return [ResourceUse(each.name, each.kind, *by_name[each.name]) for each in study.resources if each.name in by_name]
