"""From a site to advice: five answers, in the order in which a reader should believe them.

1  can these data answer at all        coverage, grade, days
2  is there contention                 pressure, what is lost, by whom, when
3  which policy                        a group that nobody can tell apart, or why none is named
4  how many targets, 5  a buffer       where the data say anything about them
6  what would change the answer        every unknown at its ends; a verdict must hold at all of them
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from penstock.advise.advice import Advice, Assumption, Data
from penstock.advise.buffers import BufferAnswer, buffer_answer
from penstock.advise.contention import contention, overloaded, pressure_of
from penstock.advise.estimate import DayBlocks, days_of
from penstock.advise.limits import flags, next_steps, not_seen, refusal
from penstock.advise.machine import UNASKED, storage_bandwidth
from penstock.advise.policies import BETTER, IN_USE, TieGroup, answer, candidates
from penstock.advise.runs import AS_PLANNED, Fate, RunRequest, fates
from penstock.advise.sample import DRAWS, GOALS, Goal, Sample, draws, read_both_ways, sample_days, sample_draws
from penstock.advise.sensitivity import Sensitivity, SweptCorners, words
from penstock.advise.site import LoggedSite, site_of_import, site_of_scenario
from penstock.advise.targets import TargetsAnswer, missing, targets_answer
from penstock.advise.unknowns import BANDWIDTH, BURSTS, READINGS, SLACK, corners, star, taken
from penstock.campaign.executor import Executor, executor
from penstock.errors import InvalidOption, PenstockError
from penstock.model import Scenario
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.sharing import find
from penstock.traces import Imported, Options

Progress = Callable[[str, int, int], None]
EXACT = 0.95  # of all bytes
SETTLED, AGREES = 4.0, 0.02  # one slack explains run times so many times better than the other, and by 2 % of them
CORNER_DRAWS = 40  # of jobs, where an unknown is swept: only the sign is asked for


def advise(
    source: ScenarioLike | Imported,
    options: Options | None = None,
    *,
    against: str | None = None,
    goal: str | None = None,
    sharing: Sequence[str] | None = None,
    buffer: bool = True,
    place: Executor | None = None,
    progress: Progress | None = None,
) -> Advice:
    """What to do on a machine, from a scenario or its file, or from what an import found, with the options of that.

    A scenario with a plan, or with resources that need one, is run as a whole machine. `against` is the policy in use
    (without one: the plan's, else fair-share), `goal` is node-hours or min-yield (without one: the first of these in
    which something is better), `sharing` what to choose from. Without `buffer` nothing is said about one, in half the
    time. `place` is an executor of campaigns.
    """
    begun = time.perf_counter()
    if goal is not None and goal not in GOALS:
        raise InvalidOption(f"goal is {goal!r}; accepted: {', '.join(GOALS)}")
    source = source if isinstance(source, Imported) else as_scenario(source)
    in_use = _in_use(source, against)
    policies = candidates([find(each).label for each in sharing] if sharing else None, in_use)
    if len(policies) < 2:
        raise InvalidOption(f"there is only {policies[0]} to choose from; give another policy, too")
    site = site_of_import(source, options or Options()) if isinstance(source, Imported) else site_of_scenario(source)
    aim = next((each for each in GOALS if each == goal), None)
    return _Advising(site, policies, aim, place or executor(), progress).advice(begun, buffer)


def _in_use(source: Scenario | Imported, against: str | None) -> str:
    """The name of the policy that others are compared with."""
    plan = source.plan if isinstance(source, Scenario) else None
    if against is not None or plan is None or plan.sharing is None:
        return find(against or IN_USE).label
    return find(plan.sharing).label if isinstance(plan.sharing, str) else AS_PLANNED


class _Advising:
    """One site on its way to advice."""

    def __init__(
        self, site: LoggedSite, policies: tuple[str, ...], goal: Goal | None, place: Executor, progress: Progress | None
    ) -> None:
        self.policies, self.against, self.goal = policies, policies[0], goal
        self.place, self.progress, self.runs = place, progress, 0
        self.site = self._explaining(site)
        self.scenario = self.site.make(taken(self.site.unknowns))
        self.days = _days(self.scenario)
        self.overloaded = self.days.enough and overloaded(pressure_of(self.site, self.scenario, self.days))
        self.readings = [self.scenario, *self._otherwise()]

    def advice(self, begun: float, buffer: bool) -> Advice:
        """All answers."""
        site, nodes = self.site, self.site.nodes_known
        found = self._samples(self.readings, self.policies, "comparing policies", DRAWS)
        own, sample = found[0][0], read_both_ways([each for _, each in found], self.overloaded)
        tried = answer(sample, self.against, self.goal, nodes)
        swept = self._sweep(tried)
        sensitivity = swept.sensitivities(site.unknowns, taken(site.unknowns))
        why_not: dict[str, str] = {}
        reason = refusal(site) or _depends(tried, swept, sensitivity, site)
        if reason:
            why_not["policy"] = reason
        if not nodes:
            why_not["node_hours"] = "the nodes of most jobs are not known"
        elif self.overloaded:
            why_not["node_hours"] = (
                "more may be asked for than the file system can move: backlogs carry over, and days are no sample"
            )
        return Advice(
            data=self._data(own[self.against]),
            assumptions=_assumptions(site, self.against, self.scenario),
            contention=contention(site, self.scenario, own[self.against], self.days),
            policy=None if reason else tried,
            tried=tried,
            targets=self._targets(why_not),
            buffer=self._buffer(tried, why_not, buffer),
            why_not=why_not,
            sensitivity=sensitivity,
            not_seen=not_seen(site),
            next=next_steps(site, self.days),
            inspected=site.inspected,
            seconds=time.perf_counter() - begun,
            runs=self.runs,
        )

    def _otherwise(self) -> list[Scenario]:
        """The other reading of slack, where bins blur which of them is nearer to the truth."""
        site = self.site
        slack = next((each for each in site.unknowns if each.name == SLACK), None)
        if slack is None or site.share("source", "dxt") >= EXACT:
            return []
        return [site.make({**taken(site.unknowns), SLACK: end}) for end in slack.ends]

    def _explaining(self, site: LoggedSite) -> LoggedSite:
        """The site with the slack under which simulated run times come closest to those observed."""
        slack = next((each for each in site.unknowns if each.name == SLACK), None)
        if slack is None:
            return site
        sites = [site.with_slack(str(end)) for end in (slack.low, slack.high)]
        asked = [RunRequest(each.make(taken(each.unknowns)), (self.against,)) for each in sites]
        found = self._run(asked, "explaining run times")
        errors = [_run_time_error(each, fate[self.against], mean=True) for each, fate in zip(sites, found, strict=True)]
        best, worst = np.argsort([np.inf if error is None else error for error in errors], kind="stable").tolist()
        low, high = errors[best], errors[worst]
        # Bins blur where a burst ends, so only exact times can tell waiting from computing.
        exact = site.share("source", "dxt") >= EXACT
        chosen: LoggedSite = sites[best]
        settled = exact and low is not None and high is not None and high > SETTLED * low + AGREES
        return chosen.without(SLACK) if settled else chosen

    def _run(self, asked: Sequence[RunRequest], what: str) -> list[dict[str, Fate]]:
        self.runs += sum(len(each.policies) for each in asked)
        told = self.progress
        found = fates(asked, self.place, None if told is None else lambda done, total: told(what, done, total))
        # Workers answer in any order; columns keep that of the policies.
        return [{name: each[name] for name in one.policies} for one, each in zip(asked, found, strict=True)]

    def _samples(
        self, scenarios: Sequence[Scenario], policies: tuple[str, ...], what: str, count: int
    ) -> list[tuple[dict[str, Fate], Sample]]:
        """For each scenario how its jobs fared, and what its days, or so many draws of its jobs, say."""
        own = self._run([RunRequest(each, policies) for each in scenarios], what)
        if self.days.enough:
            return [(each, sample_days(each, self.days)) for each in own]
        asked = [RunRequest(drawn, policies) for each in scenarios for drawn in draws(each, count)]
        found = self._run(asked, f"{what}, jobs drawn anew")
        parts = [found[first : first + count] for first in range(0, len(found), count)]
        return [(each, sample_draws(each, part)) for each, part in zip(own, parts, strict=True)]

    def _sweep(self, tried: TieGroup) -> SweptCorners:
        unknowns = self.site.unknowns
        points = [taken(unknowns), *(corner for _, _, corner in star(unknowns)), *corners(unknowns)]
        kept = [point for number, point in enumerate(points) if point not in points[:number]]
        scenarios = [self.site.make(corner) for corner in kept]
        found = self._samples(scenarios, (self.against, tried.of), "sweeping what is unknown", CORNER_DRAWS)
        at = [(corner, sample) for corner, (_, sample) in zip(kept, found, strict=True)]
        spanned = (SLACK,) if len(self.readings) > 1 else ()
        return SweptCorners(tried, at, storage_bandwidth(self.scenario) or 0.0, spanned)

    def _targets(self, why_not: dict[str, str]) -> TargetsAnswer | None:
        reason = missing(self.site.scenario)
        if reason is None and not self.days.enough:
            reason = "an interval needs three days"
        if reason is None:
            try:
                return targets_answer(
                    self.readings, self.days, self.goal, self.site.nodes_known, self.overloaded, self.against
                )
            except PenstockError as error:
                reason = str(error)
        why_not["targets"] = reason
        return None

    def _buffer(self, tried: TieGroup, why_not: dict[str, str], asked: bool) -> BufferAnswer | None:
        reason = refusal(self.site) if asked else "not asked for"
        if reason is None and not self.days.enough:
            reason = "an interval needs three days"
        if reason is None:
            try:
                return buffer_answer(
                    self.readings, self.days, tried.goal, self.site.nodes_known, self.overloaded, self.against
                )
            except PenstockError as error:
                reason = str(error)
        why_not["buffer"] = reason
        return None

    def _data(self, fate: Fate) -> Data:
        site = self.site
        return Data(
            jobs=len(site.rows),
            moving=sum(row.volume > 0 for row in site.rows),
            days=self.days.count,
            by_days=self.days.enough,
            node_hour_coverage=site.coverage,
            grade=site.inspected.grade or None,
            run_time_error=_run_time_error(site, fate),
            flags=flags(site),
        )


def _days(scenario: Scenario) -> DayBlocks:
    begin = scenario.window.begin if scenario.window else 0.0
    starts = np.array([max(begin, each.release) for each in scenario.applications])
    return days_of(starts, scenario.window.end - begin if scenario.window else None)


def _depends(tried: TieGroup, swept: SweptCorners, rows: Sequence[Sensitivity], site: LoggedSite) -> str | None:
    """Why the answer is none, if it hangs on what is unknown."""
    guessed = [row.unknown.name for row in rows if row.unknown.name in READINGS and row.changes_answer]
    if guessed:
        return f"depends on {' and '.join(guessed)}: read otherwise, the same bytes give a gain outside its interval"
    breaking = swept.breaking()
    if tried.verdict != BETTER or not breaking:
        return None
    alone = dict.fromkeys(
        words(corner, site.unknowns)[0] for corner in breaking if len(words(corner, site.unknowns)) == 1
    )
    names = list(alone) or list(dict.fromkeys(name for corner in breaking for name in words(corner, site.unknowns)))
    how = "" if alone else " together"
    return f"depends on {', '.join(names)}{how}: {tried.of} is not better than {tried.against} at every end"


def _run_time_error(site: LoggedSite, fate: Fate, *, mean: bool = False) -> float | None:
    """By how much simulated run times differ from those observed: median, or mean, of jobs that move bytes."""
    pairs = [
        (row.observed_seconds, seconds)
        for row, seconds in zip(site.rows, fate.seconds.tolist(), strict=True)
        if row.observed_seconds and row.volume
    ]
    if not pairs:
        return None
    errors = [abs(simulated - observed) / observed for observed, simulated in pairs]
    return float(np.mean(errors) if mean else np.median(errors))


def _assumptions(site: LoggedSite, against: str, scenario: Scenario) -> tuple[Assumption, ...]:
    origins = {"": "given", "model": "assumed"}
    found = []
    bandwidth = storage_bandwidth(scenario)
    if bandwidth is not None:
        origin = site.inspected.bandwidth_origin
        found.append(Assumption(BANDWIDTH, bandwidth, origins.get(origin, origin)))
    for name, key in (("caps", "bandwidth_origin"), ("nodes", "nodes_origin")):
        told: dict[str, float] = {}
        for row in site.rows:
            told[str(row.facts.get(key) or "")] = told.get(str(row.facts.get(key) or ""), 0.0) + row.volume + 1e-9
        origin = max(told, key=lambda each: told[each])
        share = told[origin] / sum(told.values())
        found.append(Assumption(name, f"{100 * share:.0f} % of the bytes", origins.get(origin, origin)))
    found += [Assumption(name, value, "measured") for name, value in site.settled.items()]
    found += [Assumption(each.name, each.taken, "assumed") for each in site.unknowns if each.name in (SLACK, BURSTS)]
    found.append(Assumption("policy in use", against, "assumed" if against == IN_USE else "given"))
    if scenario.plan is not None:
        plan = (UNASKED, "assumed") if site.unplanned else ("the scenario's", "given")
        found.append(Assumption("plan", *plan))
    return tuple(found)
