"""The study of storage targets, giving them out: by a pair of policies, by every pair, or as a plan says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.errors import InvalidOption, PolicyError
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies import allocation as allocations
from penstock.policies import placement as placements
from penstock.policies.allocation import Allocation
from penstock.policies.placement import Placement
from penstock.policies.sharing import Sharing, find
from penstock.studies.target_words import EXACT
from penstock.studies.targets.arrangement import Arrangement
from penstock.studies.targets.execution import fare
from penstock.studies.targets.measure import measured
from penstock.studies.targets.out_of_service import drained
from penstock.studies.targets.result import Allotment
from penstock.studies.targets.site import Site

Plan = Mapping[str, Sequence[str | int]]
BY_PLAN = "plan"


def allocate(
    scenario: ScenarioLike,
    allocation: str | Allocation | Callable[..., Any] = "tcpu",
    placement: str | Placement | Callable[..., Any] = "greedy-clairvoyant",
    *,
    sharing: str | Sharing | Callable[..., None] = "fair-share",
    knowledge: str = EXACT,
    error: float = 0.0,
    seed: int | None = None,
    plan: Plan | None = None,
    without: str | int | Sequence[str | int] = (),
    interval: str | None = None,
) -> Allotment:
    """Give the applications of `scenario`, or of the file of that name, their targets and run them.

    `allocation` and `placement` are names, Python files or functions; `sharing` divides the time of each target.
    Policies see profiles as `knowledge` says: "exact", "class" (all of a class alike) or "shape" (the class's shape at
    the application's own mean), each value off by up to the part `error`. A `plan` (application → targets, by name or
    place) takes the place of both policies. Targets `without` are then taken out of service, with the fewest moves.
    `seed` is for what is drawn; by default the scenario's. Metrics stop where `interval` says: "first", with the first
    completion (P4), the default where all start together and there is no window; or "all", with the last, or the
    window.

    >>> from penstock import Scenario
    >>> job = {"profile": {1: 1, 2: 2}, "phases": [{"compute": 2}, {"write": 4}]}
    >>> jobs = [{"name": name, **job} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"targets": 2}, "applications": jobs})
    >>> alone, together = allocate(two, "nsys"), allocate(two, "best-bandwidth")
    >>> alone.mean_io_slowdown, together.mean_io_slowdown
    (2.0, 2.0)
    """
    scenario = as_scenario(scenario)
    site, policy = Site(scenario), find(sharing)
    drawn = checked_seed(scenario.seed if seed is None else seed)
    if plan is None:
        how, where = allocations.find(allocation), placements.find(placement)
        arrangement = _decided(site, how, where, knowledge, error, drawn)
        names = {"allocation": how.name, "placement": where.name}
    else:
        site.told(knowledge, error, drawn)  # refused in the same words, though a plan asks nobody
        arrangement = planned(site, plan)
        names = {"allocation": BY_PLAN, "placement": BY_PLAN}
    out = np.unique(site.places(without, "without"))
    if out.size:
        arrangement = drained(site.demand, arrangement, out)
    fared = fare(site, arrangement, policy, interval)
    about = {"sharing": policy.label, "knowledge": knowledge, "error": error, "seed": drawn}
    return measured(site, arrangement, fared, out, **names, **about)


def compare_allotments(
    scenario: ScenarioLike,
    *,
    sharing: str | Sharing | Callable[..., None] = "fair-share",
    knowledge: str = EXACT,
    error: float = 0.0,
    seed: int | None = None,
    interval: str | None = None,
    progress: Callable[[str, float], None] | None = None,
    refused: Callable[[str], None] | None = None,
) -> tuple[Allotment, ...]:
    """Every allocation with every placement. An allocation that says where, too, comes out the same with each.

    An allocation that is not possible here raises, or, if there is a `refused`, tells it why and is left out.
    """
    scenario = as_scenario(scenario)
    site, policy = Site(scenario), find(sharing)
    drawn = checked_seed(scenario.seed if seed is None else seed)
    pairs = [(how, where) for how in allocations.policies() for where in placements.policies()]
    about = {"sharing": policy.label, "knowledge": knowledge, "error": error, "seed": drawn}
    found = []
    for number, (how, where) in enumerate(pairs):
        if progress is not None:
            progress(f"{how.name}, {where.name}", number / len(pairs))
        try:
            arrangement = _decided(site, how, where, knowledge, error, drawn)
        except PolicyError as reason:
            if refused is None:
                raise
            refused(str(reason))
            continue
        fared = fare(site, arrangement, policy, interval)
        found.append(measured(site, arrangement, fared, (), allocation=how.name, placement=where.name, **about))
    return tuple(found)


def checked_seed(seed: int) -> int:
    """A seed that can be used."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidOption(f"seed is {seed!r}; accepted is a whole number ≥ 0")
    return seed


def _decided(
    site: Site, allocation: Allocation, placement: Placement, knowledge: str, error: float, seed: int
) -> Arrangement:
    told, draw = site.told(knowledge, error, seed), np.random.default_rng(seed)
    option, places = allocation.decide(told, draw)
    if places is None:
        places = placement.decide(told, option, draw)
    return Arrangement(option, places)


def planned(site: Site, plan: Plan) -> Arrangement:
    """The arrangement that a plan says."""
    demand = site.demand
    if missing := [name for name in demand.names if name not in plan]:
        raise InvalidOption(f"the plan has no targets for application {missing[0]!r}; it must have some for every one")
    if unknown := [name for name in plan if name not in demand.names]:
        raise InvalidOption(f"the plan has targets for {unknown[0]!r}, which is no application of the scenario")
    option, places = np.empty(len(demand.names), np.int64), []
    for i, name in enumerate(demand.names):
        asked = site.places(plan[name], f"the plan for application {name!r}")
        own = np.unique(asked)
        counts = demand.count[demand.first[i] : demand.first[i + 1]]
        if own.size != asked.size or own.size not in counts:
            raise InvalidOption(
                f"the plan has {asked.size} targets for application {name!r}; it must be different ones, and its "
                f"profile has {', '.join(map(str, counts))}"
            )
        option[i] = demand.first[i] + np.searchsorted(counts, own.size)
        places.append(own)
    return Arrangement(option, np.concatenate(places))
