"""P3 figures 1 and 9: what is real. Several writers against one (§1), and the simulator against a machine (§6.2.1).

P3 measured both, on PlaFRIM and on the Tucan cluster. Here the machine is a link that processes really contend for,
between two network namespaces; it cannot be brought up wherever this runs, so the figures are those that were kept of
`python -m tests.live.link` (data/link.json says when and how). What the simulator says is computed anew.

Figure 1. P3's three losses are an input of the simulator (`interference`), not a prediction: that it gives them back is
a check and no finding. That one at a time loses nothing is P3's conclusion. The link is a fourth storage.

Figure 9. The applications of Table 1, a fiftieth of the iterations, a quarter of the seconds, half a second apart:
equal ones would otherwise post at one instant, where the simulator goes by their number and a machine by a millisecond.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from penstock.campaign.statistics import mean_intervals
from penstock.model import Application, Compute, Platform, Repeat, Scenario, Write
from penstock.reproduce.experiment import Experiment, ExperimentSettings, Summary
from penstock.reproduce.figures import bars
from penstock.reproduce.means import half_width
from penstock.studies.share import simulate
from penstock.workloads.tucan import TABLE_1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BATCHES, SECONDS, APART = 0.02, 0.25, 0.5
SHARED, ONE_AT_A_TIME = "fair-share", "list-fifo"
MEASURED, SIMULATED, SERIAL = "measured", "simulated, shared", "simulated, one at a time"
SIMULATED_RUN = "simulated"


class UseCase(NamedTuple):
    """What P3 ran at once, and the part of the bandwidth that was lost."""

    instances: int
    gigabytes: float  # of each
    lost: float


# The text says that four ran at a time, the caption of figure 1 that of use case C it was two.
USE_CASES = {"A": UseCase(4, 47.7, 0.02), "B": UseCase(4, 47.7, 0.16), "C": UseCase(2, 1.6, 0.11)}


def kept() -> dict[str, Any]:
    """What was measured on the link."""
    document: dict[str, Any] = json.loads((files("penstock.reproduce") / "data" / "link.json").read_text("utf-8"))
    return document


# ---- figure 1


def degradation(_: ExperimentSettings) -> Summary:
    """What is lost, 1 - Σ BW of several / BW of one: P3's and the simulator's by use case, and that of the link."""
    rows = {f"P3, {name}": _use_case(each) for name, each in USE_CASES.items()}
    measured = kept()
    means, widths = _of_link(measured["unpaced"])
    return {
        "degradation": rows | means,
        "interval": {"degradation": widths},
        "instances": sum(each["writers"] == 1 for each in measured["unpaced"]),
        "notes": [_source(measured)],
    }


def _source(measured: Mapping[str, Any]) -> str:
    return f"figures of the link are kept ones: {measured['about']}"


def _use_case(case: UseCase) -> dict[str, float]:
    loses = [1.0] + [1.0 - case.lost] * (case.instances - 1)
    found = {SIMULATED: _lost(case, loses, SHARED), SERIAL: _lost(case, loses, ONE_AT_A_TIME)}
    return {MEASURED: case.lost} | found


def _lost(case: UseCase, interference: Sequence[float], sharing: str) -> float:
    """What is lost of a storage of 1 GB/s when all instances write at once."""
    jobs = [Application(name=f"i{number}", phases=(Write(write=case.gigabytes),)) for number in range(case.instances)]
    platform = Platform(bandwidth=1.0, interference=tuple(interference))
    makespan = simulate(Scenario(version=1, platform=platform, applications=tuple(jobs)), sharing=sharing).makespan
    assert makespan is not None  # there is no window
    return 1.0 - case.instances * case.gigabytes / makespan


def _of_link(unpaced: Sequence[Mapping[str, Any]]) -> tuple[Summary, Summary]:
    """By number of writers the mean of d over runs, against the mean of one alone, and half the width."""
    totals: dict[int, list[float]] = {}
    for each in unpaced:
        totals.setdefault(each["writers"], []).append(sum(each["rates"]))
    alone = np.mean(totals.pop(1))
    found = {
        f"link, {count}": mean_intervals(1.0 - np.array(rates)[:, None] / alone)[0] for count, rates in totals.items()
    }
    means = {name: {MEASURED: each.mean} for name, each in found.items()}
    return means, {name: {MEASURED: half_width(each)} for name, each in found.items()}


def draw_degradation(summary: Summary) -> Figure:
    """What is lost, by use case."""
    names = (MEASURED, SIMULATED, SERIAL)
    panels, widths = (
        {"": {name: {row: each[name] for row, each in part["degradation"].items() if name in each} for name in names}}
        for part in (summary, summary["interval"])
    )
    return bars(panels, x="", y="part of the bandwidth lost", widths=widths, at=0.0)


# ---- figure 9


def contended(capacity: float, bandwidth: float) -> Scenario:
    """The five applications as they ran: volumes from what the link moves, rates from what the controller divides."""
    applications = []
    for place, (iterations, compute, io) in enumerate(TABLE_1):
        loop = (Compute(compute=compute * SECONDS), Write(write=float(round(io * SECONDS * bandwidth))))
        phases = (Repeat(repeat=round(iterations * BATCHES), phases=loop),)
        applications.append(Application(name=f"a{place + 1}", release=place * APART, bandwidth=capacity, phases=phases))
    return Scenario(version=1, platform=Platform(bandwidth=capacity), applications=tuple(applications))


def simulated(sharing: str, capacity: float, bandwidth: float) -> dict[str, float]:
    """The stretch of every application, against alone on the whole link."""
    run = simulate(contended(capacity, bandwidth), sharing=sharing)
    found = {}
    for place, (each, (iterations, compute, io)) in enumerate(zip(run.applications, TABLE_1, strict=True)):
        assert each.completion is not None  # there is no window
        alone = iterations * BATCHES * SECONDS * (compute + io)
        found[each.name] = (each.completion - place * APART) / alone
    return found


def against_real(_: ExperimentSettings) -> Summary:
    """Stretches by policy and application, simulated and in every run; how far off, and whether the order is kept."""
    found = kept()
    policies = list(dict.fromkeys(run["policy"] for run in found["runs"]))
    summary: Summary = {"stretch": {}, "difference": {}, "largest_difference": {}, "geometric_mean": {}, "load": {}}
    for policy in policies:
        said = simulated(policy, found["capacity"], found["payload"])
        runs = {f"run {place + 1}": run for place, run in enumerate(r for r in found["runs"] if r["policy"] == policy)}
        summary["stretch"][policy] = {SIMULATED_RUN: said} | {name: run["stretch"] for name, run in runs.items()}
        off = {name: {job: run["stretch"][job] / said[job] - 1.0 for job in said} for name, run in runs.items()}
        summary["difference"][policy] = off
        ratios = np.abs(np.log1p([value for each in off.values() for value in each.values()]))
        summary["largest_difference"][policy] = {name: max(each.values(), key=abs) for name, each in off.items()}
        summary["geometric_mean"][policy] = float(np.expm1(ratios.mean()))
        summary["load"][policy] = {name: run["load"] for name, run in runs.items()}
    return summary | {"instances": len(found["runs"]) // len(policies), "notes": [_source(found)]}


def draw_real(summary: Summary) -> Figure:
    """As in P3: simulated beside real, application by application; here for each policy that was run."""
    return bars(summary["stretch"], x="application", y="stretch", at=1.0, share_y=True)


EXPERIMENTS = (
    Experiment(
        id="P3.fig1",
        title="bandwidth lost when several applications write at once: P3's use cases, and a contended link",
        campaigns=lambda settings: [],
        summarise=lambda results: {},
        draw=draw_degradation,
        states="Several applications together lose 2 %, 16 % and 11 % of the bandwidth that one alone has, in use cases"
        " A (each process writes consecutively), B (strided) and C (NAS BTIO) on PlaFRIM's Lustre; it does not always"
        " occur (§1).",
        levels=("storage", "how"),
        without_runs=degradation,
    ),
    Experiment(
        id="P3.fig9",
        title="stretch of every application, simulated and on a contended link, under longest I/O",
        campaigns=lambda settings: [],
        summarise=lambda results: {},
        draw=draw_real,
        states="The order of applications is the same in the simulator and on Tucan; the largest difference at 64"
        " batches is 15 %, the geometric mean less than 5 % (§6.2.1).",
        levels=("policy", "run", "application"),
        without_runs=against_real,
    ),
)
