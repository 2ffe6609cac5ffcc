"""Slurm's accounting as a scenario: jobs, nodes and bytes are counted, when the bytes moved is a model."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from penstock.errors import InvalidOption
from penstock.traces.build import build
from penstock.traces.io_model import JobDemand, Model, assumed, io_model
from penstock.traces.job import Job
from penstock.traces.options import Options
from penstock.traces.pieces import NONE
from penstock.traces.result import Imported
from penstock.traces.slurm.accounting import Accounting, read_accounting

ZONE = "sacct prints times without a zone; they are taken for UTC"


def import_slurm(
    file: str | Path, options: Options | None = None, *, io: str | None = None, fields: Iterable[str] | None = None
) -> Imported:
    """A scenario from what `sacct -P` or `sacct --json` printed; `io` is a model of when jobs move bytes."""
    options, begun = options or Options(), time.perf_counter()
    if io is None:
        raise InvalidOption(
            "sacct does not say when jobs moved bytes; give a model of it: --io period=1h (bytes as counted), "
            "--io period=1h,fraction=10%, --io apex or --io classes.csv"
        )
    model = io_model(io)
    options, missing, words = assumed(options)
    accounting = read_accounting(file, fields)
    jobs = [job for job in as_jobs(accounting, model, options) if job.pieces.total or options.unseen == "keep"]
    return build(
        jobs,
        options,
        kind="slurm",
        what=str(file),
        begun=begun,
        skipped=accounting.skipped,
        notes=[ZONE, *_uncounted(accounting), *words],
        assumed=missing,
    )


def as_jobs(accounting: Accounting, model: Model | None, options: Options) -> list[Job]:
    """A job for each row; without a model they move nothing."""
    jobs = []
    columns = zip(
        accounting.id, accounting.user, accounting.name, accounting.state, accounting.start.tolist(),
        accounting.end.tolist(), accounting.nodes.tolist(), accounting.read.tolist(), accounting.written.tolist(),
        strict=True,
    )  # fmt: skip
    for name, user, program, state, start, end, nodes, moved_in, moved_out in columns:
        pieces = NONE
        read, written = _known(moved_in, moved_out)
        if model is not None and options.node_bandwidth is not None:
            rate = max(nodes, 1) * options.node_bandwidth
            pieces = model(
                JobDemand(end - start, max(nodes, 1), max(nodes, 1), rate, read, written, f"{user} {program}")
            )
        jobs.append(
            Job(
                id=name,
                user=user,
                executable=program or "job",
                start=start,
                seconds=end - start,
                pieces=pieces,
                source="accounting" if not np.isnan(read + written) else "model",
                timed=False,
                nodes=nodes or None,
                nodes_origin="measured" if nodes else "assumed",
                flags=("was still running",) if state.startswith("RUNNING") else (),
            )
        )
    return jobs


def _known(read: float, written: float) -> tuple[float, float]:
    """Where one direction was counted, the other is taken for nothing."""
    both = (read, written)
    return both if np.isnan(both).all() else (float(np.nan_to_num(read)), float(np.nan_to_num(written)))


def _uncounted(accounting: Accounting) -> list[str]:
    """How many jobs have no bytes in the accounting."""
    lacking = int((np.isnan(accounting.read) & np.isnan(accounting.written)).sum())
    if not lacking:
        return ["bytes are an upper bound: caches and every file system are in what Slurm counts"]
    return [f"{lacking:,} of {len(accounting):,} jobs have no fs/disk in TRESUsageInTot and TRESUsageOutTot"]
