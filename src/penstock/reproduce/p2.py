"""P2 figures 3 to 5: list and periodic orders against best effort, by I/O weight, and hierarchical round-robin (§5.3).

P2 draws smoothed means over 1000 instances; here instances are put together by I/O weight, in intervals of 0.5. The
noise of a seed is drawn apart from its jobs, so that all three figures have the same jobs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.bins import by_bin, counts
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import half_width, instances, matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST_EFFORT, FIFO, HRR = "best-effort", "list-fifo", "hierarchical-round-robin"
PRIORITIES = ("fifo", "johnson", "most-remaining")
ORDERS = (
    BEST_EFFORT,
    *(f"list-{priority}" for priority in PRIORITIES),
    *(f"periodic-{priority}" for priority in PRIORITIES),
)
INSTANCES = 1000
STEP = 0.5  # of I/O weight
NOISE = 0.2
AXIS = "I/O weight W"
OVER_HRR = {"best_effort_over_hrr": BEST_EFFORT, "fifo_over_hrr": FIFO}


def chains(settings: ExperimentSettings, kind: str, noises: Sequence[float], sharing: Sequence[str]) -> Campaign:
    """The workload of P2 Table 1, general (`chains`) or uniform, each with some noise."""
    return Campaign.from_document(
        {
            "version": 1,
            "name": f"P2-{kind}",
            "workloads": [{"generate": kind, "set": {"noise": list(noises)}, "seeds": settings.seeds(INSTANCES)}],
            "plans": [{"sharing": list(sharing), "bounds": False}],
            "metrics": ["makespan", "io_weight"],
        }
    )


def middle(weight: float) -> str:
    """The middle of the interval that an I/O weight is in.

    >>> middle(0.1), middle(0.5), middle(3.2)
    ('0.25', '0.75', '3.25')
    """
    return f"{STEP * (weight // STEP + 0.5):g}"


def _weights(results: Results, noise: float) -> list[str]:
    return [middle(weight) for weight in np.nanmax(matrix(results, "io_weight", "noise", noise), axis=1)]


def _relative(results: Results, noise: float, reference: str) -> Floats:
    """The makespan of every instance under every policy, over that under the reference."""
    makespan = matrix(results, "makespan", "noise", noise)
    return makespan / makespan[:, [results.plans.index(reference)]]


def against_best_effort(results: Sequence[Results]) -> Summary:
    """{policy: {middle of a weight interval: mean}} of the makespan, over that of best effort and in seconds.

    Also by priority that of its list over that of its periodic order.
    """
    (found,) = results
    bins = _weights(found, 0.0)
    ratio, ratio_widths = by_bin(_relative(found, 0.0, BEST_EFFORT), found.plans, bins)
    seconds = matrix(found, "makespan", "noise", 0.0)
    makespan, makespan_widths = by_bin(seconds, found.plans, bins)
    lists, periodic = ([found.plans.index(f"{kind}-{each}") for each in PRIORITIES] for kind in ("list", "periodic"))
    against, against_widths = by_bin(seconds[:, lists] / seconds[:, periodic], PRIORITIES, bins)
    return {
        "ratio": ratio,
        "makespan": makespan,
        "list_over_periodic": against,
        "interval": {"ratio": ratio_widths, "makespan": makespan_widths, "list_over_periodic": against_widths},
        "in_bin": counts(bins),
        "instances": instances(found),
    }


def draw_orders(summary: Summary) -> Figure:
    """As in P2: relative to best effort, and in seconds."""
    titles = {"ratio": "relative to best effort", "makespan": "in seconds"}
    panels = {title: summary[key] for key, title in titles.items()}
    # Those of seconds would hide the lines: workloads of one weight differ more in length than policies do.
    widths = {titles["ratio"]: summary["interval"]["ratio"]}
    return lines(panels, x=AXIS, y=["makespan / that of best effort", "makespan (s)"], widths=widths, columns=2)


def under_noise(results: Sequence[Results]) -> Summary:
    """For each noise {policy: {middle of a weight interval: mean of the makespan over that of best effort}}."""
    (found,) = results
    noises = dict.fromkeys(point["noise"] for point in found.points)
    ratio: Summary = {}
    widths: Summary = {}
    for noise in noises:
        values = _relative(found, noise, BEST_EFFORT)
        ratio[str(noise)], widths[str(noise)] = by_bin(values, found.plans, _weights(found, noise))
    bins = _weights(found, next(iter(noises)))
    return {"ratio": ratio, "interval": {"ratio": widths}, "in_bin": counts(bins), "instances": instances(found)}


def draw_noise(summary: Summary) -> Figure:
    """As in P2: a panel for each noise."""
    panels = {_percent(noise): curves for noise, curves in summary["ratio"].items()}
    widths = {_percent(noise): curves for noise, curves in summary["interval"]["ratio"].items()}
    return lines(panels, x=AXIS, y="makespan / that of best effort", widths=widths, columns=2, share_y=True)


def _percent(noise: str) -> str:
    return f"noise {float(noise):.0%}"


def against_hrr(results: Sequence[Results]) -> Summary:
    """Mean and maximum of the makespan over that of hierarchical round-robin; the same `with_noise`.

    Under noise hierarchical round-robin keeps to the order that it found without.
    """
    (found,) = results
    plain, plain_widths = _over_hrr(found, 0.0)
    noisy, noisy_widths = _over_hrr(found, NOISE)
    return {
        **plain,
        "with_noise": noisy,
        "interval": {**plain_widths, "with_noise": noisy_widths},
        "in_bin": counts(_weights(found, 0.0)),
        "instances": instances(found),
    }


def _over_hrr(results: Results, noise: float) -> tuple[Summary, Summary]:
    values = _relative(results, noise, HRR)
    found: Summary = {}
    widths: Summary = {}
    for name, policy in OVER_HRR.items():
        ratios = values[:, results.plans.index(policy)]
        (interval,) = mean_intervals(ratios[:, None])
        found[name] = {"mean": interval.mean, "max": float(np.nanmax(ratios))}
        widths[name] = {"mean": half_width(interval)}
    found["ratio"], widths["ratio"] = by_bin(values, results.plans, _weights(results, noise))
    return found, widths


def draw_hrr(summary: Summary) -> Figure:
    """As in P2: without noise on the left, with noise on the right."""
    panels = {"no noise": summary["ratio"], _percent(str(NOISE)): summary["with_noise"]["ratio"]}
    interval = summary["interval"]
    widths = {"no noise": interval["ratio"], _percent(str(NOISE)): interval["with_noise"]["ratio"]}
    text = "makespan / that of HRR"
    return lines(panels, x=AXIS, y=text, widths=widths, columns=2, share_y=True)


EXPERIMENTS = (
    Experiment(
        id="P2.fig3",
        title="makespan of list and periodic orders against best effort, by I/O weight",
        campaigns=lambda settings: [chains(settings, "chains", [0.0], ORDERS)],
        summarise=against_best_effort,
        draw=draw_orders,
        states="At small I/O weight best effort is fastest; from some weight on all orders are faster. The three"
        " periodic orders coincide; lists are better than periodic orders at small weight, and worse at large. Relative"
        " to best effort the gain varies around W = 3, where the bandwidth becomes busy all the time; in seconds it"
        " grows with the weight.",
        levels=("policy", "I/O weight"),
    ),
    Experiment(
        id="P2.fig4",
        title="makespan of list and periodic orders against best effort, with noise of 20 % and 50 %",
        campaigns=lambda settings: [chains(settings, "chains", [NOISE, 0.5], ORDERS)],
        summarise=under_noise,
        draw=draw_noise,
        states="Noise makes the orders slightly worse at small I/O weight; at large weight they are much as without.",
        levels=("noise", "policy", "I/O weight"),
    ),
    Experiment(
        id="P2.fig5",
        title="makespan of best effort and list-fifo against hierarchical round-robin, for uniform jobs",
        campaigns=lambda settings: [chains(settings, "uniform", [0.0, NOISE], (HRR, FIFO, BEST_EFFORT))],
        summarise=against_hrr,
        draw=draw_hrr,
        states="list-fifo, though it knows nothing in advance, is very close to hierarchical round-robin, less than"
        " 10 % slower; noise has almost no impact on it. best-effort is worse, up to 60 % slower than hierarchical"
        " round-robin, as it keeps the jobs in step and so the contention; noise, which brings them out of step, helps"
        " it, but it is still worse than list-fifo (§5.3).",
        levels=("policy", "I/O weight"),
    ),
)
