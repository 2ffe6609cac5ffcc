"""Measure what the page on jobs that come and go reports: `python scripts/measure/arrivals.py DIR` prints its tables.

Runs examples/campaigns/arrivals.yaml, or what is missing of it in DIR, and then ten weeks again with their timelines,
to see how many operations are posted at a time. Ten minutes on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from penstock import generate, simulate
from penstock.campaign import load_campaign, read_results, run_campaign, summarise
from penstock.campaign.summary import BETTER, WORSE

ROOT = Path(__file__).resolve().parents[2]
CAMPAIGN = ROOT / "examples" / "campaigns" / "arrivals.yaml"
SEEDS = range(1000, 1010)
POLICIES = ("fair-share", "greedy-yield", "reserve-credit", "reserve-srpt", "greedy-com")
SIGNS = {BETTER: "*", WORSE: "†"}  # than the first one
DIGITS = {"lost_share": (100.0, ".1f"), "min_yield": (1.0, ".2f")}


def main() -> None:
    """The table of each metric, and that of what is posted."""
    folder = Path(sys.argv[1])
    run_campaign(load_campaign(CAMPAIGN), folder)
    for metric in DIGITS:
        _table(folder, metric)
    print("| policy | of the bandwidth used | operations posted | nodes that wait or move |\n| --- | --- | --- | --- |")
    for policy in POLICIES:
        used, posted, nodes = np.mean([_week(seed, policy) for seed in SEEDS], axis=0)
        print(f"| `{policy}` | {used:.3f} | {posted:.2f} | {nodes:,.0f} |")


def _table(folder: Path, metric: str) -> None:
    """A row for each policy, a column for each workload and pressure."""
    factor, digits = DIGITS[metric]
    rows: dict[str, list[str]] = {}
    for entry in summarise(read_results(folder), [metric]):
        sign = SIGNS.get(entry.against.verdict or "", "") if entry.against else ""
        rows.setdefault(entry.plan, []).append(f"{factor * entry.mean.mean:{digits}}{sign}")
    print(metric, *(f"| `{plan}` | {' | '.join(cells)} |" for plan, cells in rows.items()), sep="\n")


def _week(seed: int, policy: str) -> tuple[float, float, float]:
    """Means over a week: of the bandwidth, of operations posted, and of the nodes of their jobs."""
    scenario = generate("arrivals", seed, pressure=0.8)
    timeline = simulate(scenario, policy, timeline=True).timeline
    assert timeline is not None and scenario.window is not None and scenario.platform.bandwidth is not None
    length = scenario.window.end - scenario.window.begin
    seconds = timeline.stop - timeline.start
    nodes = np.array([application.nodes for application in scenario.applications])[timeline.application]
    used = float(timeline.rate @ seconds) / (scenario.platform.bandwidth * length)
    return used, float(seconds.sum() / length), float(nodes @ seconds / length)


if __name__ == "__main__":
    main()
