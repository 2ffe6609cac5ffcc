"""A campaign as tables for the terminal and in words: means with intervals, and what differs by more than noise."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from penstock.campaign.named_files import WITH, named_files
from penstock.campaign.summary import BETTER, DIFFERENT, TIE, WORSE
from penstock.report.parts.fitting_table import Column, FittingTable
from penstock.report.parts.quantities import NOTHING, duration, fixed, percent, significant

if TYPE_CHECKING:
    from penstock.campaign import Entry, Report, Results
    from penstock.campaign.ranking import RankedPlan
    from penstock.campaign.statistics import Interval

Show = Callable[[float], str]
MOST_FAILURES = 5
_MOST_NAMED = 4
_STYLES = {BETTER: "bold green", WORSE: "red", TIE: "dim", DIFFERENT: "bold"}


# Where a terminal is narrow, columns go in this order: what is said by another one first.
_SPARE = {"median": 1, "won/tied\n/lost": 2, "of\nbound": 3, "runs": 4, "95 % interval": 5}


def metric_tables(entries: Sequence[Entry]) -> list[FittingTable]:
    """A table for each metric."""
    metrics = dict.fromkeys(entry.metric for entry in entries)
    return [_metric_table([entry for entry in entries if entry.metric == metric]) for metric in metrics]


def by_reference(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries for each plan to compare with; all lists are of the same groups and plans.

    Where none but the reference itself is shown there is nothing to compare.
    """
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.reference, []).append(entry)
    lists = list(found.values())
    return [part for part in lists if reference_of(part) is not None] or lists[:1]


class _Columns(NamedTuple):
    """Which columns the table of one metric has."""

    runs: bool  # not the same for all, so a column instead of words in the title
    bounded: bool
    against: Sequence[str]  # the plans that others are compared with
    show: Show

    @property
    def several(self) -> bool:
        """Whether there are so many comparisons that each gets little room."""
        return len(self.against) > 1

    def headings(self) -> list[str]:
        """Of the numbers."""
        own = [*(["runs"] * self.runs), "mean", "95 % interval", *(["median"] * (not self.several))]
        own += ["of\nbound"] * self.bounded
        verdict = [] if self.several else ["won/tied\n/lost", ""]
        compared = [[f"against\n{name}", "95 % interval", *verdict] for name in self.against]
        return [*own, *(heading for each in compared for heading in each)]

    def cells(self, entry: Entry) -> list[str]:
        """What an entry says by itself."""
        cells = [*([f"{entry.runs:,}"] * self.runs), *interval_cells(entry.mean, self.show)]
        if not self.several:
            cells.append(_shown(entry.quantiles[0.5], self.show))
        if self.bounded:
            cells.append(_shown(entry.of_bound.mean if entry.of_bound else math.nan, percent))
        return cells

    def compared(self, entries: Sequence[Entry]) -> list[Text]:
        """What it says beside each reference."""
        shown = entries if self.against else []
        return [text for entry in shown for text in _compared(entry, self.show, whole=not self.several)]


def _metric_table(every: Sequence[Entry]) -> FittingTable:
    entries, *others = by_reference(every)
    counts = {entry.runs for entry in entries}
    columns = _Columns(
        runs=len(counts) > 1,
        bounded=any(entry.of_bound is not None for entry in entries),
        against=_references(entries, others),
        show=number_format(entries),
    )
    title = entries[0].metric if columns.runs else f"{entries[0].metric}, {_runs_each(counts.pop())}"
    names, headings = [*entries[0].group, "plan"], columns.headings()
    groups = [_group_rows(rows, columns) for rows in _groups(list(zip(entries, *others, strict=True)))]
    empty = [Text("")] * (len(names) + len(headings))
    rows = [row for group in groups for row in ([empty, *group] if group is not groups[0] else group)]
    found = [list(column) for column in zip(*rows, strict=True)]
    own = [Column(name, cells, right=False) for name, cells in zip(names, found, strict=False)]
    return FittingTable(title, [*own, *_numbers(headings, found[len(names) :])])


def _numbers(headings: Sequence[str], found: Sequence[Sequence[Text]]) -> list[Column]:
    """The columns of numbers; of the intervals, those of the means go before those of the differences."""
    later = headings.index("95 % interval") if "95 % interval" in headings else -1
    return [
        Column(heading, cells, _SPARE.get(heading, 0) + (heading == "95 % interval" and place != later))
        for place, (heading, cells) in enumerate(zip(headings, found, strict=True))
    ]


def _references(entries: Sequence[Entry], others: Sequence[Sequence[Entry]]) -> list[str]:
    if others:
        return [part[0].reference for part in (entries, *others)]
    reference = reference_of(entries)
    return [] if reference is None else [reference]


def _runs_each(count: int) -> str:
    return f"{count:,} run{'s' if count != 1 else ''} each"


def _groups(rows: Sequence[tuple[Entry, ...]]) -> list[list[tuple[Entry, ...]]]:
    """Rows that follow each other and are of the same settings."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row[0].group)]


def _group_rows(rows: Sequence[tuple[Entry, ...]], columns: _Columns) -> list[list[Text]]:
    """The rows of one section; only its first names the settings."""
    settings = [str(value) for value in rows[0][0].group.values()]
    found = []
    for place, row in enumerate(rows):
        names = settings if place == 0 else [""] * len(settings)
        found.append([*map(Text, [*names, row[0].plan, *columns.cells(row[0])]), *columns.compared(row)])
    return found


def _compared(entry: Entry, show: Show, whole: bool) -> list[Text]:
    """How an entry compares with its reference: all that is known, or the difference and what it means."""
    cells, verdict = against_cells(entry, show), entry.against.verdict if entry.against else None
    style = _STYLES.get(verdict or "", "")
    if whole:
        return [*map(Text, cells[:-1]), Text(cells[-1], style=style)]
    return [Text(f"{cells[0]} {cells[-1]}".strip(), style=style), Text(cells[1])]


def reference_of(entries: Sequence[Entry]) -> str | None:
    """The plan that the others are compared with; None if there is but one plan."""
    return next((entry.against.plan for entry in entries if entry.against), None)


def number_format(entries: Sequence[Entry] | Sequence[RankedPlan]) -> Show:
    """Four decimals, so that a column lines up; significant digits where values are large."""
    most = max((abs(entry.mean.mean) for entry in entries if not math.isnan(entry.mean.mean)), default=0.0)
    return significant if most >= 1e3 else fixed


def interval_cells(interval: Interval, show: Show, sign: str = "") -> list[str]:
    """A mean, and its interval."""
    plus = sign if interval.mean > 0.0 and float(show(interval.mean).replace(",", "")) > 0.0 else ""
    ends = NOTHING if math.isnan(interval.low) else f"{show(interval.low)} … {show(interval.high)}"
    return [_shown(interval.mean, lambda mean: f"{plus}{show(mean)}"), ends]


def against_cells(entry: Entry, show: Show) -> list[str]:
    """The difference to the reference, its interval, how the pairs went, and the verdict."""
    versus = entry.against
    if versus is None:
        return ["", "", "", "reference"]
    counts = "/".join(f"{count:,}" for count in versus.tally)
    verdict = versus.verdict or ("one pair" if any(versus.tally) else "no pair")
    return [*interval_cells(versus.difference, show, "+"), counts, verdict]


def range_words(entry: Entry, show: Show) -> str:
    """Where most runs lie."""
    low, high = entry.quantiles[0.05], entry.quantiles[0.95]
    return NOTHING if math.isnan(low) else f"{show(low)} – {show(high)}"


def _shown(value: float, show: Show) -> str:
    return NOTHING if math.isnan(value) else show(value)


def campaign_lines(entries: Sequence[Entry]) -> list[str]:
    """Per metric, in how many groups each plan was better or worse than the reference by more than noise."""
    lines = []
    for metric, compared in dict.fromkeys((entry.metric, entry.reference) for entry in entries):
        own = [entry for entry in entries if (entry.metric, entry.reference) == (metric, compared)]
        reference = reference_of(own)
        if reference is None:
            continue
        said: dict[str, list[str]] = {}
        for plan in dict.fromkeys(entry.plan for entry in own):
            if words := _verdict_words(own, plan):
                said.setdefault(words, []).append(plan)
        if said:
            told = "; ".join(f"{_listed(plans)} {words}" for words, plans in said.items())
            lines.append(f"{metric} against {reference}: {told}.")
    return lines


def _listed(plans: Sequence[str]) -> str:
    """Some names, and how many more: the table has them all."""
    more = len(plans) - _MOST_NAMED
    names = [*plans[:_MOST_NAMED], f"{more:,} more"] if more > 1 else [*plans]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _verdict_words(entries: Sequence[Entry], plan: str) -> str:
    verdicts = [entry.against.verdict for entry in entries if entry.plan == plan and entry.against]
    verdicts = [verdict for verdict in verdicts if verdict is not None]
    counts = {verdict: verdicts.count(verdict) for verdict in (BETTER, TIE, WORSE, DIFFERENT) if verdict in verdicts}
    if not counts:
        return ""
    if len(verdicts) == 1:
        return str(verdicts[0])
    return f"{', '.join(f'{name} in {count}' for name, count in counts.items())} of {len(verdicts)}"


def incomplete_lines(results: Results) -> list[str]:
    """What is not in the numbers, if anything."""
    missing, failed = results.size - int(results.ended.sum()), int(results.failed.sum())
    lines = []
    if missing:
        lines.append(f"{missing:,} of {results.size:,} runs are missing; `penstock campaign FILE -o DIR` runs them.")
    if failed:
        lines.append(
            f"{failed:,} of {results.size:,} runs failed and are left out; `penstock campaign status` says why."
        )
    return lines


def report_lines(report: Report, name: str, where: str) -> list[str]:
    """What a start of the campaign did."""
    done = report.before + report.ran
    if not report.ran:
        return [f"{name}: all {report.runs:,} runs were there already."]
    speed = f"{report.ran:,} runs in {duration(report.seconds)} ({report.rate:,.1f} runs/s, {where})"
    before = f"; {report.before:,} were there before" if report.before else ""
    return [f"{name}: {speed}{before}; {done:,} of {report.runs:,} are there now."]


def progress_words(report: Report) -> str:
    """How far it is, how fast, and for how long still."""
    parts = [f"{report.before + report.ran:,} of {report.runs:,} runs", f"{report.rate:,.1f} runs/s"]
    if report.left is not None:
        parts.append(f"{duration(report.left)} left")
    if report.failed:
        parts.append(f"{report.failed:,} failed")
    return ", ".join(parts)


def status_lines(results: Results) -> list[str]:
    """How far a campaign is."""
    now = results.status()
    counts = [f"{now[name]:,} {name}" for name in ("done", "failed", "missing") if now[name] or name == "done"]
    lines = [f"{results.name}: {results.size:,} runs: {', '.join(counts)}."]
    if len(now["versions"]) > 1:
        lines.append(f"Runs come from different versions: {'; '.join(now['versions'])}.")
    elif now["versions"]:
        lines.append(f"Made with {now['versions'][0]}.")
    lines += [f"{path} cannot be read; the next start runs what was in it again." for path in results.damaged]
    if now["missing"]:
        lines.append("`penstock campaign FILE -o DIR` runs what is missing.")
    return lines


def archive_lines(manifest: Mapping[str, Any], *, written: bool = True) -> list[str]:
    """What is in an archive that was written, or read, and the hash that two archives of the same science share."""
    counts = ", ".join(f"{manifest[name]:,} {name}" for name in ("failed", "missing") if manifest[name])
    files = manifest["files"]
    lines = [
        f"{manifest['campaign']}: {manifest['done']:,} runs{f', {counts}' if counts else ''}; "
        f"{len(manifest['plans'])} plans, {len(manifest['seeds'])} seeds, {len(files)} files.",
        f"Made with {'; '.join(manifest['versions'])}, on Python {manifest['python']}, {manifest['machine']}.",
        f"SHA-256 of its results: {files['results.parquet']['sha256']}.",
    ]
    left = [name for name in named_files(manifest["plans"]) if f"{WITH}/{name}" not in files]
    for name in left:
        way = f"--with {name} puts it there" if written else "whoever made it has the file"
        lines.append(f"Plans name {name}, which is not in the archive; {way}.")
    return lines


def failure_lines(failures: Sequence[Mapping[str, Any]]) -> list[str]:
    """The first failures, each with its reason and how to see it for yourself."""
    lines = []
    for failure in failures[:MOST_FAILURES]:
        lines.append(f"failed: {failure['workload']}, seed {failure['seed']}, {failure['plan']}: {failure['error']}")
        lines.append(f"  {failure['reproducer']}")
    more = len(failures) - MOST_FAILURES
    return [*lines, f"… and {more:,} more (--json lists them all)."] if more > 0 else lines


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV, floats with all their digits; what is missing is empty."""
    listed = list(rows)
    names = list(dict.fromkeys(name for row in listed for name in row))
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in listed)
    return sink.getvalue()


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return repr(value) if isinstance(value, float) else str(value)
