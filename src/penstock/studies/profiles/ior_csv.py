"""Profiles from IOR's table of runs, `-O summaryFormat=CSV` (IOR 4: older ones wrote no header)."""

from __future__ import annotations

from penstock.model.units import Refusal, number
from penstock.studies.profiles import ior
from penstock.studies.profiles.source import Measurement, MeasurementFile, Measurements, TableRow

BANDWIDTH, BLOCK, TRANSFER, TASKS = "bw(MiB/s)", "block(KiB)", "xfer(KiB)", "numTasks"


def recognises(source: MeasurementFile) -> bool:
    """Whether it has the columns that IOR writes."""
    return {"access", BANDWIDTH, BLOCK, TRANSFER} <= set(source.header)


def read(source: MeasurementFile) -> Measurements:
    """Every write and read."""
    count = ior.targets(source, None)
    rows = (row for row in source.rows() if row.cells["access"] != "access")  # several tests repeat the header
    return Measurements([_measurement(source, row, count) for row in rows], ior.UNIT)


def _measurement(source: MeasurementFile, row: TableRow, count: int) -> Measurement:
    operation = row.cells["access"]
    if operation not in ior.OPERATIONS:
        source.refuse(f"access is {operation!r}; expected {' or '.join(ior.OPERATIONS)}", row.line)
    name = ior.named(
        source,
        operation=operation,
        tasks=source.whole(row, TASKS) if TASKS in row.cells else None,
        block=_size(source, row, BLOCK),
        transfer=_size(source, row, TRANSFER),
    )
    return Measurement(name, count, source.rate(row, BANDWIDTH, ior.UNIT))


def _size(source: MeasurementFile, row: TableRow, column: str) -> float:
    try:
        return number(row.cells[column], "a size is a number ≥ 0")
    except Refusal as refusal:
        source.refuse(f"{column} {refusal}", row.line)
