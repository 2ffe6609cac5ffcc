"""Rows of a campaign's results as Parquet: columns, how a batch becomes bytes, and the same bytes for the same rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.campaign.document import Campaign
from penstock.campaign.perform import RunRow
from penstock.campaign.tasks import find_task
from penstock.campaign.versions import versions

PROVENANCE = ("scenario_hash", "versions", "error", "reproducer")
CLOCK = ("seconds", "elapsed")  # never the same twice, so they are kept apart from results


def schema_of(campaign: Campaign) -> Any:
    """The columns that runs of a campaign have."""
    tasks = [find_task(name) for name in dict.fromkeys(plan.task for plan in campaign.plans)]
    single = dict.fromkeys(metric.name for task in tasks for metric in task.metrics)
    fields = [("key", pa.string()), *((name, pa.float64()) for name in single)]
    fields += [(name, pa.list_(pa.float64())) for name in campaign.keep]
    fields += [(name, pa.float64()) for name in CLOCK]
    return pa.schema([*fields, *((name, pa.string()) for name in PROVENANCE)])


def table_of(rows: Sequence[RunRow], schema: Any) -> Any:
    """A batch of rows; a metric that a run does not have is empty."""
    made_with = ", ".join(f"{name} {version}" for name, version in versions())
    plain = {"versions": [made_with] * len(rows)}
    for name in ("key", *CLOCK, "scenario_hash", "error", "reproducer"):
        plain[name] = [getattr(row, name) for row in rows]
    columns = [plain[name] if name in plain else [row.metrics.get(name) for row in rows] for name in schema.names]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def parquet_bytes(table: Any) -> bytes:
    """A table as a Parquet file."""
    sink = pa.BufferOutputStream()
    write_parquet(sink, [table])
    content: bytes = sink.getvalue().to_pybytes()
    return content


def write_parquet(sink: Any, tables: Iterable[Any]) -> None:
    """Write tables of one kind, at least one, one after the other, into a Parquet file."""
    following = iter(tables)
    first = next(following)
    with pq.ParquetWriter(sink, first.schema, compression="zstd") as writer:
        for table in chain([first], following):
            writer.write_table(table.combine_chunks())
