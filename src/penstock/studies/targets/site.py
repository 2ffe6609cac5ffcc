"""What a study of targets takes from a scenario: its applications and targets, as policies and the engine need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from penstock.engine.compile import compile_scenario
from penstock.engine.dedicated import dedicated
from penstock.engine.foresight import foresee
from penstock.engine.program import Program
from penstock.engine.tally import tally
from penstock.engine.targets.stripes import efficiencies
from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.model import Application, Scenario, Target
from penstock.policies.allocation.demand import Demand
from penstock.policies.sharing.foresight import Foresight
from penstock.studies.profiles import known
from penstock.studies.target_words import ALL, EXACT, FIRST, check_interval, check_knowledge, places_of, targets_of

_ARRAYS = ("nodes", "start", "compute", "volume", "first", "count", "limit")


class Site:
    """A scenario with targets: its true demand, and what the engine runs."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.targets = targets_of(scenario)
        self.demand = _demand(scenario, self.targets)

    @cached_property
    def program(self) -> Program:
        """The phases, with the noise of the scenario; volumes count a second per byte."""
        window, whole = self.scenario.window, self._whole
        if window is None:
            return whole
        lead = np.maximum(0.0, window.begin - whole.release)
        made = [each.progress for each in self.scenario.applications]
        progress = np.array([lead[i] if own is None else own for i, own in enumerate(made)])
        return whole._replace(begin=window.begin, end=window.end, progress=progress)

    @cached_property
    def _whole(self) -> Program:
        """All phases, whether they fit into the window or not: how far they get is up to the targets."""
        program = compile_scenario(_one_byte_per_second(self.scenario))
        return program._replace(start=starts_of(self.scenario))

    @cached_property
    def foresight(self) -> Foresight:
        """What sharing policies that plan ahead are told, likewise."""
        return foresee(_one_byte_per_second(self.scenario), self._whole)

    @cached_property
    def dedicated(self) -> Floats:
        """Seconds that the phases of each take alone on its n_perf targets, noise included."""
        best = self.demand.bandwidth[self.demand.fastest]
        operations = np.diff(self._whole.first)
        return dedicated(self._whole._replace(limit=np.repeat(best, operations))).listed

    @cached_property
    def deadline(self) -> Floats | None:
        """When applications are cut off by their walltime, infinity if not; None if nobody has one."""
        applications = self.scenario.applications
        if all(each.walltime is None for each in applications):
            return None
        return np.array([np.inf if each.walltime is None else each.release + each.walltime for each in applications])

    @cached_property
    def efficiency(self) -> FloatTable:
        """What targets have to divide with 1, 2, … applications moving; empty if always all of their time."""
        return efficiencies([target.interference for target in self.targets])

    def watched(self, interval: str | None) -> str:
        """Where metrics stop: as asked, or as it suits the scenario."""
        check_interval(interval)
        closed = self.demand.presence.together and self.scenario.window is None
        return interval or (FIRST if closed else ALL)

    def told(self, knowledge: str, error: float, seed: int) -> Demand:
        """The demand as policies see it: with the profiles of classes, or with errors, where that is asked for."""
        check_knowledge(knowledge, error)
        bandwidth = self.demand.bandwidth
        if knowledge != EXACT:
            bandwidth = self._of_classes(knowledge)
        if error:
            draw = np.random.default_rng([seed, len(self.demand.names)])  # not what random policies draw
            bandwidth = bandwidth * (1.0 + draw.uniform(-error, error, bandwidth.size))
        # Copies: what a policy does to them must not change the truth.
        arrays = {name: array.copy() for name, array in vars(self.demand).items() if name in _ARRAYS}
        return replace(self.demand, **(arrays | {"bandwidth": bandwidth.copy()}))

    def _of_classes(self, knowledge: str) -> Floats:
        demand = self.demand
        profiles = {
            name: dict(zip(demand.count[own].tolist(), demand.bandwidth[own].tolist(), strict=True))
            for name, own in zip(demand.names, map(slice, demand.first[:-1], demand.first[1:]), strict=True)
        }
        seen = known(profiles, knowledge)
        return np.array([bandwidth for name in demand.names for bandwidth in seen[name].values()])

    def places(self, asked: str | int | Sequence[str | int], what: str) -> Ints:
        """Places of targets given by name or by place."""
        return np.array(places_of(self.targets, asked, what), dtype=np.int64)


def starts_of(scenario: Scenario) -> Floats:
    """s_i: the release, or the begin of the window if that is later."""
    begin = scenario.window.begin if scenario.window else 0.0
    return np.array([max(begin, application.release) for application in scenario.applications])


def _demand(scenario: Scenario, targets: Sequence[Target]) -> Demand:
    applications, starts = scenario.applications, starts_of(scenario)
    for application in applications:
        if application.endless:
            raise InvalidScenario(
                f"application {application.name!r} goes on forever; targets are given out by what an application does "
                "in all, so give a number of repeats"
            )
    options = [_options(application, len(targets)) for application in applications]
    sums = [tally(application.phases, 1.0, 1.0) for application in applications]
    demand = Demand(
        names=tuple(application.name for application in applications),
        machine=float(scenario.platform.nodes or 0),
        nodes=np.array([application.nodes for application in applications], dtype=np.float64),
        start=starts - starts.min(),
        compute=np.array([each.compute for each in sums]),
        volume=np.array([each.transfer for each in sums]),
        first=np.cumsum([0] + [len(own) for own in options]),
        count=np.array([count for own in options for count in own], dtype=np.int64),
        bandwidth=np.array([bandwidth for own in options for bandwidth in own.values()], dtype=np.float64),
        limit=np.array([target.bandwidth or np.inf for target in targets]),
    )
    _check_times(demand)
    return replace(demand, machine=demand.machine or float(demand.presence.sums(demand.nodes).max()))


def _check_times(demand: Demand) -> None:
    """Refuse volumes and bandwidths whose quotient numbers cannot hold."""
    with np.errstate(all="ignore"):
        seconds = demand.transfer
    moving = demand.volume[demand.owner] > 0.0
    for k in demand.owner[~np.isfinite(seconds) | (moving & (seconds <= 0.0))]:
        raise InvalidScenario(
            f"application {demand.names[k]!r} moves {demand.volume[k]:g} bytes at bandwidths for which that takes no "
            "time, or longer than numbers reach; mind its volumes and its profile"
        )


def _options(application: Application, targets: int) -> dict[int, float]:
    """The profile, by rising count, as far as there are targets; lower where the slowest node has more to move."""
    if application.profile is None:
        raise InvalidScenario(
            f"application {application.name!r} has no profile; targets are given out by its bandwidth on each number "
            "of them, as in profile: {1: 0.5 GB/s, 2: 0.9 GB/s}"
        )
    skew = application.node_skew
    options = {count: bandwidth / skew for count, bandwidth in sorted(application.profile.items()) if count <= targets}
    if not options:
        raise InvalidScenario(
            f"application {application.name!r} uses at least {min(application.profile)} targets by its profile; the "
            f"platform has {targets}"
        )
    return options


_PLAIN = {"bandwidth": 1.0, "node_bandwidth": None, "io_nodes": None, "interference": None}
_CAPS = ("bandwidth", "read_bandwidth", "write_bandwidth", "io_node", "walltime", "progress")
_UNCAPPED: dict[str, float | None] = {**dict.fromkeys(_CAPS), "node_skew": 1.0}


def _one_byte_per_second(scenario: Scenario) -> Scenario:
    """The same phases with a bandwidth of 1: how long a transfer really takes is up to its targets."""
    applications = tuple(_uncapped(application) for application in scenario.applications)
    platform = scenario.platform.model_copy(update=_PLAIN)
    return scenario.model_copy(update={"platform": platform, "applications": applications, "window": None})


def _uncapped(application: Application) -> Application:
    # There may be many, and a copy takes longer than a look.
    if all(getattr(application, name) == value for name, value in _UNCAPPED.items()):
        return application
    return application.model_copy(update=_UNCAPPED)
