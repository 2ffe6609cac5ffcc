"""What the figures on P1's synthetic workload (§6.2) have in common: the strategies, and one store of runs.

Every figure varies one setting of the workload and leaves the others where they are, so that figures meet in some
points: their campaigns have one name, and keep the same, so that runs in common are run once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.campaign import Campaign
from penstock.reproduce.experiment import ExperimentSettings, Summary
from penstock.reproduce.figures import boxes

STRATEGIES = (
    "fair-share",
    "fcfs",
    "set-10",
    "greedy-yield",
    "greedy-com",
    "lookahead-greedy-yield",
    "periodic-greedy-yield",
    "best-next-event",
)
METRICS = ("min_yield", "efficiency", "utilization")
INSTANCES = 200
NAMES = {"min_yield": "min yield", "efficiency": "efficiency", "utilization": "utilization"}


def synthetic(settings: ExperimentSettings, **grid: Any) -> Campaign:
    """The synthetic workload with some settings other than P1's σ = ν = 0.5 and 20 small applications."""
    return Campaign.from_document(
        {
            "version": 1,
            "name": "P1-synthetic",
            "workloads": [{"generate": "synthetic", "set": grid, "seeds": settings.seeds(INSTANCES)}],
            "plans": [{"sharing": list(STRATEGIES), "bounds": False}],
            "metrics": [*METRICS, "yield"],
        }
    )


def draw_boxes(summary: Summary, x: str, metrics: Sequence[str] = METRICS) -> Any:
    """As in P1: a panel for each objective, box plots by strategy, and lines through the means."""
    panels = {NAMES[metric]: summary[metric] for metric in metrics}
    quantiles = {NAMES[metric]: summary["quantiles"][metric] for metric in metrics}
    return boxes(panels, quantiles, x=x, y=list(panels))
