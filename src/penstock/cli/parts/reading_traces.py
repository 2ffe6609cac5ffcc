"""Commands that read traces: what they show meanwhile, and what an import writes and says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli.parts.output import check_text_file, print_json, say
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import model, report, traces

if TYPE_CHECKING:
    from penstock.report.parts.fitting_table import FittingTable
    from penstock.traces import Imported, Options
    from penstock.traces.inspecting import Inspected


TABLES = (".csv", ".parquet", ".txt")


def read_logs(
    logs: Sequence[Path], options: Options | None = None, slurm: Path | None = None, fields: Sequence[str] | None = None
) -> Imported:
    """Darshan logs, with how many of them are done."""
    with ProgressLine() as line:

        def progress(done: int, all_: int) -> None:
            line.show("reading logs", done / all_ if all_ else None, f"{done:,} of {all_:,}")

        return traces.import_darshan(logs, options, slurm=slurm, fields=fields, progress=progress)


def import_to(output: Path | None, read: Callable[[], Imported], json: bool, files: Sequence[Path]) -> None:
    """Check where the result goes, read, write, and say what was found."""
    assert output is not None  # the option refuses to be left out
    check_text_file(output)
    found = read()
    model.save(found.scenario, output)
    if json:
        print_json(found.to_dict())
    else:
        say(words(traces.inspecting.inspect_import(found), files), output)


def words(found: Inspected, files: Sequence[Path]) -> list[FittingTable | str]:
    """What was found in files: a table and sentences."""
    text = report.traces.table
    return [text.trace_table(found, titled(files)), *text.trace_lines(found)]


def titled(files: Sequence[Path]) -> str:
    """Files above a table."""
    return ", ".join(str(file) for file in files[:2])
