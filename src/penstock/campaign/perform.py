"""One unit of a campaign, wherever it is done: make the scenario, carry out the plans, note what came of each."""

from __future__ import annotations

import contextlib
import sys
import time
from dataclasses import dataclass

from penstock.campaign.canonical import scenario_digest
from penstock.campaign.case import Case
from penstock.campaign.tasks import Value, Values, find_task
from penstock.campaign.units import PlannedRun, Unit
from penstock.errors import InvalidOption, PenstockError


@dataclass(frozen=True)
class RunRow:
    """What came of one run: its metrics, or why there are none and how to see for yourself."""

    key: str
    metrics: Values
    seconds: float | None  # of the engine
    elapsed: float  # of everything, the scenario's making counted for the first plan
    scenario_hash: str | None = None
    error: str | None = None
    reproducer: str | None = None


def perform(unit: Unit) -> list[RunRow]:
    """A row for each run of the unit. Whatever goes wrong is noted, so that the rest can go on."""
    begun = time.perf_counter()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            scenario = unit.source.make(unit.seed)
        case, found = Case(scenario, unit.seed), scenario_digest(scenario)
    except Exception as error:
        return [failed(unit, run, f"the scenario cannot be made: {words(error)}") for run in unit.runs]
    rows = []
    for run in unit.runs:
        rows.append(_row(unit, run, case, found, begun))
        begun = time.perf_counter()
    return rows


def failed(unit: Unit, run: PlannedRun, reason: str, scenario_hash: str | None = None, elapsed: float = 0.0) -> RunRow:
    """The row of a run that came to nothing."""
    commands = unit.source.commands(unit.seed, run.plan.command)
    return RunRow(run.key, {}, None, elapsed, scenario_hash, reason, commands)


def words(error: BaseException) -> str:
    """An error in one line; one that is not the user's to mend with its kind."""
    text = " ".join(str(error).split())
    return text if isinstance(error, PenstockError) else f"{type(error).__name__}: {text}"


def _row(unit: Unit, run: PlannedRun, case: Case, found: str, begun: float) -> RunRow:
    task = find_task(run.plan.task)
    try:
        # A policy of a user may print, or even leave Python.
        with contextlib.redirect_stdout(sys.stderr):
            values = task.run(case, run.plan.options)
        _check_files(run)
    except SystemExit as leaving:
        reason = f"a policy called exit({leaving.code!r}); it must return to its caller"
        return failed(unit, run, reason, found, time.perf_counter() - begun)
    except Exception as error:
        return failed(unit, run, words(error), found, time.perf_counter() - begun)
    kept = {metric.name for metric in task.metrics} | set(unit.keep)
    return RunRow(
        run.key,
        {name: _plain(value) for name, value in values.items() if name in kept},
        _number(values, "seconds"),
        time.perf_counter() - begun,
        found,
    )


def _check_files(run: PlannedRun) -> None:
    """Refuse what came of a changed file: its key is that of the old one. Asked after the run, nothing slips by."""
    if run.plan.identity != run.identity:
        raise InvalidOption(
            "a file that the plan names has changed since the campaign began; start it again to run what has changed"
        )


def _plain(value: Value) -> Value:
    return float(value) if isinstance(value, int) else value


def _number(values: Values, name: str) -> float | None:
    value = values.get(name)
    return value if isinstance(value, float) else None
