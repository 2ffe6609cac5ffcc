"""Profiles from FORGE's summary of MareNostrum: a line per pattern, its median bandwidth per number of I/O nodes.

Column `median_bw_mbps_4ion` is the median on 4 I/O nodes, `count_bw_mbps_4ion` says of how many runs. 0 I/O nodes means
that the application went to the file system directly, which is no number of targets. FORGE counts in MiB, whatever the
column says: the volumes of its runs are whole numbers of requests in KiB.
"""

from __future__ import annotations

import re

from penstock.studies.profiles.source import Measurement, MeasurementFile, Measurements

UNIT = "MiB/s"
_MEDIAN = re.compile(r"median_bw_mbps_(\d+)ion")


def recognises(source: MeasurementFile) -> bool:
    """Whether it has FORGE's medians."""
    return any(map(_MEDIAN.fullmatch, source.header))


def read(source: MeasurementFile) -> Measurements:
    """A median for every pattern and number of I/O nodes."""
    columns = {
        column: source.counted(match[1], "the number of I/O nodes in a column's name")
        for column in source.header
        if (match := _MEDIAN.fullmatch(column))
    }
    name = next((column for column in ("scenario", "id") if column in source.header), None)
    if name is None:
        source.refuse_header("has no column 'scenario' or 'id', which names the pattern")
    medians, direct = [], 0
    for row in source.rows():
        for column, count in columns.items():
            if not row.cells[column]:
                continue
            median = source.rate(row, column, UNIT)
            if count == 0:
                direct += 1
                continue
            runs = f"count_bw_mbps_{count}ion"
            number = source.whole(row, runs) if runs in row.cells else 1
            medians.append(Measurement(source.name(row, name), count, median, number))
    return Measurements(medians, UNIT, left_out(source, direct))


def left_out(source: MeasurementFile, direct: int) -> tuple[str, ...]:
    """A note on values without I/O nodes."""
    if not direct:
        return ()
    return (f"{source.path}: {direct:,} values on 0 I/O nodes (direct access) are left out: 0 is no number of targets",)
