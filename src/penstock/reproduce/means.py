"""Numbers for the papers' figures: means over instances with half the width of their 95 % intervals, and quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.campaign import Results
from penstock.campaign.statistics import Interval, mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import Summary

BOX = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the box plots in P1


def half_width(interval: Interval) -> float | None:
    """How far a mean may be off; a single value does not say."""
    return None if math.isnan(interval.low) else (interval.high - interval.low) / 2


def matrix(results: Results, metric: str, setting: str, value: Any) -> Floats:
    """A row for each scenario that has this value of a setting, and a column for each plan."""
    points = [place for place, point in enumerate(results.points) if point.get(setting) == value]
    chosen: Floats = results.matrix(metric)[np.isin(results.scenarios[:, 0], points)]
    return chosen


def by_setting(results: Results, metrics: Sequence[str], setting: str) -> Summary:
    """For every metric {plan: {value of the setting: mean}}, `interval` with half widths, `quantiles` for boxes."""
    values = list(dict.fromkeys(point[setting] for point in results.points))
    means: Summary = {metric: {plan: {} for plan in results.plans} for metric in metrics}
    widths: Summary = {metric: {plan: {} for plan in results.plans} for metric in metrics}
    boxes: Summary = {metric: {plan: {} for plan in results.plans} for metric in metrics}
    for value in values:
        found = [matrix(results, metric, setting, value) for metric in metrics]
        intervals = iter(mean_intervals(np.concatenate(found, axis=1)))
        for metric, each in zip(metrics, found, strict=True):
            for place, plan in enumerate(results.plans):
                interval = next(intervals)
                means[metric][plan][str(value)] = interval.mean
                widths[metric][plan][str(value)] = half_width(interval)
                boxes[metric][plan][str(value)] = box(each[:, place])
    return {**means, "interval": widths, "quantiles": boxes, "instances": instances(results)}


def box(values: Floats) -> list[float]:
    """The quantiles that a box plot shows; NaN counts as not there."""
    there = values[~np.isnan(values)]
    found: list[float] = (np.quantile(there, BOX) if there.size else np.full(len(BOX), np.nan)).tolist()
    return found


def instances(results: Results) -> int:
    """How many scenarios each point has; the least, if they differ."""
    return int(np.bincount(results.scenarios[:, 0]).min())
