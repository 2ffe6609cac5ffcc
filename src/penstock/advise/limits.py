"""What these data cannot say: reasons to refuse advice, what was not seen, and what to measure next."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from penstock.advise.estimate import FEWEST, DayBlocks
from penstock.advise.site import LoggedSite
from penstock.traces.inspecting import InspectedJob

MODELLED = 0.2  # of all bytes
COVERED = 0.5  # of node-hours
BOUNDED = 0.5  # of all bytes: with pressure caps from contended runs hide nearly all that is lost
MOST_NAMED = 3


def refusal(site: LoggedSite) -> str | None:
    """Why no policy is named, as far as the data alone tell."""
    moving, grade, covered = sum(row.volume > 0 for row in site.rows), site.inspected.grade, site.coverage
    bound = site.share("bandwidth_origin", "lower_bound")
    reasons = (
        (moving < 2, f"{moving} of {len(site.rows)} jobs moved bytes; sharing needs two"),
        (not _meet(site), "no two of the jobs that moved bytes ran at the same time"),
        (site.modelled > MODELLED, f"a model, not a log, says when {site.modelled:.0%} of the bytes moved"),
        (grade == "D", "grade D: for a fifth of the bytes or more, times are missing or cut off"),
        (grade == "C", "grade C: of more than a fifth of the bytes nobody can tell one burst from a hundred"),
        (
            not site.bandwidth_given,
            "the bandwidth is not given; the highest rate seen is a lower bound, and the answer depends on it",
        ),
        (
            bound > BOUNDED,
            f"how fast jobs with {bound:.0%} of the bytes could be alone has only a lower bound; give --node-bandwidth "
            "or --cap FILE",
        ),
        (
            covered is not None and covered < COVERED,
            f"logs cover {covered or 0.0:.0%} of the node-hours; below {COVERED:.0%} others may decide who waits",
        ),
    )
    return next((words for holds, words in reasons if holds), None)


def not_seen(site: LoggedSite) -> tuple[str, ...]:
    """What could not be seen, in sentences."""
    found = [f"{each}." for each in map(_opened, site.inspected.notes)]
    if site.from_logs and site.coverage is None:
        found.append("How much of the site these jobs are: without sacct's output, jobs that left no log are unknown.")
    elif site.coverage is not None and site.coverage < 0.995:
        found.append(f"The bytes of jobs without logs: these cover {site.coverage:.0%} of the node-hours.")
    if damaged := sum(each.damaged for each in site.skipped):
        found.append(f"What is in {damaged:,} {'log' if damaged == 1 else 'logs or rows'} that could not be read.")
    unknown = [row for row in site.rows if row.facts.get("structure") == "unknown"]
    if unknown:
        share = _share(site, unknown)
        found.append(f"The bursts of {len(unknown):,} jobs with {share:.0%} of the bytes: only first and last times.")
    caps = site.share("bandwidth_origin", "lower_bound", "model")
    if caps > 0:
        found.append(f"How fast jobs with {caps:.0%} of the bytes could be on their own.")
    if not site.bandwidth_given:
        found.append("What the file system can do; it has moved at least the bandwidth that is shown.")
    if not site.nodes_known:
        found.append("The nodes of most jobs: what is lost is counted in job-hours.")
    if site.from_logs:
        found.append("Metadata operations, caches, and traffic that does not come from these jobs.")
    return tuple(found)


def next_steps(site: LoggedSite, days: DayBlocks) -> tuple[str, ...]:
    """What to measure next, what helps most first."""
    found = []
    if not site.bandwidth_given:
        found.append(
            "Measure what the file system moves at most (IOR or elbencho from many nodes) and give --bandwidth."
        )
    if coarse := _coarse(site):
        names = ", ".join(row.name for row in coarse)
        found.append(
            f"Turn DXT on (DXT_ENABLE_IO_TRACE=1) for the jobs that move most without visible bursts: {names}."
        )
    if not days.enough:
        found.append(f"Collect {FEWEST} days or more, better 7: what one day shows need not hold on others.")
    if site.from_logs and site.coverage is None:
        found.append("Give sacct's output of the same time (--slurm): nodes, and how much of the site the logs cover.")
    elif site.coverage is not None and site.coverage < 0.8:
        found.append(f"Have more jobs write logs: those that do cover {site.coverage:.0%} of the node-hours.")
    if site.share("bandwidth_origin", "lower_bound", "model") > 0.05:
        found.append("Run the largest applications alone once, or give --node-bandwidth: caps are bounds until then.")
    if site.scenario.platform.targets is None:
        found.append("Run one application on several stripe counts: then the number of targets can be advised, too.")
    return tuple(found)


def flags(site: LoggedSite) -> tuple[str, ...]:
    """What a reader must know before believing a figure."""
    found = list(site.inspected.notes)
    if site.skipped:
        count, why = len(site.skipped), site.skipped[0].why
        found.append(f"1 log or row left out: {why}" if count == 1 else f"{count:,} logs or rows left out: {why}; …")
    marked: dict[str, int] = {}
    for row in site.rows:
        for flag in row.facts.get("flags") or ():
            marked[flag] = marked.get(flag, 0) + 1
    most = sorted(marked, key=lambda flag: -marked[flag])[:MOST_NAMED]
    found += [f"{marked[flag]:,} jobs: {flag}" if marked[flag] > 1 else f"1 job: {flag}" for flag in most]
    return tuple(found)


def _meet(site: LoggedSite) -> bool:
    """Whether any two jobs that moved bytes were there together."""
    spans = sorted((row.start, row.start + row.seconds) for row in site.rows if row.volume)
    return any(later[0] < earlier[1] for earlier, later in pairwise(spans))


def _coarse(site: LoggedSite) -> list[InspectedJob]:
    unknown = [row for row in site.rows if row.quality in ("C", "D") and row.volume]
    return sorted(unknown, key=lambda row: -row.volume)[:MOST_NAMED]


def _share(site: LoggedSite, rows: list[InspectedJob]) -> float:
    total = float(np.sum(site.volume))
    return sum(row.volume for row in rows) / total if total else 0.0


def _opened(text: str) -> str:
    return text[:1].upper() + text[1:]
