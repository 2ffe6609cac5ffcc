"""What a user waits for at the command line, from pressing return to the prompt, if the machine is otherwise idle.

Nearly all of it is what libraries take to get ready, Numba above all. So a run is promised in seconds, or, where the
machine is too slow for these, as a multiple of what the libraries take in the same minute.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.rows import Row
from benchmarks.timing import ROOT, Command, time_command

SCRIPT = Path(sys.executable).with_name("penstock")
LIBRARIES = "import typer, pydantic, yaml, rich.table, numba; numba.njit('f8(f8)')(lambda x: x)"
SECONDS, MULTIPLE = 1.2, 1.35
LIBRARY = "import typer"
HELP_MULTIPLE = 1.5
# What a command with an option takes before it does anything; `penstock run` does without.
COMMAND_LIBRARY = "import typer; typer.run(lambda once=False: None)"


def startup_rows(quick: bool) -> list[Row]:
    """Help, runs with kernels already compiled, and the first run ever."""
    if not SCRIPT.exists():
        return [Row("start-up", None, " s", note="the penstock command is not installed beside this Python")]
    rounds = 1 if quick else 5
    rows = [*_help_rows(rounds), *_run_rows(rounds)]
    libraries = [time_command([sys.executable, "-c", LIBRARIES], {}) for _ in range(rounds)]
    rows.append(_row("the libraries that a run needs, each at its smallest job", libraries, None))
    limit = max(SECONDS, round(MULTIPLE * min(run.seconds for run in libraries), 2))
    examples = sorted((ROOT / "examples").glob("*.yaml"))
    for example in examples[:1] if quick else examples:
        command = ("simulate", str(example.relative_to(ROOT)))
        _penstock(*command)  # compiles whatever is not compiled yet
        rows.append(_row(f"penstock {' '.join(command)}", [_penstock(*command) for _ in range(rounds)], limit))
    return rows if quick or not examples else [*rows, _first_ever(examples[0])]


def _help_rows(rounds: int) -> list[Row]:
    library = [time_command([sys.executable, "-c", LIBRARY], {}) for _ in range(rounds)]
    limit = round(HELP_MULTIPLE * min(run.seconds for run in library), 3)
    return [
        _row("Python that imports typer", library, None),
        _row("penstock --help", [_penstock("--help") for _ in range(rounds)], limit),
    ]


def _run_rows(rounds: int) -> list[Row]:
    library = [time_command([sys.executable, "-c", COMMAND_LIBRARY], {}) for _ in range(rounds)]
    own = [_penstock("run", "--", "true", PENSTOCK="off") for _ in range(rounds)]
    return [
        _row("typer with one option", library, None),
        _row("penstock run -- true", own, min(run.seconds for run in library)),
    ]


def _first_ever(example: Path) -> Row:
    command = ("simulate", str(example.relative_to(ROOT)))
    with tempfile.TemporaryDirectory() as empty:
        # Kernels of other users or runs must not be found: not even where Numba is told to keep them.
        run = _penstock(*command, XDG_CACHE_HOME=empty, NUMBA_CACHE_DIR="")
    return _row(f"penstock {' '.join(command)}, first ever", [run], 15.0)


def _penstock(*arguments: str, **environment: str) -> Command:
    return time_command([str(SCRIPT), *arguments], environment)


def _row(what: str, runs: list[Command], promise: float | None) -> Row:
    errors = [run.error for run in runs if run.error]
    if errors:
        return Row(what, None, " s", promise, note=errors[0], broken=True)
    best = min(runs, key=lambda run: run.seconds)
    return Row(what, best.seconds, " s", promise, note=f"{best.clock:.2f} s on the clock")
