"""The search for the shortest exclusive schedule: the Python face of `penstock optimum`.

Begin with the best of the exclusive orders. Then, until the makespan equals the bound or time is up, look at the states
(quick where there are few applications) and let the solver work (better where there are many), in turn and ever longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from penstock.engine.program import Program
from penstock.errors import InvalidOption
from penstock.metrics.result import Result
from penstock.model.load import ScenarioLike, as_scenario
from penstock.model.needs import need_completion
from penstock.policies.sharing.catalogue import NAMES, find
from penstock.policies.sharing.follow import in_order
from penstock.studies.optimum.chains import Order, bicolored, by_posting, complete, lower_bound, starts
from penstock.studies.optimum.integers import whole
from penstock.studies.optimum.result import Heuristic, Optimum
from penstock.studies.optimum.solver import MOST_FOR_SOLVER, need_solver, solve
from penstock.studies.optimum.states import GAVE_UP, MOST_APPLICATIONS, FoundSchedule, explore
from penstock.studies.schedules import schedule_of
from penstock.studies.share import compare, simulate
from penstock.studies.study import Study

Progress = Callable[[float, float], None]  # (best makespan, bound), in seconds

ORDERS = (
    *(name for name in NAMES if name.startswith("list-")),
    "periodic-fifo",
    "periodic-johnson",
    "periodic-most-remaining",
    "hierarchical-round-robin",
)
MOST_OPERATIONS = 20_000  # beyond, even the narrowest walk through the states takes longer than anyone waits
# How many states are kept, or 0 for the solver, and the share of the time that this may take.
_STAGES = ((100, 1 / 8), (1_000, 1 / 8), (0, 1 / 20), (10_000, 1 / 4), (100_000, 1 / 2), (0, 1.0))


def optimum(scenario: ScenarioLike, time_limit: float = 60.0, *, progress: Progress | None = None) -> Optimum:
    """The shortest schedule of `scenario` with one operation at a time and none interrupted (MS-HPC-IO, P2 §2.3).

    Noise is applied: it is the optimum of what really runs. The search takes at most `time_limit` seconds; it tells the
    best makespan and a bound that no such schedule beats, which are equal if the optimum is proved.

    >>> from penstock import Scenario, optimum
    >>> jobs = [{"name": "a", "phases": [{"write": 4}]}, {"name": "b", "phases": [{"compute": 1}, {"write": 1}]}]
    >>> jobs[1]["phases"].append({"compute": 4})
    >>> two = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    >>> best = optimum(two)
    >>> best.makespan, best.optimal, best.schedule.order
    (6.0, True, ('b', 'a'))
    """
    need_solver()
    if not isinstance(time_limit, int | float) or not time_limit >= 0.0:
        raise InvalidOption(f"the time limit is {time_limit!r}; accepted is a number of seconds ≥ 0")
    scenario = as_scenario(scenario).model_copy(update={"plan": None})  # it is about one bandwidth
    need_completion(scenario)
    orders = [find(name) for name in ORDERS]  # compiled, perhaps: not part of the search
    begun = time.monotonic()
    deadline = begun + time_limit
    runs = compare(scenario, orders, timeline=True)
    study = Study(scenario)
    origin = float(study.program.start.min())
    searches = [_Search(part.program, origin, runs, progress) for part in study.parts]
    for search in sorted(searches, key=lambda each: each.makespan, reverse=True):
        # The longest I/O node first: what ends before its bound need not be any better.
        search.improve(deadline, max(each.bound for each in searches))
    first = min(runs, key=_makespan)
    bound = max(search.bound for search in searches)
    order = [name for search in searches for name in search.names]
    return Optimum(
        makespan=origin + max(search.makespan for search in searches),
        bound=origin + bound,
        start=origin,
        seconds=time.monotonic() - begun,
        heuristic=Heuristic(first.sharing, _makespan(first)),
        rounding=max(search.rounding for search in searches),
        too_large=any(search.too_large for search in searches if search.makespan > bound),
        run=simulate(scenario, in_order(order, "optimum"), timeline=True),
    )


def _makespan(run: Result) -> float:
    assert run.makespan is not None
    return run.makespan


class _Search:
    """The best schedule so far of applications that share one bandwidth.

    Makespans and bounds here are in seconds from `origin`, the earliest start of all: calendar time would leave few
    digits for the run itself.
    """

    def __init__(self, program: Program, origin: float, runs: Sequence[Result], progress: Progress | None) -> None:
        self.program, self.origin, self.progress = program, origin, progress
        self.chains = bicolored(program, origin)
        self.order: Order = ()
        self.makespan = float("inf")
        self.too_large = False
        orders = self._orders(runs)
        horizon = min(starts(self.chains, order)[1] for order in orders)
        self.whole = whole(self.chains, horizon)
        self.least = lower_bound(self.whole.chains)
        for order in orders:
            self._take(FoundSchedule(order, self.least))

    @property
    def names(self) -> list[str]:
        """Whose operation is served when."""
        return [self.program.names[i] for i in self.order]

    @property
    def bound(self) -> float:
        """No schedule ends before."""
        return min(self.makespan, self.whole.seconds(self.least))

    @property
    def rounding(self) -> float:
        """To what durations were rounded, 0 if not at all."""
        return 0.0 if self.whole.exact else float(self.whole.unit)

    def improve(self, deadline: float, enough: float) -> None:
        """Look for better schedules and bounds until the makespan is `enough`, or proved optimal, or time is up."""
        total = deadline - time.monotonic()
        solvable = len(self.order) <= MOST_FOR_SOLVER
        walkable = few = len(self.chains) <= MOST_APPLICATIONS and len(self.order) <= MOST_OPERATIONS
        for width, share in _STAGES:
            # A walk leaves time to the solver, if that can make use of it.
            stop = min(deadline, time.monotonic() + share * total) if solvable else deadline
            if self._units() <= self.least or self.makespan <= enough or time.monotonic() >= stop:
                break
            if width == 0 and solvable:
                self._take(solve(self.whole.chains, self.order, self.least, stop, self._report))
            elif width and walkable:
                found = explore(self.whole.chains, self._units(), width, stop, self._report_again)
                self._take(found)
                walkable = found != GAVE_UP  # a wider walk would come no further
        unproved = self._units() > self.least
        self.too_large = unproved and not solvable and (not few or time.monotonic() < deadline)

    def _take(self, found: FoundSchedule) -> None:
        """Keep what is better."""
        self.least = max(self.least, found.bound)
        if found.order is not None:
            units = starts(self.whole.chains, found.order)[1]
            makespan = self.whole.seconds(units) if self.whole.exact else starts(self.chains, found.order)[1]
            if makespan < self.makespan:
                self.order, self.makespan = found.order, makespan
        self._report_again()

    def _units(self) -> int:
        return starts(self.whole.chains, self.order)[1]

    def _report_again(self) -> None:
        self._report(self._units(), self.least)

    def _report(self, makespan: int, bound: int) -> None:
        if self.progress:
            self.progress(self.origin + self.whole.seconds(makespan), self.origin + self.whole.seconds(bound))

    def _orders(self, runs: Sequence[Result]) -> list[Order]:
        """The orders that runs kept to, if any is of use: one without some operation is of no schedule."""
        found = (self._order_of(run) for run in runs)
        return [order for order in found if complete(self.chains, order)] or [by_posting(self.chains)]

    def _order_of(self, run: Result) -> Order:
        """In which order a run served the applications of this search."""
        assert run.timeline is not None
        place = {name: i for i, name in enumerate(self.program.names)}
        return tuple(place[name] for name in schedule_of(run.timeline).order if name in place)
