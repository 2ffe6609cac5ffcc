"""Sites whose truth is known: weeks of jobs that come and go, run under fair-share, and written out as logs see them.

    segments    every operation with start and end (DXT), as a CSV
    heat maps   bytes per hundredth of a run
    counters    first start and last end, one record for each direction
    job_stats   Lustre's counters every five minutes

With each comes what sacct would print: when jobs began and ended, and their nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from penstock.engine.timeline import Timeline
from penstock.kernels.arrays import Bools, Floats, Ints
from penstock.model import Scenario
from penstock.studies.share import simulate
from penstock.traces import Imported, Options, import_table
from penstock.traces.build import build
from penstock.traces.job import Job
from penstock.traces.pieces import IoPieces, curve

DAY = 86_400.0
BANDWIDTH, NODE_BANDWIDTH = 20e9, 1e9
ZERO = 1_790_000_000.0  # when the trace begins, in seconds since 1970
SIZES = np.array([2, 4, 8, 16, 32])
INTERVAL = 300.0  # between two dumps of job_stats
BINS = 100


def site(seed: int, pressure: float, days: float = 7.0, per_day: float = 40.0) -> Scenario:
    """Poisson arrivals; each job computes and writes in turn; volumes are scaled to the pressure."""
    draw = np.random.default_rng(seed)
    count = int(draw.poisson(per_day * days))
    release = np.sort(draw.uniform(0.0, days * DAY, count))
    nodes = draw.choice(SIZES, count)
    wall = np.clip(draw.lognormal(np.log(2.0 * 3600.0), 0.6, count), 1200.0, 8 * 3600.0)
    period, share = draw.uniform(600.0, 2400.0, count), draw.uniform(0.05, 0.3, count)
    # In the long run so much is asked for; a week is a draw of it and has more, or less.
    expected = per_day * np.mean(SIZES) * NODE_BANDWIDTH * 0.175 * 7200.0 * np.exp(0.18)
    share = np.minimum(0.8, share * pressure * BANDWIDTH * DAY / expected)
    jobs = []
    for i in range(count):
        rounds = max(2, round(wall[i] / period[i]))
        compute = wall[i] * (1.0 - share[i]) / rounds * draw.uniform(0.7, 1.3, rounds)
        volume = share[i] * wall[i] * nodes[i] * NODE_BANDWIDTH / rounds * draw.uniform(0.7, 1.3, rounds)
        phases = [
            phase
            for work, moved in zip(compute.tolist(), volume.tolist(), strict=True)
            for phase in ({"compute": work}, {"write": moved})
        ]
        jobs.append({"name": f"app{nodes[i]}.{i + 1}", "nodes": int(nodes[i]), "release": release[i], "phases": phases})
    platform = {"bandwidth": BANDWIDTH, "node_bandwidth": NODE_BANDWIDTH}
    return Scenario.from_document({"version": 1, "platform": platform, "applications": jobs})


class Watched(NamedTuple):
    """A run under fair-share: which job moved how much from when to when."""

    scenario: Scenario
    timeline: Timeline
    job: Ints
    start: Floats
    stop: Floats
    volume: Floats


def watched(scenario: Scenario) -> Watched:
    """What a site sees of its jobs."""
    timeline = simulate(scenario, "fair-share", timeline=True).timeline
    assert timeline is not None
    moves: Bools = timeline.rate > 0.0
    length = timeline.stop - timeline.start
    return Watched(
        scenario,
        timeline,
        timeline.application[moves],
        timeline.start[moves],
        timeline.stop[moves],
        (timeline.rate * length)[moves],
    )


def sacct(seen: Watched, folder: Path) -> Path:
    """What sacct prints of these jobs."""
    lines = ["JobID|JobName|User|State|Start|End|NNodes"]
    for i, job in enumerate(seen.scenario.applications):
        name, number = job.name.split(".")
        start, end = (_date(at) for at in (seen.timeline.started[i], seen.timeline.stopped[i]))
        lines.append(f"{number}|{name}|u|COMPLETED|{start}|{end}|{job.nodes}")
    file = folder / "sacct.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def segments(seen: Watched, folder: Path, options: Options) -> Imported:
    """Every operation, as DXT has it."""
    file = folder / "segments.csv"
    names = [job.name for job in seen.scenario.applications]
    rows = zip(
        seen.job.tolist(), (seen.start + ZERO).tolist(), (seen.stop + ZERO).tolist(), seen.volume.tolist(), strict=True
    )
    with file.open("w") as stream:
        stream.write("job,start,end,bytes,direction\n")
        stream.writelines(
            f"{names[job]},{start:.4f},{end:.4f},{volume:.0f},write\n" for job, start, end, volume in rows
        )
    return import_table(file, options, slurm=sacct(seen, folder))


def job_stats(seen: Watched, folder: Path, options: Options) -> Imported:
    """Counters of a Lustre target, asked for again and again; a job is there from its first byte on."""
    file = folder / "job_stats.txt"
    with file.open("w") as stream:
        for at, readings in _dumps(seen):
            stream.write("obdfilter.scratch-OST0000.job_stats=\njob_stats:\n")
            for name, moved in readings:
                stream.write(f"- job_id: {name}\n  snapshot_time: {at + ZERO:.0f}\n")
                stream.write(f"  write_bytes: {{ samples: 1, unit: bytes, min: 1, max: 1, sum: {moved:.0f} }}\n")
    return import_table(file, options, slurm=sacct(seen, folder))


def heat_maps(seen: Watched, folder: Path, options: Options) -> Imported:
    """Bytes per hundredth of a run, as Darshan's heat maps have them."""
    del folder

    def binned(job: Job) -> Job:
        edges = np.linspace(0.0, job.seconds, BINS + 1)
        volume = np.diff(curve(job.pieces.start, job.pieces.end, job.pieces.volume).by(edges))
        busy = volume > 1.0
        half = np.full(int(busy.sum()), job.seconds / BINS / 2.0)
        pieces = IoPieces(edges[:-1][busy], edges[1:][busy], volume[busy], np.ones(len(half), bool), half)
        return replace(job, pieces=pieces, source="heatmap", resolution=job.seconds / BINS)

    return _built(seen, options, binned)


def counters(seen: Watched, folder: Path, options: Options) -> Imported:
    """First start, last end and all bytes: nobody can tell bursts apart."""
    del folder

    def spread(job: Job) -> Job:
        start, end = float(job.pieces.start.min()), float(job.pieces.end.max())
        columns = (start, end, job.pieces.total, True, (end - start) / 2.0)
        return replace(job, pieces=IoPieces._make(np.array([value]) for value in columns), source="counters", opens=1)

    return _built(seen, options, spread)


SOURCES: dict[str, Callable[[Watched, Path, Options], Imported]] = {
    "segments": segments,
    "heat maps": heat_maps,
    "counters": counters,
    "sacct + job_stats": job_stats,
}


def _built(seen: Watched, options: Options, change: Callable[[Job], Job]) -> Imported:
    jobs = [change(job) for job in _jobs(seen)]
    return build(jobs, options, kind="darshan", what="logs", begun=0.0, more={"node_hour_coverage": 1.0})


def _jobs(seen: Watched) -> Iterator[Job]:
    order = np.argsort(seen.job, kind="stable")
    edges = np.searchsorted(seen.job[order], np.arange(len(seen.scenario.applications) + 1))
    for i, each in enumerate(seen.scenario.applications):
        own = order[edges[i] : edges[i + 1]]
        begin, end = float(seen.timeline.started[i]), float(seen.timeline.stopped[i])
        nothing = np.zeros(len(own))
        pieces = IoPieces(seen.start[own] - begin, seen.stop[own] - begin, seen.volume[own], nothing == 0, nothing)
        name, number = each.name.split(".")
        yield Job(
            number, "u", name, begin + ZERO, end - begin, pieces, "dxt", nodes=each.nodes, nodes_origin="measured"
        )  # fmt: skip


def _dumps(seen: Watched) -> Iterator[tuple[float, list[tuple[str, float]]]]:
    """Every dump: the jobs that it lists, with what each has moved so far."""
    names = [job.name for job in seen.scenario.applications]
    moved = [
        curve(seen.start[own], seen.stop[own], seen.volume[own])
        for own in (np.flatnonzero(seen.job == i) for i in range(len(names)))
    ]
    for at in np.arange(0.0, float(seen.stop.max()) + 2.0 * INTERVAL, INTERVAL):
        there = [i for i, each in enumerate(moved) if each.at[0] < at <= each.at[-1] + INTERVAL]
        yield float(at), [(names[i], float(moved[i].by(at))) for i in there]


def _date(at: float) -> str:
    return datetime.fromtimestamp(ZERO + at, UTC).strftime("%Y-%m-%dT%H:%M:%S")
