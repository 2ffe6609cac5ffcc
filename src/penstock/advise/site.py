"""A site as advice sees it: jobs, what is known of them and how well, and the scenario for any choice of unknowns.

From logs every scenario is built anew: another cap moves bursts, another number of bursts cuts them otherwise. Of a
scenario file only numbers can be changed, so what its import decided (slack, bursts) stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from penstock.advise.machine import faster_storage, needs_plan, on_faster_storage, storage_bandwidth, with_unasked_plan
from penstock.advise.unknowns import (
    BANDWIDTH,
    BOUND_CAPS,
    BURSTS,
    CAPS,
    FEW,
    GIVEN_BANDWIDTH,
    MANY,
    MODEL_CAPS,
    SEEN_BANDWIDTH,
    SLACK,
    Corner,
    Unknown,
    Value,
)
from penstock.kernels.arrays import Floats
from penstock.model import Scenario, Trace
from penstock.traces import Imported, Options, Skipped
from penstock.traces.build import rebuilt
from penstock.traces.inspecting import Inspected, InspectedJob, inspect_import, inspect_scenario
from penstock.traces.phases import MODELLED

SOME = 0.05  # of all bytes: what fewer of them have makes no difference


@dataclass(frozen=True)
class LoggedSite:
    """`make` gives the scenario of a choice of unknowns; jobs have the same order in all of them."""

    inspected: Inspected
    scenario: Scenario
    make: Callable[[Corner], Scenario]
    unknowns: tuple[Unknown, ...]
    coverage: float | None  # of node-hours, by jobs whose bytes are known; None: nobody knows
    from_logs: bool
    settled: Mapping[str, Value] = field(default_factory=dict)  # unknowns that the data decided
    unplanned: bool = False  # it needs a plan and has none: what a machine does unasked stands for one

    @property
    def rows(self) -> tuple[InspectedJob, ...]:
        """A row for each job, in the order of the scenario."""
        return self.inspected.rows

    @property
    def volume(self) -> Floats:
        """Bytes of each job."""
        return np.array([row.volume for row in self.rows])

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What could not be read."""
        return self.inspected.skipped

    @property
    def bandwidth_given(self) -> bool:
        """Whether somebody said what the file system can do."""
        return self.inspected.bandwidth_origin in ("", "given", "measured")

    def share(self, key: str, *values: str) -> float:
        """The share of all bytes that jobs have of which a fact is one of these."""
        total = self.volume.sum()
        mine = sum(row.volume for row in self.rows if str(row.facts.get(key) or "") in values)
        return float(mine / total) if total else 0.0

    @property
    def modelled(self) -> float:
        """The share of bytes of which a model says when they moved."""
        return self.share("source", *MODELLED)

    @property
    def nodes_known(self) -> bool:
        """Whether node-hours mean something: nine in ten job-hours have nodes that are not assumed."""
        hours = sum(row.seconds for row in self.rows)
        assumed = sum(row.seconds for row in self.rows if row.facts.get("nodes_origin") == "assumed")
        return assumed <= 0.1 * hours

    def without(self, name: str) -> LoggedSite:
        """The same with an unknown that is not one any more: it stays as it is taken."""
        (known,) = (each for each in self.unknowns if each.name == name)
        left = tuple(each for each in self.unknowns if each.name != name)

        def make(corner: Corner) -> Scenario:
            return self.make({known.name: known.taken, **corner})

        return replace(self, unknowns=left, make=make, settled={**self.settled, known.name: known.taken})

    def with_slack(self, slack: str) -> LoggedSite:
        """The same with another slack taken."""
        swapped = tuple(each._replace(taken=slack) if each.name == SLACK else each for each in self.unknowns)
        return replace(self, unknowns=swapped)


def site_of_import(found: Imported, options: Options) -> LoggedSite:
    """A site whose logs, or tables, have just been read."""
    inspected = inspect_import(found)
    whole = replace(options, anonymise=False)  # who is in it has its pseudonym already
    base = found.scenario.platform.bandwidth or 0.0
    built: dict[tuple[Any, ...], Scenario] = {}

    def make(corner: Corner) -> Scenario:
        key = (corner.get(SLACK, whole.slack), corner.get(BURSTS, whole.bursts), corner.get(CAPS, 1.0))
        if key not in built:
            chosen: dict[str, Any] = dict(zip(("slack", "bursts", "cap_factor"), key, strict=True))
            built[key] = columnar(rebuilt(found, replace(whole, **chosen, bandwidth=whole.bandwidth or base)))
        return scaled(built[key], float(corner.get(BANDWIDTH, 1.0)), 1.0)

    site = LoggedSite(inspected, found.scenario, make, (), found.more.get("node_hour_coverage"), True)
    return replace(site, unknowns=_of_import(site, options))


def site_of_scenario(scenario: Scenario) -> LoggedSite:
    """A site that somebody wrote down, or imported some time ago; of a whole machine, under a plan."""
    unplanned = needs_plan(scenario)
    scenario = with_unasked_plan(scenario)

    def make(corner: Corner) -> Scenario:
        return scaled(columnar(scenario), float(corner.get(BANDWIDTH, 1.0)), float(corner.get(CAPS, 1.0)))

    site = LoggedSite(inspect_scenario(scenario), scenario, make, (), None, False, unplanned=unplanned)
    return replace(site, unknowns=_of_numbers(site))


def scaled(scenario: Scenario, bandwidth: float, caps: float) -> Scenario:
    """The scenario on a faster or slower file system, with applications that can move more or less."""
    platform, applications = scenario.platform, scenario.applications
    if bandwidth != 1.0:
        platform = faster_storage(platform, bandwidth)
        applications = tuple(on_faster_storage(each, bandwidth) for each in applications)
    if caps != 1.0:
        applications = tuple(
            each if each.bandwidth is None else each.model_copy(update={"bandwidth": caps * each.bandwidth})
            for each in applications
        )
    return scenario.model_copy(update={"platform": platform, "applications": applications})


def columnar(scenario: Scenario) -> Scenario:
    """The scenario with phases as columns wherever they have no loops: a hundred times as quick to hand on."""
    applications = tuple(
        each
        if isinstance(each.phases, Trace)
        else each.model_copy(update={"phases": Trace.of(each.phases) or each.phases})
        for each in scenario.applications
    )
    return scenario.model_copy(update={"applications": applications})


def _of_import(site: LoggedSite, options: Options) -> tuple[Unknown, ...]:
    found = list(_of_numbers(site))
    if site.modelled < 1.0 - SOME:
        found.append(Unknown(SLACK, options.slack, "compute", "contention"))
    if site.share("structure", "unknown") > SOME:
        found.append(Unknown(BURSTS, options.bursts, FEW, MANY))
    return tuple(found)


def _of_numbers(site: LoggedSite) -> tuple[Unknown, ...]:
    found = []
    if storage_bandwidth(site.scenario) is not None:
        ends = GIVEN_BANDWIDTH if site.bandwidth_given else SEEN_BANDWIDTH
        found.append(Unknown(BANDWIDTH, 1.0, *ends))
    bound, model = site.share("bandwidth_origin", "lower_bound"), site.share("bandwidth_origin", "model", "assumed")
    if bound + model > SOME:
        found.append(Unknown(CAPS, 1.0, *(BOUND_CAPS if bound >= model else MODEL_CAPS)))
    return tuple(found)
