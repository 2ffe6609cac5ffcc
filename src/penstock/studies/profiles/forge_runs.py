"""Profiles from FORGE's single runs: a line per run, its parameters the columns, `forwarders` the number of I/O nodes.

A pattern is what its parameters make it. Its name lists them as FORGE's summary does (processes, clients, layout,
spatiality, request, odirect), and the operation unless it is a write, so that both files name a pattern alike.
"""

from __future__ import annotations

from penstock.studies.profiles.forge_summary import UNIT, left_out
from penstock.studies.profiles.source import Measurement, MeasurementFile, Measurements, TableRow

PATTERN = ("processes", "clients", "layout", "spatiality", "request", "odirect")


def recognises(source: MeasurementFile) -> bool:
    """Whether it has the parameters of FORGE."""
    return {*PATTERN, "forwarders", "operation", "bandwidth"} <= set(source.header)


def read(source: MeasurementFile) -> Measurements:
    """Every run that went through I/O nodes."""
    runs, direct = [], 0
    for row in source.rows():
        count = source.whole(row, "forwarders", least=0)
        bandwidth = source.rate(row, "bandwidth", UNIT)
        if count:
            runs.append(Measurement(_name(source, row), count, bandwidth))
        else:
            direct += 1
    return Measurements(runs, UNIT, left_out(source, direct))


def _name(source: MeasurementFile, row: TableRow) -> str:
    parameters = [source.name(row, column) for column in PATTERN]
    operation = source.name(row, "operation")
    return "-".join(parameters if operation == "write" else [*parameters, operation])
