"""From jobs to a scenario: bursts, caps, phases, and for every number where it comes from."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from statistics import median
from typing import Any

import numpy as np

from penstock.errors import InvalidOption
from penstock.model import Scenario, Trace
from penstock.model.trace import LONG
from penstock.traces.caps import Cap, caps, least, own_rate, peak
from penstock.traces.gaps import without_gaps
from penstock.traces.job import Job
from penstock.traces.names import Pseudonyms, hidden, unique
from penstock.traces.options import Options
from penstock.traces.phases import PlacedPhases, Transfers, placed, transfers
from penstock.traces.result import Imported, ImportedApplication, Skipped, check_strict, nothing_left
from penstock.traces.window import LogWindow, chosen

MOST_OPENS = 1_000  # bursts of a job of which nothing but its opens is known
MANY = 1_000  # applications: more keep their phases in a Parquet file, which is read a hundred times as fast


def build(
    jobs: Sequence[Job],
    options: Options,
    *,
    kind: str,
    what: str,
    begun: float,
    skipped: Iterable[Skipped] = (),
    dropped: int = 0,
    notes: Iterable[str] = (),
    more: dict[str, Any] | None = None,
    assumed: Container[str] = (),
) -> Imported:
    """The scenario of jobs, by their start.

    `kind` says what they were imported from, `what` names it in errors, and `assumed` lists what of the platform is
    neither given nor seen.
    """
    left_out = list(skipped)
    check_strict(left_out, options.strict)
    window, trimmed = chosen(jobs, options.window) if options.window and jobs else (None, [])
    notes = [*notes, *trimmed]
    kept = [job for job in jobs if window is None or window.holds(job)]
    if not kept:
        raise nothing_left(f"{what} in that window" if jobs else what, left_out)
    if options.anonymise:
        pseudonyms = Pseudonyms()
        kept = [hidden(job, pseudonyms) for job in kept]
        left_out = [each._replace(file=pseudonyms("log", each.file)) for each in left_out]
    if window is None:
        kept, closed = without_gaps(kept)
        notes = [*notes, *closed]
    told, entries = _applications(kept, options, window)
    zero = _zero(kept, window)
    scenario = Scenario.from_document(
        _document(kept, told, entries, options, window)
        | {"provenance": _provenance(kind, told, options, zero, assumed)}
    )
    return Imported(
        scenario, tuple(told), tuple(left_out), dropped, tuple(notes), time.perf_counter() - begun, more or {}, window
    )


def rebuilt(found: Imported, options: Options) -> Scenario:
    """The scenario of the same jobs with other options; who is in it, and their names, stay."""
    jobs = [each.job for each in found.applications]
    window = None if found.window is None else LogWindow(*found.window)
    told, entries = _applications(jobs, options, window)
    return Scenario.from_document(_document(jobs, told, entries, options, window))


def _document(
    jobs: Sequence[Job],
    told: Sequence[ImportedApplication],
    entries: list[dict[str, Any]],
    options: Options,
    window: LogWindow | None,
) -> dict[str, Any]:
    zero = _zero(jobs, window)
    watched = {"window": {"begin": window.begin - zero, "end": window.end - zero}} if window else {}
    return {"version": 1, "platform": _platform(jobs, told, options), **watched, "applications": entries}


def _zero(jobs: Sequence[Job], window: LogWindow | None) -> float:
    first = min(job.start for job in jobs)
    return min(first, window.begin) if window else first


def _applications(
    jobs: Sequence[Job], options: Options, window: LogWindow | None
) -> tuple[list[ImportedApplication], list[dict[str, Any]]]:
    found = [transfers(job, options.tolerance, _count(job, options)) for job in jobs]
    limits = _caps(jobs, found, options)
    profiles = _profiles(jobs, found)
    zero = _zero(jobs, window)
    told, entries = [], []
    for job, name, bursts, cap in zip(jobs, unique(jobs), found, limits, strict=True):
        put = placed(job, bursts, cap.rate, options.slack) if job.pieces.total else _idle(job)
        entry: dict[str, Any] = {"name": name, "nodes": job.nodes or 1, "release": job.start - zero}
        if job.pieces.total and not _by_nodes(job, options, cap):
            entry["bandwidth"] = cap.rate
        if job.application in profiles:
            entry["profile"] = profiles[job.application]
        phases = put.phases
        if window and job.start < window.begin:
            phases, entry["progress"] = _left(job, bursts, cap.rate, options, window.begin)
        entry["phases"] = phases if len(phases) > LONG or len(jobs) > MANY else phases.to_list()
        entries.append(entry)
        rate = cap.rate if job.pieces.total else None
        told.append(
            ImportedApplication(name, job, bursts, len(phases), put.error_seconds, job.nodes or 1, rate, cap.origin)
        )
    return told, entries


def _count(job: Job, options: Options) -> int:
    """How many bursts a job has if nobody can see them; one would make it look far more disturbing than any is."""
    return min(max(job.opens, 2), MOST_OPENS) if options.bursts == "opens" else options.bursts


def _idle(job: Job) -> PlacedPhases:
    """A job of which no byte is known: it computes."""
    return PlacedPhases(Trace([0], [job.seconds]), 0, None)


def _caps(jobs: Sequence[Job], found: Sequence[Transfers], options: Options) -> list[Cap]:
    rates = [own_rate(job, bursts) if job.pieces.total else 1.0 for job, bursts in zip(jobs, found, strict=True)]
    limits = [
        _scaled(job, cap, options.cap_factor) for job, cap in zip(jobs, caps(jobs, rates, options.cap), strict=True)
    ]
    if options.node_bandwidth is None:
        return limits
    # What the nodes can drive was given, so where their number is known it goes before what logs suggest.
    return [
        Cap(job.nodes * options.node_bandwidth, "given")
        if job.nodes and job.nodes * options.node_bandwidth >= job.pieces.total / job.seconds
        else cap
        for job, cap in zip(jobs, limits, strict=True)
    ]


def _scaled(job: Job, cap: Cap, factor: float) -> Cap:
    return cap if cap.origin == "given" or factor == 1.0 else cap._replace(rate=max(factor * cap.rate, least(job)))


def _by_nodes(job: Job, options: Options, cap: Cap) -> bool:
    """Whether the scenario's own rule, nodes × node bandwidth, gives the cap."""
    return (
        options.node_bandwidth is not None and job.nodes is not None and cap.rate == job.nodes * options.node_bandwidth
    )


def _profiles(jobs: Sequence[Job], found: Sequence[Transfers]) -> dict[tuple[str, int], dict[int, float]]:
    """b(n) of applications that ran on several stripe counts: the median rate of the runs on each."""
    seen: dict[tuple[str, int], dict[int, list[float]]] = {}
    for job, bursts in zip(jobs, found, strict=True):
        if job.stripes and max(job.stripes.values()) >= 0.9 * job.pieces.total:
            count = max(job.stripes, key=lambda each: job.stripes[each])
            seen.setdefault(job.application, {}).setdefault(count, []).append(own_rate(job, bursts))
    return {
        application: {count: median(rates) for count, rates in sorted(counts.items())}
        for application, counts in seen.items()
        if len(counts) > 1
    }


def _left(job: Job, found: Transfers, rate: float, options: Options, begin: float) -> tuple[Trace, float]:
    """The phases that are left at the window's begin, and the ideal progress made until then."""
    passed = begin - job.start
    share = np.clip((found.end - passed) / np.maximum(found.end - found.start, 1e-9), 0.0, 1.0)
    some = share > 0
    start = np.maximum(found.start[some] - passed, 0.0)
    end = found.end[some] - passed
    centre = np.where(share[some] < 1.0, (start + end) / 2.0, found.centre[some] - passed)
    rest = Transfers(centre, (found.volume * share)[some], start, end, found.writes[some])
    later = replace(job, start=begin, seconds=job.seconds - passed)
    trace = placed(later, rest, rate, options.slack).phases if some.any() else _idle(later).phases
    moved = float((found.volume * (1.0 - share)).sum()) / rate
    if options.slack == "compute":
        return trace, passed
    waited = float(np.sum(np.clip(np.minimum(found.end, passed) - found.start, 0.0, None)))
    return trace, min(passed, max(0.0, passed - waited) + moved)


def _platform(jobs: Sequence[Job], told: Sequence[ImportedApplication], options: Options) -> dict[str, float]:
    widest = max((each.bandwidth or 0.0 for each in told), default=0.0)
    seen = max(peak(jobs), widest)
    bandwidth = options.bandwidth if options.bandwidth is not None else seen
    if not bandwidth:
        raise InvalidOption("no bytes were seen, so the bandwidth cannot be told from them; give --bandwidth")
    given = {"node_bandwidth": options.node_bandwidth} if options.node_bandwidth is not None else {}
    return {"bandwidth": bandwidth, **given}


def _provenance(
    kind: str, told: Sequence[ImportedApplication], options: Options, zero: float, assumed: Container[str]
) -> dict[str, Any]:
    told_of = {each.name: _origins(each, "node_bandwidth" in assumed) for each in told}
    common = _common(list(told_of.values()))
    rest = {name: {key: value for key, value in own.items() if key not in common} for name, own in told_of.items()}
    seen = "assumed" if "bandwidth" in assumed else "lower_bound"
    platform = {"bandwidth": seen if options.bandwidth is None else "given"}
    if options.node_bandwidth is not None:
        platform["node_bandwidth"] = "assumed" if "node_bandwidth" in assumed else "given"
    dated = {} if options.anonymise or zero < 1e8 else {"begin": datetime.fromtimestamp(zero, UTC).isoformat()}
    return {
        "imported": kind,
        **dated,
        "slack": options.slack,
        "tolerance": options.tolerance,
        "platform": platform,
        "applications": {"*": common} | {name: own for name, own in rest.items() if own},
    }


def _origins(each: ImportedApplication, nodes_assumed: bool) -> dict[str, Any]:
    """Where the numbers of an application come from, and how far its bytes may be from where they are put."""
    job = each.job
    times = {"model": "model", "accounting": "model"}.get(job.source, "measured")
    if job.structure == "unknown" and times == "measured":
        times = "assumed"
    volumes = "assumed" if job.source == "model" else "measured" if job.complete else "lower_bound"
    return {
        "source": job.source,
        "quality": job.quality,
        "structure": job.structure,
        "nodes": job.nodes_origin,
        "release": "measured",
        "bandwidth": "assumed" if nodes_assumed and each.bandwidth_origin == "given" else each.bandwidth_origin,
        "volumes": volumes,
        "times": times,
        **({} if each.error_seconds is None else {"error_seconds": _rounded(each.error_seconds)}),
        "observed_seconds": _rounded(job.seconds),
        **({"metadata_seconds": _rounded(job.meta_seconds)} if job.meta_seconds else {}),
        **({"rank_imbalance": _rounded(job.imbalance)} if job.imbalance else {}),
        **({"flags": list(job.flags)} if job.flags else {}),
    }


def _common(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """What all say alike, where there are several."""
    if len(entries) < 2:
        return {}
    first = entries[0]
    return {
        key: value for key, value in first.items() if all(key in other and other[key] == value for other in entries)
    }


def _rounded(value: float) -> float:
    """Six digits: more would be read as knowledge."""
    return float(f"{value:.6g}")
