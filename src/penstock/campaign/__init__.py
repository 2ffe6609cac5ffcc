"""Campaigns: many workloads under many plans, run anywhere, kept in Parquet, and compared with their noise.

A *run* is one workload (kind, settings, seed) under one plan. It has a key, the hash of all that decides its result, so
that a campaign that was interrupted or extended runs only what is missing.

    document   the YAML file                        source, plan   what it asks for, made exact
    units      a scenario and its missing plans     perform        from a unit to rows of results
    executor   where units are performed            chunks         as many at a time as are worth a message
    store      the directory of results             results        what is in it, as columns
    runner     all of these together                statistics, summary    what the results say
    variants   draws of one scenario's noise        recommendation which policy for a goal, on these
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.campaign.document import Campaign, load_campaign
    from penstock.campaign.merging import merge
    from penstock.campaign.ranking import Ranking, rank_plans
    from penstock.campaign.recommendation import Recommendation, recommend
    from penstock.campaign.results import Results, read_results
    from penstock.campaign.runner import Report, run_campaign
    from penstock.campaign.summary import Entry, summarise

_HOME = {
    "Recommendation": "recommendation",
    "Campaign": "document",
    "Entry": "summary",
    "Ranking": "ranking",
    "Report": "runner",
    "Results": "results",
    "load_campaign": "document",
    "merge": "merging",
    "rank_plans": "ranking",
    "read_results": "results",
    "recommend": "recommendation",
    "run_campaign": "runner",
    "summarise": "summary",
}

__all__ = [
    "Campaign",
    "Entry",
    "Ranking",
    "Recommendation",
    "Report",
    "Results",
    "load_campaign",
    "merge",
    "rank_plans",
    "read_results",
    "recommend",
    "run_campaign",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'penstock.campaign' has no attribute {name!r}")
    return getattr(import_module(f"penstock.campaign.{_HOME[name]}"), name)
