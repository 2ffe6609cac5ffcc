"""P1 figures 14 to 19: what the mix of sizes, their spread and the noise change (appendix B.1)."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.reproduce.experiment import Experiment
from penstock.reproduce.means import by_setting
from penstock.reproduce.p1_synthetic import METRICS, draw_boxes, synthetic

LOW, HIGH = 0.8, 1.1  # I/O pressure


class Varied(NamedTuple):
    """A setting of the synthetic workload, its values in P1, and what P1 says of it."""

    setting: str
    values: list[Any]
    words: str
    axis: str
    states: str


SMALL = Varied(
    "small",
    [10, 20, 30],
    "the number of small applications",
    "number of small applications",
    "The results are much alike for all numbers of small applications; at low pressure almost all strategies have a"
    " high min yield.",
)
SIGMA = Varied(
    "sigma",
    [0.0, 0.25, 0.5, 0.75, 1.0],
    "the spread of iteration lengths",
    "standard deviation σ",
    "The new strategies, greedy-com at high pressure perhaps apart, do not mind a larger spread; fcfs suffers from it,"
    " and so does the min yield of set-10 at high pressure.",
)
NOISE = Varied(
    "noise",
    [0.0, 0.25, 0.5, 0.75, 1.0],
    "the noise of phases",
    "noise ν",
    "The noise affects none of the strategies.",
)


def _experiment(number: int, varied: Varied, pressure: float) -> Experiment:
    return Experiment(
        id=f"P1.fig{number}",
        title=f"all strategies against {varied.words}, at {'low' if pressure == LOW else 'high'} I/O pressure",
        campaigns=lambda settings: [synthetic(settings, pressure=pressure, **{varied.setting: varied.values})],
        summarise=lambda results: by_setting(results[0], METRICS, varied.setting),
        draw=lambda summary: draw_boxes(summary, f"{varied.axis} (W = {pressure:g})"),
        states=varied.states,
        levels=("policy", varied.setting),
    )


EXPERIMENTS = tuple(
    _experiment(14 + 2 * place + (pressure == HIGH), varied, pressure)
    for place, varied in enumerate((SMALL, SIGMA, NOISE))
    for pressure in (LOW, HIGH)
)
