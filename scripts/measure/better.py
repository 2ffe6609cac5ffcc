"""Measure what the pages on better policies report: `python scripts/measure/better.py` writes tables and picture.

Runs examples/campaigns/policies.yaml and policies-targets.yaml, or what is missing of them in `-o DIR`, and puts what
they say between the marks of the two pages in docs/measurements: a policy that is added to the two files is on the
pages after that. `--seeds N` takes the first N seeds of every workload and prints the tables without touching a page.
A quarter of an hour on one core for everything; results are kept in DIR and continued.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from PIL import Image

from penstock.campaign import Entry, Results, load_campaign, read_results, run_campaign, summarise
from penstock.campaign.summary import BETTER, WORSE
from penstock.policies.sharing import find
from penstock.report.campaign.pareto import pareto_figure
from penstock.report.plots import save_figure

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "measurements" / name for name in ("better-policies.md", "better-policies-elsewhere.md")]
PICTURE = ROOT / "docs" / "pictures" / "better-policies.png"
CAMPAIGNS = ROOT / "examples" / "campaigns"
LOOKAHEAD, PERIODIC, FAIR, COM = "lookahead-greedy-yield", "periodic-greedy-yield", "fair-share", "greedy-com"
RECOMMENDED = (LOOKAHEAD, PERIODIC)  # by P1, for the min yield
P1 = "P1"
GROUPS = ("workload", "pressure")

Rows = Iterable[Sequence[str]]


def main() -> None:
    """Run, then print; write what belongs to the pages if all of it was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "better-policies")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--workers", type=int)
    asked = parser.parse_args()
    results = _run("policies", asked)
    parts = dict(_parts(results, _run("policies-targets", asked)))
    for name, text in parts.items():
        print(f"{name}\n\n{text}\n")
    if asked.seeds is None:
        _write(parts)
        entries = _entries(results, ["min_yield", "efficiency"], [FAIR])
        shown = [replace(each, group={"W": each.group["pressure"]}) for each in entries if _of(each) == P1]
        save_figure(pareto_figure(shown, (1, 1)), PICTURE)
        Image.open(PICTURE).convert("RGB").quantize(64).save(PICTURE, optimize=True)


def _run(name: str, asked: argparse.Namespace) -> Results:
    campaign = load_campaign(CAMPAIGNS / f"{name}.yaml")
    workloads = tuple(replace(each, seeds=each.seeds[: asked.seeds]) for each in campaign.workloads)
    folder = asked.output / name
    report = run_campaign(replace(campaign, workloads=workloads), folder, workers=asked.workers)
    print(f"{name}: {report.ran:,} of {report.runs:,} runs in {report.seconds:.0f} s, {report.failed:,} failed\n")
    return read_results(folder)


def _parts(results: Results, on_targets: Results) -> Iterator[tuple[str, str]]:
    """Every table of the page, by the name between its marks."""
    by_pressure = [each for each in _entries(results, ["min_yield", "efficiency"], [FAIR]) if _of(each) == P1]
    for metric in ("min_yield", "efficiency"):
        yield metric, _by_pressure([each for each in by_pressure if each.metric == metric])
    gains = _entries(results, ["min_yield", "efficiency"], [*RECOMMENDED, FAIR])
    yield "gains", _gains([each for each in gains if _of(each) == P1 and _is_ours(each.plan) and "(" not in each.plan])
    yield "bound", _bound([each for each in by_pressure if each.metric == "min_yield"], results)
    others = [each for each in gains if _of(each) != P1 and each.reference in RECOMMENDED]
    for metric in ("min_yield", "efficiency"):
        yield f"robust-{metric}", _robust([each for each in others if each.metric == metric])
    yield "targets", _targets(summarise(on_targets, against=FAIR, by=["load"]))


def _entries(results: Results, metrics: Sequence[str], against: Sequence[str]) -> list[Entry]:
    return summarise(results, metrics, against, GROUPS)


def _of(entry: Entry) -> str:
    return str(entry.group["workload"])


def _is_ours(plan: str) -> bool:
    return find(plan).source == "ours"


def _by_pressure(entries: Sequence[Entry]) -> str:
    """Means of every policy; the best of each pressure stands out."""
    pressures = list(dict.fromkeys(entry.group["pressure"] for entry in entries))
    most = {p: max(entry.mean.mean for entry in entries if entry.group["pressure"] == p) for p in pressures}

    def cell(plan: str, pressure: float) -> str:
        mean = _one(entries, plan, pressure).mean.mean
        return f"**{mean:.4f}**" if mean == most[pressure] else f"{mean:.4f}"

    plans = dict.fromkeys(entry.plan for entry in entries)
    return _table(
        [entries[0].metric.replace("_", " "), *(f"W = {p:g}" for p in pressures)],
        ([plan, *(cell(plan, p) for p in pressures)] for plan in plans),
    )


def _one(entries: Sequence[Entry], plan: str, pressure: float) -> Entry:
    return next(entry for entry in entries if entry.plan == plan and entry.group["pressure"] == pressure)


def _gains(entries: Sequence[Entry]) -> str:
    """Paired gains of ours over each of P1's and fair-share, a row for each pressure."""
    references = list(dict.fromkeys(entry.reference for entry in entries))
    cells = {(e.plan, e.group["pressure"], e.metric, e.reference): _gain(e) for e in entries}
    rows = dict.fromkeys((plan, pressure, metric) for plan, pressure, metric, _ in cells)
    plans = list(dict.fromkeys(entry.plan for entry in entries))
    ordered = sorted(rows, key=lambda row: (row[1], plans.index(row[0]), row[2] != "min_yield"))
    return _table(
        ["W", "policy", "", *(f"over {name}" for name in references)],
        (
            [f"{pressure:g}", plan, metric.replace("_", " "), *(cells[plan, pressure, metric, r] for r in references)]
            for plan, pressure, metric in ordered
        ),
    )


def _gain(entry: Entry) -> str:
    """A paired difference with its interval, bold if better, in italics if worse."""
    if entry.against is None:
        return ""
    mean, low, high = entry.against.difference
    mark = {BETTER: "**", WORSE: "*"}.get(entry.against.verdict or "", "")
    return f"{mark}{mean:+.4f}{mark} ({low:.4f} … {high:.4f})"


def _bound(entries: Sequence[Entry], results: Results) -> str:
    """For each pressure the best policy over the bound, beside the better of P1's two."""
    bounds = summarise(results, ["bound_interval"], FAIR, GROUPS)
    rows = []
    for pressure in dict.fromkeys(entry.group["pressure"] for entry in entries):
        here = [entry for entry in entries if entry.group["pressure"] == pressure]
        best = max(here, key=lambda entry: entry.mean.mean)
        theirs = max((e for e in here if e.plan in RECOMMENDED), key=lambda entry: entry.mean.mean)
        bound = next(each for each in bounds if each.group == best.group)
        rows.append([f"{pressure:g}", f"{bound.mean.mean:.4f}", *_of_bound(best), *_of_bound(theirs)])
    return _table(["W", "bound", "best policy", "of the bound", "best of P1's two", "of the bound"], rows)


def _of_bound(entry: Entry) -> list[str]:
    assert entry.of_bound is not None
    mean, low, high = (100 * value for value in entry.of_bound)
    return [entry.plan, f"{mean:.2f} % ({low:.2f} … {high:.2f})"]


def _robust(entries: Sequence[Entry]) -> str:
    """Other workloads: the better of P1's two, and the paired gains of ours over it."""
    rows, ours = [], [plan for plan in dict.fromkeys(entry.plan for entry in entries) if _is_ours(plan)]
    for workload in dict.fromkeys(map(_of, entries)):
        here = [entry for entry in entries if _of(entry) == workload]
        theirs = max((e for e in here if e.plan in RECOMMENDED), key=lambda entry: entry.mean.mean)
        gains = {entry.plan: _gain(entry) for entry in here if entry.reference == theirs.plan}
        rows.append([workload, f"{theirs.plan} {theirs.mean.mean:.4f}", *(gains[plan] for plan in ours)])
    return _table([entries[0].metric.replace("_", " "), "better of P1's two", *ours], rows)


def _targets(entries: Sequence[Entry]) -> str:
    """Both metrics at each load; what differs from fair-share by more than noise is bold or in italics."""
    cells = {(entry.plan, entry.metric, entry.group["load"]): entry for entry in entries}
    columns = list(dict.fromkeys((metric, load) for _, metric, load in cells))
    rows = [
        [plan, *(_marked(cells[plan, *column]) for column in columns)]
        for plan in dict.fromkeys(plan for plan, *_ in cells)
    ]
    return _table(["", *(f"{metric.replace('_', ' ')}, load {load:g}" for metric, load in columns)], rows)


def _marked(entry: Entry) -> str:
    mark = {BETTER: "**", WORSE: "*"}.get((entry.against.verdict or "") if entry.against else "", "")
    return f"{mark}{entry.mean.mean:.3f}{mark}"


def _table(headings: Sequence[str], rows: Rows) -> str:
    lines = (headings, ["---"] * len(headings), *rows)
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _write(parts: dict[str, str]) -> None:
    for name, table in parts.items():
        start, end = f"<!-- {name} -->\n", "<!-- end -->"
        [page] = [each for each in PAGES if start in each.read_text()]
        before, _, rest = page.read_text().partition(start)
        page.write_text(f"{before}{start}\n{table}\n\n{end}{rest.partition(end)[2]}")


if __name__ == "__main__":
    main()
