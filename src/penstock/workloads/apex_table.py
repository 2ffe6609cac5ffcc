"""The table behind the APEX workloads (P1 §6.3.1): who runs how long on how many cores, and what it reads and writes.

A CSV with the columns below; `data/apex.csv` holds what the papers give, with the source of every figure. A row without
wall time or cores cannot be scheduled: it is `missing`. What else a row leaves blank is `assumed`, because the APEX
report itself gives it and the papers do not:

    share_pct               of node-hours; what the others leave of 100 %, in equal parts
    input, output           as much as the memory of its cores, 1 GB each (P1 app. B.2): P1 says that I/O goes with
    checkpoint_size_gb      memory, and nothing speaks for one of the three being larger
    checkpoint_period       1 h (P1 §6.3.1)

Shares are taken in proportion: those of rows that are there stand for the whole machine.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import NamedTuple

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.model.units import Refusal, number, quantity, shown
from penstock.studies.profiles.source import MeasurementFile, TableRow

COLUMNS = (
    "workload", "site", "workflow", "share_pct", "wall_time_h", "cores", "input", "output", "checkpoint_size_gb",
    "checkpoint_pct_mem", "checkpoint_period", "source", "notes",
)  # fmt: skip
NEEDED = ("workload", "workflow", "share_pct", "wall_time_h", "cores")
UNSCHEDULABLE = ("wall_time_h", "cores")  # a row that lacks one of them
LARGEST = 1_000_000  # bytes of a file
MOST_ROWS = 1_000

GB = 1e9
HOUR = 3600.0
MEMORY = 1 * GB  # of a core

_EXPECTED = "expected a CSV with the columns of the APEX table"
_VOLUME = "a volume is 0, has a unit, as in 3.2 TB, or is a part of the memory, as in 5 %"


class Workflow(NamedTuple):
    """A kind of application, as it is on Cielo."""

    name: str
    share: float  # of all node-hours
    wall: float  # seconds
    cores: int
    input: float  # bytes, as all volumes
    output: float
    checkpoint: float
    period: float  # seconds of compute before a checkpoint
    assumed: tuple[str, ...]  # columns that the table leaves blank

    @property
    def node_seconds(self) -> float:
        """What one run takes of the machine."""
        return self.cores * self.wall


class Table(NamedTuple):
    """The workflows of a workload, and the names of those of which too little is known."""

    workload: str
    workflows: tuple[Workflow, ...]
    missing: tuple[str, ...]


def read_table(workload: str, path: str | Path | None = None) -> Table:
    """The rows of one workload, NERSC or TRILAB, in a file or in the table of the papers.

    >>> [each.name for each in read_table("TRILAB").workflows], read_table("TRILAB").missing
    (['EAP', 'LAP', 'Silverton', 'VPIC'], ('Dakota A', 'Dakota S', '(workflows)'))
    """
    if path is not None:
        return _table(_source(Path(path)), workload)
    with as_file(files("penstock.workloads") / "data" / "apex.csv") as shipped:
        return _table(_source(shipped), workload)


def _source(file: Path) -> MeasurementFile:
    with reading(file, InvalidOption, _EXPECTED):
        if file.exists() and not file.is_file():
            raise InvalidOption(f"{file}: is not a regular file; {_EXPECTED}")
        if (size := file.stat().st_size) > LARGEST:
            raise InvalidOption(f"{file}: has {size:,} bytes; a table has at most {LARGEST:,}")
        return MeasurementFile(file, file.read_bytes().decode("utf-8-sig"))


def _table(source: MeasurementFile, workload: str) -> Table:
    _check_header(source)
    rows = [row for row in source.rows() if source.name(row, "workload").upper() == workload]
    if len(rows) > MOST_ROWS:
        source.refuse(f"has {len(rows):,} rows of {workload}; accepted are at most {MOST_ROWS:,}")
    lines: dict[str, int] = {}
    for row in rows:
        name = source.name(row, "workflow")
        if name in lines:
            source.refuse(f"workflow is {name!r}, as in line {lines[name]}; every workflow has one row", row.line)
        lines[name] = row.line
    known = {name: row for name, row in zip(lines, rows, strict=True) if all(row.cells[each] for each in UNSCHEDULABLE)}
    if not known:
        source.refuse(f"has no row of {workload} with wall_time_h and cores; expected at least one")
    shares = _shares(source, workload, list(known.values()))
    return Table(
        workload,
        tuple(_workflow(source, row, share) for row, share in zip(known.values(), shares, strict=True)),
        tuple(name for name in lines if name not in known),
    )


def _check_header(source: MeasurementFile) -> None:
    if not source.header:
        source.refuse(f"is empty; {_EXPECTED}")
    for column in source.header:
        if column not in COLUMNS:
            source.refuse_header(f"has the unknown column {shown(column)}; accepted are {', '.join(COLUMNS)}")
    for column in NEEDED:
        if column not in source.header:
            source.refuse_header(f"has no column {column}; needed are {', '.join(NEEDED)}")


def _shares(source: MeasurementFile, workload: str, rows: list[TableRow]) -> list[float]:
    """Parts of the node-hours, 1 in all."""
    given = [_share(source, row) for row in rows]
    left = 100.0 - sum(share for share in given if share is not None)
    blank = given.count(None)
    if blank and left <= 0:
        source.refuse(f"share_pct of {workload} leaves nothing of 100 % for the {blank} rows where it is blank")
    percent = [left / blank if share is None else share for share in given]
    return [share / sum(percent) for share in percent]


def _share(source: MeasurementFile, row: TableRow) -> float | None:
    return _positive(source, row, "share_pct", "a share is a number > 0 and at most 100", 100.0)


def _workflow(source: MeasurementFile, row: TableRow, share: float) -> Workflow:
    cores = source.whole(row, "cores")
    wall = _positive(source, row, "wall_time_h", "a wall time is a number of hours > 0 and at most 1e6", 1e6) or 0.0
    memory = cores * MEMORY
    given = {
        "share_pct": row.cells["share_pct"] or None,
        "input": _volume(source, row, "input", memory),
        "output": _volume(source, row, "output", memory),
        "checkpoint_size_gb": _checkpoint(source, row, memory),
        "checkpoint_period": _period(source, row),
    }
    if given["checkpoint_size_gb"] == 0.0 and given["checkpoint_period"] is None:
        given["checkpoint_period"] = HOUR  # of what never happens: nothing to assume
    return Workflow(
        name=row.cells["workflow"],
        share=share,
        wall=wall * HOUR,
        cores=cores,
        input=_known(given["input"], memory),
        output=_known(given["output"], memory),
        checkpoint=_known(given["checkpoint_size_gb"], memory),
        period=_known(given["checkpoint_period"], HOUR),
        assumed=tuple(column for column, value in given.items() if value is None),
    )


def _known(value: object, otherwise: float) -> float:
    return value if isinstance(value, float) else otherwise


def _positive(source: MeasurementFile, row: TableRow, column: str, accepted: str, most: float) -> float | None:
    value = _number(source, row, column, accepted, most)
    if value == 0.0:
        source.refuse(f"{column} is {shown(row.cells[column])}; {accepted}", row.line)
    return value


def _number(source: MeasurementFile, row: TableRow, column: str, accepted: str, most: float) -> float | None:
    if not (cell := row.cells.get(column, "")):
        return None
    try:
        return number(cell, accepted, most=most)
    except Refusal as refusal:
        source.refuse(f"{column} {refusal}", row.line)


def _volume(source: MeasurementFile, row: TableRow, column: str, memory: float) -> float | None:
    """A volume in bytes. A bare number might be GB as well as a part of the memory, so it is refused."""
    if not (cell := row.cells.get(column, "")):
        return None
    try:
        if cell.endswith("%"):
            return memory * number(cell[:-1].strip(), _VOLUME, most=1e6) / 100
        bare = cell[-1].isdigit() or cell[-1] == "."
        return number(cell, _VOLUME, most=0.0) if bare else quantity(cell, "bytes")
    except Refusal as refusal:
        source.refuse(f"{column} {refusal}", row.line)


def _checkpoint(source: MeasurementFile, row: TableRow, memory: float) -> float | None:
    size = _number(source, row, "checkpoint_size_gb", "a size is a number of GB from 0 to 1e9", 1e9)
    part = _number(source, row, "checkpoint_pct_mem", "a part of the memory is a number from 0 to 1e6", 1e6)
    if size is not None and part is not None:
        source.refuse("has both checkpoint_size_gb and checkpoint_pct_mem; keep one of them", row.line)
    if part is not None:
        return memory * part / 100
    return None if size is None else size * GB


def _period(source: MeasurementFile, row: TableRow) -> float | None:
    """Seconds; at least one, so that nobody writes more checkpoints than memory holds."""
    if not (cell := row.cells.get("checkpoint_period", "")):
        return None
    accepted = "a period has a unit, as in 1 h, and is at least 1 s"
    try:
        seconds = quantity(cell, "seconds")
    except Refusal as refusal:
        source.refuse(f"checkpoint_period {refusal}", row.line)
    if cell[-1].isdigit() or cell[-1] == "." or seconds < 1.0:
        source.refuse(f"checkpoint_period is {shown(cell)}; {accepted}", row.line)
    return seconds
