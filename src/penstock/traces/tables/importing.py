"""Tables as a scenario: rows of one job become its pieces."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from penstock.errors import InvalidOption
from penstock.traces.build import build
from penstock.traces.job import Job
from penstock.traces.options import Options
from penstock.traces.pieces import IoPieces
from penstock.traces.result import Imported
from penstock.traces.slurm.joining import joined
from penstock.traces.tables.columnar import read_columnar
from penstock.traces.tables.job_stats import read_job_stats
from penstock.traces.tables.moved import Moved
from penstock.traces.tables.prometheus import read_prometheus


def import_table(
    file: str | Path,
    options: Options | None = None,
    *,
    label: str | None = None,
    slurm: str | Path | None = None,
    fields: Iterable[str] | None = None,
) -> Imported:
    """A scenario from a CSV, a Parquet file, a dump of job_stats or a range of Prometheus, told apart by their looks.

    `label` names the label of Prometheus that holds the job. `slurm` names what `sacct` printed of the same time, with
    `fields` if it has no header: nodes, and when jobs began and ended, come from it.
    """
    options, begun = options or Options(), time.perf_counter()
    moved = read_table(Path(file), label)
    jobs, skipped, notes, more = list(_jobs(moved)), list(moved.skipped), list(moved.notes), {}
    if slurm is not None:
        met = joined(jobs, Path(slurm), options, fields)
        jobs, more = met.jobs, {"node_hour_coverage": met.coverage}
        skipped, notes = [*skipped, *met.skipped], [*notes, *met.notes]
    return build(jobs, options, kind="table", what=str(file), begun=begun, skipped=skipped, notes=notes, more=more)


def read_table(path: Path, label: str | None = None) -> Moved:
    """The rows of a table of any kind."""
    if path.is_dir():
        raise InvalidOption(f"{path}: is a directory; expected a table")
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        raise InvalidOption(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    if not head.strip():
        raise InvalidOption(f"{path}: is empty; expected a table")
    if head.startswith(b"PAR1"):
        return read_columnar(path)
    if head.lstrip().startswith(b"{"):
        return read_prometheus(path, label)
    if b"job_stats" in head or b"job_id:" in head:
        return read_job_stats(path)
    return read_columnar(path)


def _jobs(moved: Moved) -> Iterator[Job]:
    names, code = np.unique(np.array(moved.job, dtype=object), return_inverse=True)
    order = np.argsort(code, kind="stable")
    edges = np.searchsorted(code[order], np.arange(len(names) + 1))
    found = []
    for i, name in enumerate(names.tolist()):
        rows = order[edges[i] : edges[i + 1]]
        start, end = float(moved.start[rows].min()), float(moved.end[rows].max())
        if end <= start:
            end = start + 1e-6  # a single step of a counter without length
        length = moved.end[rows] - moved.start[rows]
        doubt = length / 2.0 if moved.source == "heatmap" else np.zeros(len(rows))
        pieces = IoPieces(
            moved.start[rows] - start, moved.end[rows] - start, moved.volume[rows], moved.writes[rows], doubt
        )
        nodes = int(moved.nodes[rows].max())
        program = name.rsplit(".", 1)[0] if name.rsplit(".", 1)[-1].isdigit() and "." in name else "job"
        found.append(
            Job(
                id=name if program == "job" else name.rsplit(".", 1)[-1],
                user="",
                executable=program,
                start=start,
                seconds=end - start,
                pieces=pieces,
                source=moved.source,
                resolution=moved.resolution,
                nodes=nodes or None,
                nodes_origin="given" if nodes else "assumed",
            )
        )
    yield from sorted(found, key=lambda job: (job.start, job.id))
