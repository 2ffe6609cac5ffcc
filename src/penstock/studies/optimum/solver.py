"""MS-HPC-IO (P2 §2.3) as a constraint program for CP-SAT: one interval per operation, and no two overlap."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import import_module
from typing import TYPE_CHECKING

from penstock.errors import InvalidOption
from penstock.model.needs import need_ortools
from penstock.studies.optimum.chains import Chain, Chains, Order, in_turn, starts, twins
from penstock.studies.optimum.states import FoundSchedule

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, CpSolver, CpSolverSolutionCallback, IntVar

MOST_FOR_SOLVER = 2_000  # operations: with ten times as many it took gigabytes and twice the time it was given
_FEWEST_WORKERS = 8  # different searches side by side help even where they must share a core
_MANY = 300  # operations: beyond, every worker costs much memory
_WORKERS_FOR_MANY = 4
_RESERVE = 0.05  # of the time: the solver looks at the clock only now and then
_PATIENCE = 0.1  # seconds until the main thread hears of an interrupt

Report = Callable[[int, int], None]  # (makespan, bound)


def need_solver() -> None:
    """Refuse to look for an optimum without the library for it, before any work is done."""
    need_ortools()
    with _loading():
        import_module("ortools")


@contextlib.contextmanager
def _loading() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # whatever half an installation runs into
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise InvalidOption(f"ortools is installed but cannot be loaded ({why}); install it again") from None


def solve(chains: Chains[int], order: Order, bound: int, deadline: float, report: Report) -> FoundSchedule:
    """Look for a schedule better than `order` until the deadline (monotonic); no makespan is below `bound`."""
    with _loading():
        from ortools.sat.python import cp_model  # noqa: PLC0415 - takes a second

    begun = time.monotonic()
    best = starts(chains, order)[1]

    class Watch(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            nonlocal best
            best = round(self.objective_value)
            report(best, _better(bound, self.best_objective_bound))

    model = cp_model.CpModel()
    variables = _describe(model, chains, in_turn(chains, order), bound)
    solver = cp_model.CpSolver()
    described = time.monotonic()
    # As long again is left for the solver to take in what was described.
    left = deadline - described - (described - begun)
    solver.parameters.max_time_in_seconds = max(0.0, left * (1.0 - _RESERVE))
    solver.parameters.num_workers = _workers(len(order))
    solver.parameters.use_dynamic_precedence_in_disjunctive = True
    solver.best_bound_callback = lambda found: report(best, _better(bound, found))
    status = _run(solver, model, Watch())
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # too short a time even for the schedule that it was given
        return FoundSchedule(None, bound)
    rows = [
        (solver.value(start), solver.value(start) + io, k, i)
        for i, chain in enumerate(chains)
        for k, (start, io) in enumerate(zip(variables[i], chain.io, strict=True))
    ]
    return FoundSchedule(tuple(i for _, _, _, i in sorted(rows)), _better(bound, solver.best_objective_bound))


def _workers(operations: int) -> int:
    return _WORKERS_FOR_MANY if operations > _MANY else max(_FEWEST_WORKERS, os.cpu_count() or 1)


def _run(solver: CpSolver, model: CpModel, watch: CpSolverSolutionCallback) -> object:
    """The status after solving, in a thread of its own so that this one can be interrupted.

    The solver's own way with interrupts is to replace the handler of the whole process, and not to put it back.
    """
    solver.parameters.catch_sigint_signal = False
    with ThreadPoolExecutor(1) as pool:
        solving = pool.submit(solver.solve, model, watch)
        try:
            while wait((solving,), _PATIENCE).not_done:
                pass
        except BaseException:
            solver.stop_search()
            while wait((solving,), _PATIENCE).not_done:  # it may not have begun when first told
                solver.stop_search()
            raise
        return solving.result()


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
