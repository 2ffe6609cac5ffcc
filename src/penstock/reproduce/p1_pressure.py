"""P1 figure 5: the three objectives as the I/O pressure grows (§6.2.2)."""

from __future__ import annotations

from penstock.reproduce.experiment import Experiment
from penstock.reproduce.means import by_setting
from penstock.reproduce.p1_synthetic import METRICS, draw_boxes, synthetic

PRESSURES = [0.2, 0.5, 0.8, 0.9, 1.0, 1.1]

EXPERIMENTS = (
    Experiment(
        id="P1.fig5",
        title="min yield, efficiency and utilization of all strategies as the I/O pressure grows",
        campaigns=lambda settings: [synthetic(settings, pressure=PRESSURES)],
        summarise=lambda results: by_setting(results[0], METRICS, "pressure"),
        draw=lambda summary: draw_boxes(summary, "aimed I/O pressure W"),
        states="With pressure, fair-share, fcfs, set-10 and greedy-com lose min yield; the strategies that look at the"
        " yield keep it high and are alike, greedy-yield and periodic-greedy-yield very slightly ahead of"
        " lookahead-greedy-yield and best-next-event. greedy-com is best and fcfs worst in efficiency and utilization;"
        " the others lose at most 5 % there against fair-share, and only at the highest pressure.",
        levels=("policy", "pressure"),
    ),
)
