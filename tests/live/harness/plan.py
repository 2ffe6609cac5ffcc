"""What is chosen before a run: settings, clients, weather and troubles, all from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock.client import member as client_side
from penstock.live.core import ControllerSettings, Resource
from penstock.live.core.shares import Share
from penstock.policies.sharing import Sharing

from .crash import KILL, POWER, WIPE
from .network import Weather, draw_weather
from .operators import VERBS

PING = 10.0
AIMED = 4  # one of so many seeds is a run of restarts on a slow network


@dataclass(frozen=True)
class Troubles:
    """What else may go wrong in one run; times in seconds between two of a kind, on average."""

    partition: float = math.inf
    stop: float = math.inf  # a client is stopped and goes on later
    death: float = math.inf  # of a client
    crash: float = 0.0  # chance per turn of the controller
    crash_at_expiry: float = 0.0  # chance per turn in which it sees a lease run out
    kinds: tuple[str, ...] = (KILL, POWER, WIPE)
    mode: float = math.inf  # an operator changes it
    capacity: float = math.inf  # an operator changes one
    drain: float = math.inf  # an operator lets nobody new in for a while
    policy: float = math.inf  # an operator changes it
    exempt: float = math.inf  # an operator lets a job go unpaced, or no more
    evict: float = math.inf  # an operator sends a job away
    look: float = math.inf  # an operator looks, or says nonsense
    hook: float = math.inf  # the batch system says something
    crash_at_order: float = 0.0  # chance per turn in which an operator changes something
    stirred: float = 0.0  # chance that an operator speaks when a controller starts, or a partition begins or ends


@dataclass(frozen=True)
class Plan:
    """All that is chosen before a run; a function of its seed."""

    seed: int
    settings: ControllerSettings
    policy: Sharing
    weather: Weather
    troubles: Troubles
    clients: tuple[client_side.MemberSettings, ...]
    drift: float  # of the clocks
    seconds: float = 90.0
    routes: tuple[tuple[str, tuple[str, ...]], ...] = (("write", ()),)
    busy: float = 0.6  # how much of its time a client would do I/O, alone
    volume: float = 600.0
    lazy: bool = False  # some operations use little of what is granted to them


def draw_plan(seed: int, policies: Sequence[Sharing], seconds: float = 90.0) -> Plan:
    """Everything from a seed."""
    chance = random.Random(seed)
    policy = chance.choice(list(policies))
    drift = chance.choice((1e-3, 0.05))
    resources, routes = _draw_resources(chance)
    settings = ControllerSettings(
        resources=resources,
        machine_nodes=16,
        sharing=policy.name,
        lease=(lease := chance.choice((4.0, 8.0))),
        beat=lease / 4,
        ping=PING,
        drift=drift,
        pace=chance.choice((0.0, 0.002, 0.1)),
        epsilon=chance.choice((0.0, 0.02)),
        max_wait=30.0,
        reserve=chance.choice(("bounded", "bounded", "strict")),
        forget=chance.choice((3600.0, 3600.0, 20.0)),
    )
    faults = chance.random()
    troubles = Troubles(
        partition=chance.choice((math.inf, 20.0, 60.0)) if faults > 0.2 else math.inf,
        stop=chance.choice((math.inf, 40.0)) if faults > 0.2 else math.inf,
        death=chance.choice((math.inf, 60.0)) if faults > 0.2 else math.inf,
        crash=chance.choice((0.0, 0.01, 0.03)) if faults > 0.2 else 0.0,
        crash_at_expiry=chance.choice((0.0, 0.3)) if faults > 0.2 else 0.0,
        kinds=chance.choice(((KILL,), (KILL, POWER), (KILL, POWER, WIPE))),
        mode=chance.choice((math.inf, math.inf, math.inf, 30.0)),
        capacity=chance.choice((math.inf, math.inf, math.inf, 25.0)),
        drain=chance.choice((math.inf, math.inf, math.inf, 40.0)),
        hook=chance.choice((math.inf, math.inf, math.inf, 20.0)),
    )
    weather = draw_weather(chance) if faults > 0.05 else Weather()
    if seed % AIMED == 1:
        # Where the rules matter most: restarts while messages and acks are under way for longer than a beat.
        slow = chance.choice((0.2, 0.5))
        weather = replace(weather, delay=0.05, slow=slow, slowest=lease, loss=weather.loss / 5)
        troubles = replace(troubles, crash=0.03, crash_at_expiry=0.5, kinds=(KILL, KILL, POWER), partition=20.0)
    troubles = _with_orders(seed, troubles)
    settings = _with_shares(seed, settings)
    return Plan(
        seed, settings, policy, weather, troubles, _draw_clients(chance, settings), drift, seconds, routes,
        busy=chance.choice((0.3, 0.8)), volume=chance.choice((100.0, 600.0)),
        lazy=random.Random(f"{seed} lazy").random() < 0.3,
    )  # fmt: skip


def _with_shares(seed: int, settings: ControllerSettings) -> ControllerSettings:
    """In some runs accounts have shares; drawn apart, so that the others are what they would be without them."""
    chance = random.Random(f"{seed} shares")
    if chance.random() < 0.7:
        return settings
    return replace(settings, shares=(Share("a", None, chance.choice((1.0, 3.0))),))


def _with_orders(seed: int, troubles: Troubles) -> Troubles:
    """Operators who do more, in some runs; drawn apart, so that the others are what they would be without them."""
    chance = random.Random(f"{seed} orders")
    if chance.random() < 0.5:
        return troubles
    often = chance.choice((10.0, 20.0))
    orders: dict[str, Any] = {verb: often * chance.choice((1.0, 1.0, 4.0)) for verb in VERBS if chance.random() < 0.6}
    crash = chance.choice((0.0, 0.2)) if troubles.crash else 0.0
    return replace(troubles, **orders, crash_at_order=crash, stirred=chance.choice((0.0, 0.5)))


def _draw_resources(chance: random.Random) -> tuple[tuple[Resource, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    if chance.random() < 0.7:
        return (Resource("all", 100.0),), (("write", ()), ("read", ()))
    resources = (
        Resource("a", 60.0, target="a"),
        Resource("b-write", 40.0, target="b", direction="write"),
        Resource("b-read", 80.0, target="b", direction="read"),
        Resource("all", 120.0),
    )
    return resources, (("write", ()), ("read", ("b",)), ("write", ("a", "b")), ("write", ("a",)))


def _draw_clients(chance: random.Random, settings: ControllerSettings) -> tuple[client_side.MemberSettings, ...]:
    clients: list[client_side.MemberSettings] = []
    left = settings.machine_nodes
    for number in range(chance.randint(2, 6)):
        nodes = min(chance.randint(1, 4), left)
        if nodes == 0:
            break
        left -= nodes
        clients.append(
            client_side.MemberSettings(
                job=f"job{chance.randint(0, number)}",
                nodes=nodes,
                labels={"node": f"n{number}"},
                cap=chance.choice((None, 20.0, 60.0, 150.0)),
                fallbacks={
                    "": settings.phi / settings.machine_nodes * min(each.capacity for each in settings.resources)
                },
                max_wait=settings.max_wait,
                ping=PING,
                member=number + 1,
                seed=chance.randrange(1 << 30),
            )
        )
    return tuple(clients)


def shares(resources: Sequence[Resource], direction: str, targets: tuple[str, ...]) -> dict[str, float]:
    """How much of an operation's rate falls on each resource, worked out anew and plainly."""
    used = [each for each in resources if each.direction in (None, direction)]
    if not targets and any(each.name == "unknown" for each in resources):
        targets = ("unknown",)
    used = [each for each in used if each.target is None or not targets or each.target in targets]
    parts = len({each.target for each in used if each.target is not None})
    return {each.name: 1.0 if each.target is None else 1.0 / parts for each in used}
