"""P4's study of OSTs, the last part of §4.2: the same allocations where profiles are those of storage targets.

P4 takes 301 configurations of IOR on 1 to 8 targets of BeeGFS in PlaFRIM, which it gives to no figure of the paper and
which we do not have. What P4 says of them can be tried with other profiles on 1 to 8 targets: a file of measurements
(`--profiles`), or the built-in ascents, with which the more targets the faster. Sets, loads and placement are those of
figures 4 and 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.campaign import Campaign, Results
from penstock.reproduce.experiment import PROFILES, Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import lines
from penstock.reproduce.p4 import AXIS, BEST, GNC, PLACED, Sets, campaign, pair_name, summary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RISING = "ascent"
NSYS = "nsys"
QUANTITIES = {"mean_io_slowdown": "mean I/O slowdown", "machine_idletime": "machine idle time"}


def campaigns(settings: ExperimentSettings) -> list[Campaign]:
    """Every allocation with the placement that P4 keeps to."""
    pairs = [(allocation, GNC) for allocation in PLACED]
    return [campaign(settings, pairs, name="P4-osts", family=RISING)]


def summarise(results: Sequence[Results]) -> Summary:
    """Slowdown and idle time by load, and the load from which on nsys has less slowdown than best-bandwidth."""
    sets = Sets(results[0])
    quantities = {name: (PLACED, sets.of(name, [pair_name(each, GNC) for each in PLACED])) for name in QUANTITIES}
    summary = summary_of(quantities, sets.tenth, sets.about())
    slowdown = summary["mean_io_slowdown"]
    return summary | {"cut_off": cut_off(slowdown[BEST], slowdown[NSYS])}


def cut_off(one: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """The first load from which on the other is lower; None if it is not at the last.

    >>> cut_off({"0.1": 1.0, "0.3": 3.0, "0.5": 4.0}, {"0.1": 2.0, "0.3": 2.5, "0.5": 3.0})
    0.3
    """
    found = None
    for load in one:
        if other[load] >= one[load]:
            found = None
        elif found is None:
            found = float(load)
    return found


def draw(summary: Summary) -> Figure:
    """Slowdown and idle time, a line for each allocation."""
    panels, widths = (
        {title: part[name] for name, title in QUANTITIES.items()} for part in (summary, summary["interval"])
    )
    return lines(panels, x=AXIS, y=list(QUANTITIES.values()), widths=widths, columns=2)


EXPERIMENTS = (
    Experiment(
        id="P4.osts",
        title="mean I/O slowdown and idle time of all allocations with profiles of storage targets, by load",
        campaigns=campaigns,
        summarise=summarise,
        draw=draw,
        states="With little load best-bandwidth is better than nsys; it degrades quickly as the load grows, and is"
        " overtaken much earlier than with I/O nodes. tcpu matches it where needed. static is excellent here, but not"
        " with I/O nodes, and so not reliable (§4.2, Scheduling of OSTs).",
        levels=("allocation", "load", "end"),
        data=PROFILES,
    ),
)
