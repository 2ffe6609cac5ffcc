"""What a journal tells, as tables and sentences: why a job waited, who was held back, what other policies give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.report.live.table import count, rate, user_name, volume
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import NOTHING, Scale, duration, fixed, percent, time_scale
from penstock.report.parts.titled_table import rest_lines

if TYPE_CHECKING:
    from penstock.live.journal import Replayed
    from penstock.lookback.explain import Explained, Explanation, HeldBack, Holder, Limited, Rank
    from penstock.lookback.shadow import Account, Shadow

MOST_ROWS = 30
_MOST_LINES = 60
REALLY = "really"


def explanation_lines(found: Explanation) -> list[str | FittingTable]:
    """A job: every phase in a row, what it lost and to whom, and how those stood when it waited longest."""
    shown = found.operations[-MOST_ROWS:]
    longest = max(each.seconds for each in shown)
    scale = time_scale(longest)
    digits = 1 if longest >= 100 * scale.divisor else 2 if longest >= 10 * scale.divisor else 3
    rows = [_phase_cells(each, scale, digits) for each in shown]
    columns = tuple(
        Column(heading, cells(row[place] for row in rows), spare, right)
        for place, (heading, spare, right) in enumerate(_PHASE_HEADINGS)
    )
    table = FittingTable(f"job {found.job}; times in {scale.unit}", columns)
    more = rest_lines(len(found.operations), ", earlier ones", "--json", MOST_ROWS)
    return [table, *more, *delay_words(found), *_longest_wait(found)]


# Heading, when it goes where it gets narrow (0: never), and whether numbers are below it.
_PHASE_HEADINGS = (
    ("", 0, True),
    ("posted", 6, False),
    ("", 2, False),
    ("moved", 5, True),
    ("took", 0, True),
    ("alone", 3, True),
    ("waited", 1, True),
    ("policy", 0, True),
    ("room", 4, True),
    ("con-\ntroller", 0, True),
    ("client", 0, True),
)


def _phase_cells(each: Explained, scale: Scale, digits: int) -> list[str]:
    def time(seconds: float | None) -> str:
        # What rounding leaves below 0 is nothing; a client ahead of its rate had saved some up.
        return NOTHING if seconds is None else f"{round(seconds / scale.divisor, digits) + 0.0:.{digits}f}"

    lost = (each.policy, each.room, each.controller, each.client)
    day, _, clock = each.posted.partition("T")
    times = map(time, (each.seconds, each.dedicated, each.waited, *lost))
    return [str(each.number), f"{day[5:]} {clock[:8]}", each.direction, volume(each.moved), *times]


def _longest_wait(found: Explanation) -> list[FittingTable]:
    """How the jobs that held the bandwidth stood, in the numbers that policies order by."""
    waited = [each for each in found.operations if each.rank is not None and any(by.rank for by in each.held_by)]
    if not waited:
        return []
    worst = max(waited, key=lambda each: each.policy + each.room + each.controller)
    rows = [[found.job, *_rank_cells(worst.rank), NOTHING]]
    for holder in worst.held_by:
        rows.append([holder.job, *_rank_cells(holder.rank), f"{volume(holder.bytes)}, {percent(holder.share)}"])
    columns = tuple(
        Column(heading, cells(row[place] for row in rows), spare, right=place > 0, folds=place == 0)
        for place, (heading, spare) in enumerate(_RANK_HEADINGS)
    )
    return [FittingTable(f"operation {worst.number} under {worst.sharing}, when it began to wait", columns)]


_RANK_HEADINGS = (("job", 0), ("posted", 0), ("yield", 1), ("to move", 2), ("granted meanwhile", 0))


def _rank_cells(rank: Rank | None) -> list[str]:
    if rank is None:
        return [NOTHING] * 3
    when = f"{duration(abs(rank.posted))} {'before' if rank.posted > 0 else 'after'}" if rank.posted else "then"
    return [when, fixed(rank.yield_), volume(rank.remaining)]


def delay_words(found: Explanation) -> list[str]:
    """In sentences how much longer a job's I/O took than alone, why, and who had the bandwidth."""
    took, alone, delay = (found.total(name) for name in ("seconds", "dedicated", "delay"))
    ended = all(each.ended for each in found.operations)
    time = f"took {duration(took)}" if ended else f"has taken {duration(took)} so far"
    lines = [f"Its I/O {time} instead of {duration(alone)} alone: {duration(max(0.0, delay))} longer."]
    if not ended and alone <= 0.0:
        lines = [f"Its I/O {time}, and nothing has been moved yet."]
    if delay > 0:
        reasons = ("policy", "the policy's choice"), ("room", "waiting for room"), ("controller", "the controller")
        parts = [f"{words} {percent(found.total(name) / delay)}" for name, words in reasons]
        lines.append(f"Of that: {', '.join(parts)}, its own pace {percent(found.total('client') / delay)}.")
    if found.held_by:
        lines.append(f"Meanwhile the bandwidth was granted to {_holder_words(found.held_by)}.")
    over = [each for each in found.operations if each.ended]  # of one that goes on, the rest is still to come
    announced, moved = (sum(getattr(each, name) for each in over) for name in ("announced", "moved"))
    if announced > 0:
        lines.append(f"It announced {volume(announced)} and moved {volume(moved)} ({percent(moved / announced)}).")
    return lines


def _holder_words(holders: Sequence[Holder]) -> str:
    return ", ".join(f"{each.job} ({volume(each.bytes)}, {percent(each.share)})" for each in holders)


def limited_lines(found: Limited) -> list[str | FittingTable]:
    """Who was held back, by job and by user."""
    if not found.jobs:
        return [f"Nobody was limited in the last {duration(found.seconds)}."]
    jobs = _held_table(f"limited in the last {duration(found.seconds)}", "job", found.jobs[:MOST_ROWS])
    more = rest_lines(len(found.jobs), " that lost less", "--json", MOST_ROWS)
    return [jobs, *more, _held_table("by user", "user", found.users[:MOST_ROWS])]


def _held_table(title: str, first: str, rows: Sequence[HeldBack]) -> FittingTable:
    users = [user_name(each.uid) for each in rows]
    by = [", ".join(f"{holder.job} {percent(holder.share)}" for holder in each.held_by[:3]) for each in rows]
    columns = [
        Column(first, cells([each.name for each in rows] if first == "job" else users), right=False, folds=True),
        Column("user", cells(users), spare=2, right=False),
        Column("operations", cells(f"{each.operations:,}" for each in rows), spare=1),
        Column("limited", cells(duration(each.limited) for each in rows), spare=3),
        Column("lost", cells(volume(each.lost) for each in rows), spare=4),
        Column("delay", cells(duration(each.delay) for each in rows)),
        Column("by", cells(each or NOTHING for each in by), right=False, folds=True),
    ]
    return FittingTable(title, columns if first == "job" else [columns[0], *columns[2:]])


def shadow_lines(found: Shadow, job: str | None = None) -> list[str | FittingTable]:
    """What happened beside what would have: all jobs in one row for each policy, then each job."""
    return [_policies_table(found), "", _jobs_table(found, job), *_notes(found)]


def _policies_table(found: Shadow) -> FittingTable:
    accounts = (found.real, *found.would)
    names = [policy_name(found, account) for account in accounts]
    columns = (
        Column("policy", cells(names), right=False, folds=True),
        Column("min\nyield", cells(fixed(account.min_yield) for account in accounts)),
        Column("mean\nyield", cells(fixed(account.mean_yield) for account in accounts), spare=3),
        Column("effi-\nciency", cells(fixed(account.efficiency) for account in accounts), spare=4),
        Column("longest\nwait", cells(_wait(account.max_wait) for account in accounts)),
        Column("mean\nwait", cells(_wait(account.mean_wait) for account in accounts), spare=2),
        Column("all done\nafter", cells(duration(account.makespan) for account in accounts), spare=1),
    )
    return FittingTable(traffic_words(found), columns)


def traffic_words(found: Shadow) -> str:
    """What was looked at."""
    seen = found.traffic
    jobs, operations = len(seen.jobs), sum(job.operations for job in seen.jobs)
    names = list(seen.resources)
    where = (
        f"resource {names[0]}, {rate(seen.resources[names[0]])}"
        if len(names) == 1
        else f"{len(names)} resources ({_some(names)})"
    )
    return f"{count(jobs, 'job')}, {count(operations, 'operation')} on {where}"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (", …" if len(names) > 4 else "")


def policy_name(found: Shadow, account: Account) -> str:
    """The policy of an account, and what decided really."""
    if account.sharing is not None:
        return account.sharing
    return f"{REALLY} ({', '.join(found.traffic.policies[:2])}{' …' if len(found.traffic.policies) > 2 else ''})"


def _jobs_table(found: Shadow, job: str | None) -> FittingTable:
    """Each job's yield and wait, those whose wait differs most first.

    A row for each policy, below what happened: a column for each would be too narrow to read with more than three.
    """
    accounts = (found.real, *found.would)
    scale = time_scale(max(abs(fared.wait) for account in accounts for fared in account.jobs))
    rows = list(zip(*(account.jobs for account in accounts), strict=True))
    rows.sort(key=lambda fared: max(each.wait for each in fared) - min(each.wait for each in fared), reverse=True)
    chosen = [fared for fared in rows if job is None or fared[0].name.partition("#")[0] == job][: _most_jobs(found)]
    names = [account.sharing or REALLY for account in accounts]
    lines = [(fared[0].name, *pair) for fared in chosen for pair in zip(names, fared, strict=True)]
    waits = [f"{each.wait / scale.divisor + 0.0:.2f} {scale.unit}" for _, _, each in lines]
    columns = (
        Column("job", cells(name if policy == REALLY else "" for name, policy, _ in lines), right=False, folds=True),
        Column("policy", cells(policy for _, policy, _ in lines), right=False, folds=True),
        Column("yield", cells(fixed(each.yield_, 3) for _, _, each in lines)),
        Column("longer\nthan alone", cells(waits)),
    )
    return FittingTable("each job under each policy, those whose wait differs most first", columns)


def _most_jobs(found: Shadow) -> int:
    """As many as make a table that somebody reads."""
    return max(3, min(MOST_ROWS, _MOST_LINES // (1 + len(found.would))))


def _wait(seconds: float) -> str:
    """A wait; one that a bucket saved up beforehand is below 0, and what rounding leaves of one is none."""
    if abs(seconds) < 1e-6:
        return duration(0.0)
    return duration(seconds) if seconds > 0 else f"-{duration(-seconds)}"


def _notes(found: Shadow) -> list[str]:
    seen, notes = found.traffic, []
    if len(seen.jobs) > _most_jobs(found):
        notes.append(f"The {_most_jobs(found)} jobs that differ most are shown; --json has all {len(seen.jobs):,}.")
    if seen.changes:
        notes.append(f"The capacity changed {seen.changes:,} times; the one that was in force longest is simulated.")
    if seen.elsewhere:
        notes.append(f"{count(seen.elsewhere, 'phase')} on other targets than most of a job's bytes count as time.")
    if found.left_out:
        notes.append(f"Left out, since they plan ahead, which several resources do not allow: {_some(found.left_out)}.")
    if seen.unfinished:
        notes.append(f"{seen.unfinished:,} operations that had not ended are left out.")
    if seen.on_names:
        notes.append(
            f"{count(seen.on_names, 'phase')} of operations on names (metadata) are ignored: nothing simulates them."
        )
    return notes


def replay_lines(found: Replayed) -> list[str]:
    """Whether every decision came out the same."""
    span = f"{found.decisions:,} decisions in {found.records:,} records ({found.first:,} to {found.last:,})"
    if not found.different:
        return [f"{span}: every one is the same again."]
    shown = [f"  {difference}" for difference in found.differences[:10]]
    return [f"{span}: {found.different:,} come out otherwise.", *shown]
