"""When jobs of a trace move bytes, for logs that do not say: a model that the user states.

    period=1h                   what was counted: input is read at the start, output is written once per period
    period=1h,fraction=10%      nothing was counted: in every period a tenth of the time is writing at the job's cap
    apex                        checkpoints of the APEX workflows (P1 §6.3.1): jobs of one user and program get one
                                workflow, drawn by its share of node-hours; bytes go with the job's cores
    classes.csv                 columns nodes (1-16, or 64 and more: 64-), period, fraction; the first row that fits

All that comes of it is stamped as model or assumed.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.kernels.arrays import Floats
from penstock.model.units import Refusal, quantity
from penstock.traces.options import Options, share
from penstock.traces.pieces import NONE, IoPieces

ACCEPTED = "accepted is period=1h,fraction=10%, period=1h (with counted bytes), apex, or a CSV file of classes"
MOST_BURSTS = 10_000  # of one job
NODE_BANDWIDTH = 1e9  # bytes/s, assumed where none is given


@dataclass(frozen=True)
class JobDemand:
    """What is known of a job: bytes are NaN where nobody counted; `kin` is the same for runs of the same program."""

    seconds: float
    nodes: int
    cores: int
    rate: float  # bytes/s that it can move
    read: float
    written: float
    kin: str


Model = Callable[[JobDemand], IoPieces]


class Assumed(NamedTuple):
    """Options with what a model needs, what of that nobody gave, and words about it."""

    options: Options
    missing: frozenset[str]
    notes: tuple[str, ...]


def assumed(options: Options) -> Assumed:
    """A bandwidth of nodes where none was given: a model of I/O needs one to say how long bytes take."""
    names = ("bandwidth", "node_bandwidth")
    missing = frozenset(name for name in names if getattr(options, name) is None)
    notes = []
    if "node_bandwidth" in missing:
        options = replace(options, node_bandwidth=NODE_BANDWIDTH)
        notes.append("that a node moves 1 GB/s is assumed; give --node-bandwidth")
    if "bandwidth" in missing:
        notes.append("the bandwidth is the highest that the model asks for; give --bandwidth")
    return Assumed(options, missing, tuple(notes))


def io_model(text: str) -> Model:
    """The model that a user names."""
    if text == "apex":
        return _apex()
    if Path(text).suffix.lower() == ".csv":
        return _classes(Path(text))
    parts = [part.split("=", 1) for part in text.split(",")]
    if not all(len(part) == 2 for part in parts):
        raise InvalidOption(f"--io is {text!r}; {ACCEPTED}")
    given = {key.strip(): value for key, value in parts}
    if set(given) - {"period", "fraction"} or "period" not in given:
        raise InvalidOption(f"--io is {text!r}; {ACCEPTED}")
    return _periodic(_period(given["period"]), share(given["fraction"], "fraction") if "fraction" in given else None)


def _period(text: str) -> float:
    try:
        seconds = quantity(text, "seconds")
    except Refusal as refusal:
        raise InvalidOption(f"--io: period {refusal}") from None
    if not seconds > 0:
        raise InvalidOption("--io: period is 0; a period takes time")
    return seconds


def _periodic(period: float, fraction: float | None) -> Model:
    if fraction is not None and not 0.0 < fraction < 1.0:
        raise InvalidOption(f"--io: fraction is {fraction:g}; accepted is a share of the time between 0 and 1")

    def model(job: JobDemand) -> IoPieces:
        ends = _ends(job.seconds, period)
        if not np.isnan(job.read + job.written):
            return _counted(job, ends)
        if fraction is None:
            return NONE
        length = fraction * np.diff(ends, prepend=0.0)
        return _written(ends, length, length * job.rate)

    return model


def _ends(seconds: float, period: float) -> Floats:
    """When periods end; the last is cut short by the end of the run."""
    count = min(int(np.ceil(seconds / period - 1e-9)), MOST_BURSTS)
    step = seconds / count if count == MOST_BURSTS else period
    ends: Floats = np.minimum(np.arange(1, count + 1) * step, seconds)
    return ends


def _written(ends: Floats, length: Floats, volume: Floats) -> IoPieces:
    return IoPieces(ends - length, ends, volume, np.ones(len(ends), bool), np.zeros(len(ends)))


def _counted(job: JobDemand, ends: Floats) -> IoPieces:
    """Input at the start, output in equal parts, each at the job's cap as far as time allows."""
    total = job.read + job.written
    if total <= 0:
        return NONE
    rate = max(job.rate, total / (0.9 * job.seconds))
    volume = job.written * np.diff(ends, prepend=0.0) / job.seconds
    output = _written(ends, volume / rate, volume).only(volume > 0)
    if job.read <= 0:
        return output
    inputs = IoPieces._make(np.array([value]) for value in (0.0, job.read / rate, job.read, False, 0.0))
    return IoPieces._make(np.concatenate(two) for two in zip(inputs, output, strict=True))


def _apex() -> Model:
    from penstock.workloads.apex_table import read_table  # noqa: PLC0415 - few ask for it

    workflows = read_table("TRILAB").workflows
    edges = np.cumsum([each.share for each in workflows])
    per_core = [each.checkpoint / each.cores for each in workflows]

    def model(job: JobDemand) -> IoPieces:
        # A draw that is the same in every process and for every run of the program.
        draw = int.from_bytes(hashlib.sha256(job.kin.encode()).digest()[:8], "big") / 2**64
        chosen = min(int(np.searchsorted(edges, draw * edges[-1])), len(workflows) - 1)
        ends = _ends(job.seconds, workflows[chosen].period)
        # The last, shorter period ends with the job: its checkpoint would be of no use.
        ends = ends[:-1] if len(ends) > 1 else ends
        volume = np.full(len(ends), per_core[chosen] * job.cores)
        length = np.minimum(volume / job.rate, 0.9 * np.diff(ends, prepend=0.0))
        return _written(ends, length, length * job.rate)

    return model


def _classes(file: Path) -> Model:
    with reading(file, InvalidOption):
        rows = list(csv.DictReader(file.read_text("utf-8-sig").splitlines()))
    if not rows or not {"nodes", "period", "fraction"} <= set(rows[0]):
        raise InvalidOption(f"{file}: classes are a CSV with the columns nodes, period, fraction")
    models = [
        (_range(row["nodes"], file), _periodic(_period(row["period"]), share(row["fraction"], "fraction")))
        for row in rows
    ]

    def model(job: JobDemand) -> IoPieces:
        for (least, most), own in models:
            if least <= job.nodes <= most:
                return own(job)
        return NONE

    return model


def _range(text: str, file: Path) -> tuple[float, float]:
    least, dash, most = text.partition("-")
    try:
        low = float(least)
        return low, float(most) if most.strip() else (np.inf if dash else low)
    except ValueError:
        raise InvalidOption(f"{file}: nodes is {text!r}; accepted is a number or a range: 4, 1-16, 64-") from None
