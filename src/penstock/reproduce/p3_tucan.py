"""P3 figures 5 to 8: list policies on the five applications of its Table 1, run longer and longer (§6.1).

P3 ran them on the Tucan cluster, once for each number of iteration batches. Here phases last exactly what Table 1 says;
and once more, with several seeds, they are off by up to 5 %, about as much as P3 finds between its machine and its
simulator (§6.2.1). That makes a difference: equal phases fall into step, and rules that look alike part.

Figures 6 and 8 have the same caption. The text calls figure 8 the makespan of the policies against FIFO; as it stands
beside figure 7, which has every application, figure 8 here has the completion of every application too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.campaign import Campaign, Results
from penstock.campaign.statistics import mean_intervals
from penstock.kernels.arrays import Floats
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.means import half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIFO = "list-fifo"
POLICIES = (
    FIFO,
    "list-lowest-id",
    "list-longest-io",
    "list-shortest-io",
    "list-shortest-remaining",
    "list-most-remaining",
    "list-bandwidth",
    "list-stretch",
)
BATCHES = [0.02, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]  # all of them give whole iterations
NOISE = 0.05
INSTANCES = 10  # with noise
EXACT, NOISY = "exact", "with_noise"
TITLES = {EXACT: "as in Table 1", NOISY: f"phases off by up to {NOISE:.0%}"}
AXIS = "iteration batches"
BY_POLICY, BY_APPLICATION = ("policy", "batches"), ("policy", "application", "batches")


def tucan(settings: ExperimentSettings) -> list[Campaign]:
    """All batches under all list policies, exactly and with noise."""
    batches = {"generate": "tucan", "set": {"batches": BATCHES}}
    document = {
        "version": 1,
        "name": "P3-tucan",
        "workloads": [
            {**batches, "label": EXACT},
            {**batches, "label": NOISY, "noise": NOISE, "seeds": settings.seeds(INSTANCES)},
        ],
        "plans": [{"sharing": list(POLICIES), "bounds": False}],
        "metrics": ["max_stretch", "makespan", "stretch", "completion"],
    }
    return [Campaign.from_document(document)]


class _Runs:
    """The runs of one of the two workloads, by number of batches."""

    def __init__(self, results: Results, label: str) -> None:
        self._results = results
        self._points = {
            f"{point['batches']:g}": place for place, point in enumerate(results.points) if point["workload"] == label
        }

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def of(self, metric: str, batches: str) -> Floats:
        """By instance, policy, and application if the metric has a number for each."""
        found = self._results
        rows = np.flatnonzero(found.point == self._points[batches])
        values = found.table[metric].take(rows).to_pylist()
        shape = next((np.shape(each) for each in values if each is not None), ())
        seeds, place = np.unique(found.seed[rows], return_inverse=True)
        cube = np.full((seeds.size, len(found.plans), *shape), np.nan)
        for instance, plan, value in zip(place.ravel(), found.plan[rows], values, strict=True):
            if value is not None:
                cube[instance, plan] = value
        return cube

    def relative(self, metric: str, batches: str) -> Floats:
        """Over the same with FIFO."""
        values = self.of(metric, batches)
        return values / values[:, [self._results.plans.index(FIFO)]]


Take = Callable[[_Runs, str], Floats]


def _of(metric: str) -> Take:
    return lambda runs, batches: runs.of(metric, batches)


def _relative(metric: str) -> Take:
    return lambda runs, batches: runs.relative(metric, batches)


def _summary(results: Sequence[Results], quantities: Mapping[str, Take]) -> Summary:
    """Every quantity as {policy: {batches: number}} or {policy: {application: {batches: number}}}.

    Exactly at the top; means over instances `with_noise` below.
    """
    (found,) = results
    exact, _ = _numbers(_Runs(found, EXACT), found.plans, quantities)
    noisy, widths = _numbers(_Runs(found, NOISY), found.plans, quantities)
    instances = int(np.unique(found.seed[found.seed > 0]).size)
    return {**exact, NOISY: noisy, "interval": {NOISY: widths}, "instances": instances}


def _numbers(runs: _Runs, plans: Sequence[str], quantities: Mapping[str, Take]) -> tuple[Summary, Summary]:
    means: Summary = {}
    widths: Summary = {}
    for name, take in quantities.items():
        means[name], widths[name] = {plan: {} for plan in plans}, {plan: {} for plan in plans}
        for batches in runs:
            values = take(runs, batches)
            for place, plan in enumerate(plans):
                _note(means[name][plan], widths[name][plan], batches, values[:, place])
    return means, widths


def _note(means: Summary, widths: Summary, batches: str, values: Floats) -> None:
    """Put down the mean of a column, or of each column under the name of its application."""
    if values.ndim > 1:
        for number, column in enumerate(values.T, start=1):
            _note(means.setdefault(f"a{number}", {}), widths.setdefault(f"a{number}", {}), batches, column)
        return
    (interval,) = mean_intervals(values[:, None])
    means[batches], widths[batches] = interval.mean, half_width(interval)


def draw_policies(summary: Summary, quantity: str, y: str) -> Figure:
    """A line for each policy; exactly, and with noise."""
    panels = {TITLES[EXACT]: summary[quantity], TITLES[NOISY]: summary[NOISY][quantity]}
    widths = {TITLES[NOISY]: summary["interval"][NOISY][quantity]}
    shown = {title: _one_after_the_other(curves) for title, curves in panels.items()}
    off = {title: _one_after_the_other(curves) for title, curves in widths.items()}
    return lines(shown, x=AXIS, y=y, widths=off, columns=2, share_y=True)


def draw_applications(summary: Summary, quantity: str, y: str) -> Figure:
    """As in P3: a panel for each policy, and in it a line for each application."""
    panels = {policy: _one_after_the_other(curves) for policy, curves in summary[quantity].items()}
    return lines(panels, x=AXIS, y=y, columns=4, share_y=True)


def _one_after_the_other(curves: Mapping[str, Mapping[str, Any]]) -> Summary:
    """The same with batches as fractions, which a drawing spreads evenly, as they are no decimal numbers."""
    return {name: {str(Fraction(key)): value for key, value in curve.items()} for name, curve in curves.items()}


def _experiment(
    figure: int,
    title: str,
    quantities: Mapping[str, Take],
    draw: Callable[[Summary], Figure],
    states: str,
    levels: tuple[str, ...],
) -> Experiment:
    return Experiment(
        id=f"P3.fig{figure}",
        title=title,
        campaigns=tucan,
        summarise=lambda results: _summary(results, quantities),
        draw=draw,
        states=states,
        levels=levels,
    )


EXPERIMENTS = (
    _experiment(
        5,
        "max stretch of list policies on the Tucan workload, by iteration batches",
        {"max_stretch": _of("max_stretch")},
        lambda summary: draw_policies(summary, "max_stretch", "max stretch"),
        "Longest I/O and shortest remaining are worst, as they starve applications (stretches up to 1.8); several"
        " policies are better than FIFO, those that look at stretch or bandwidth much better.",
        BY_POLICY,
    ),
    _experiment(
        6,
        "makespan of list policies against FIFO on the Tucan workload, by iteration batches",
        {"makespan_ratio": _relative("makespan"), "makespan": _of("makespan")},
        lambda summary: draw_policies(summary, "makespan_ratio", "makespan / that of FIFO"),
        "Longest I/O and shortest remaining are poor. Stretch-oriented, shortest I/O and longest remaining are very"
        " good against FIFO: what helps the maximum stretch helps the makespan too.",
        BY_POLICY,
    ),
    _experiment(
        7,
        "stretch of every application of the Tucan workload under list policies, by iteration batches",
        {"stretch": _of("stretch")},
        lambda summary: draw_applications(summary, "stretch", "stretch"),
        "After some iterations a steady state is reached. Applications 3 and 4 have the largest stretch in general."
        " Under longest I/O and shortest remaining some applications have a stretch close to 1, others one of up to"
        " 1.8.",
        BY_APPLICATION,
    ),
    _experiment(
        8,
        "completion of every application of the Tucan workload against FIFO, by iteration batches",
        {"makespan_ratio": _relative("makespan"), "completion_ratio": _relative("completion")},
        lambda summary: draw_applications(summary, "completion_ratio", "completion / that with FIFO"),
        "Policies that favour the maximum stretch also do well in makespan against FIFO; longest I/O and shortest"
        " remaining do not.",
        BY_APPLICATION,
    ),
)
