"""MS-HPC-IO (P2 §2.3) as a constraint program for CP-SAT: one interval per operation, and no two overlap."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from penstock.errors import InvalidOption
from penstock.exact.chains import Chain, Chains, Order, in_turn, starts, twins
from penstock.exact.states import Found

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar

_FEWEST_WORKERS = 8  # different searches side by side help even where they must share a core

Report = Callable[[int, int], None]  # (makespan, bound)


def need_solver() -> None:
    """Refuse to look for an optimum without the library for it, before any work is done."""
    if find_spec("ortools") is None:
        raise InvalidOption("the exact optimum needs ortools; pip install penstock[optimum]")


def solve(chains: Chains[int], order: Order, bound: int, deadline: float, report: Report) -> Found:
    """Look for a schedule better than `order` until the deadline (monotonic); no makespan is below `bound`."""
    from ortools.sat.python import cp_model  # noqa: PLC0415 - takes a second to load

    best = starts(chains, order)[1]

    class Watch(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            nonlocal best
            best = round(self.objective_value)
            report(best, _better(bound, self.best_objective_bound))

    model = cp_model.CpModel()
    variables = _describe(model, chains, in_turn(chains, order), bound)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
    solver.parameters.num_workers = max(_FEWEST_WORKERS, os.cpu_count() or 1)
    solver.parameters.use_dynamic_precedence_in_disjunctive = True
    solver.best_bound_callback = lambda found: report(best, _better(bound, found))
    status = solver.solve(model, Watch())
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # too short a time even for the schedule that it was given
        return Found(None, bound)
    rows = [
        (solver.value(start), solver.value(start) + io, k, i)
        for i, chain in enumerate(chains)
        for k, (start, io) in enumerate(zip(variables[i], chain.io, strict=True))
    ]
    return Found(tuple(i for _, _, _, i in sorted(rows)), _better(bound, solver.best_objective_bound))


def _describe(model: CpModel, chains: Chains[int], order: Order, bound: int) -> list[list[IntVar]]:
    """Fill the model, `order` being where the search starts; the starts by application and operation."""
    known, horizon = starts(chains, order)
    makespan = model.new_int_var(bound, horizon, "makespan")
    model.add_hint(makespan, horizon)
    variables = [_describe_chain(model, chain, horizon) for chain in chains]
    intervals = []
    for chain, twin, row, hints in zip(chains, twins(chains), variables, known, strict=True):
        for k, start in enumerate(row):
            model.add_hint(start, hints[k])
            intervals.append(model.new_fixed_size_interval_var(start, chain.io[k], ""))
            if twin >= 0:
                model.add(start >= variables[twin][k] + chain.io[k])
        model.add(makespan >= (row[-1] + chain.rest[-1] if row else chain.alone))
    model.add_no_overlap(intervals)
    model.minimize(makespan)
    return variables


def _describe_chain(model: CpModel, chain: Chain[int], horizon: int) -> list[IntVar]:
    """The starts of one application's operations, each within what the others leave and after the one before."""
    row: list[IntVar] = []
    for k, (posted, rest) in enumerate(zip(chain.posted, chain.rest, strict=True)):
        row.append(model.new_int_var(posted, horizon - rest, ""))
        if k:
            model.add(row[k] >= row[k - 1] + chain.io[k - 1] + chain.work[k])
    return row


def _better(known: int, found: float) -> int:
    """The better of two bounds; the solver's is a float."""
    return max(known, math.ceil(found - 1e-6)) if math.isfinite(found) else known
