"""The operators of a virtual world, and its batch system. They say all that they can say, whenever they like.

Some of it is about jobs that are gone or that never were, and some is nonsense, which must be refused.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from penstock.wire import messages as wire

if TYPE_CHECKING:
    from .world import World

VERBS = ("mode", "capacity", "drain", "policy", "exempt", "evict", "look")
POLICIES = ("fair-share", "fcfs", "greedy-yield", "list-fifo", "set-10", "periodic-fifo", "loss-capped-srpt")
UNKNOWN = 10**6  # no application has this number
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("status", {}),
    ("top", {"idle": True}),
    ("snapshot", {}),
    ("exempt", {}),
    ("mode", {"mode": "sideways"}),
    ("policy", {"name": "whim"}),
    ("capacity", {"resource": "tape", "capacity": 1.0}),
    ("evict", {"job": "nobody"}),
)


class Operators:
    """Those of one world; `troubles` of its plan say how often they do what."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.chance = random.Random(f"{world.plan.seed} operators")
        self._lives: dict[str, int] = {}  # of each job, as the batch system counts them
        self._over: dict[str, set[str]] = {}  # nodes on which it has ended in this life

    def anything(self) -> None:
        """Say something."""
        getattr(self, self.chance.choice(VERBS))()

    def stirred(self) -> None:
        """A controller was started, or somebody cut off or let through: perhaps somebody says something just then."""
        if self.chance.random() < self.world.plan.troubles.stirred:
            self.world.agenda.after(self.chance.choice((0.0, 0.0, 0.5, 5.0)), self.anything)

    def mode(self) -> None:
        """Change the mode; most often it is not left so."""
        mode = self.chance.choice(("enforce", "enforce", "monitor", "pause"))
        self.world.order("mode", {"mode": mode})
        self._later((5.0, 20.0, math.inf), "mode", {"mode": "enforce"})

    def capacity(self) -> None:
        """Change a capacity; it may be far less than those who registered before go by."""
        resource = self.chance.choice(self.world.plan.settings.resources)
        capacity = resource.capacity * self.chance.choice((0.2, 0.5, 0.8, 1.0, 1.0, 1.4))
        self.world.order("capacity", {"resource": resource.name, "capacity": capacity})

    def drain(self) -> None:
        """Let nobody new in, until later."""
        self.world.order("drain", {"on": True})
        self._later((1.0, 10.0), "drain", {"on": False})

    def policy(self) -> None:
        """Decide by another policy."""
        self.world.order("policy", {"name": self.chance.choice(POLICIES)})

    def exempt(self) -> None:
        """Let a job go unpaced, or no more; most often not for long."""
        job = self._job()
        if self.chance.random() < 0.2:
            self.world.order("exempt", {"del": job})
        else:
            self.world.order("exempt", {"add": job})
            self._later((3.0, 15.0, 40.0, math.inf), "exempt", {"del": job})

    def evict(self) -> None:
        """Send a job away, by its name or by the number that its process was told, which may be no more."""
        if self.chance.random() < 0.5:
            self.world.order("evict", {"job": self._job()})
        else:
            self.world.order("evict", {"app": self.chance.choice(self.world.clients).member.app or UNKNOWN})

    def look(self) -> None:
        """Only look, or ask for what there is not."""
        self.world.order(*self.chance.choice(LOOKS))

    def hook(self) -> None:
        """The batch system says that a job begins, is ending, has ended on a node, or that a node is down.

        It says the truth, but may say it late: what it says of an earlier life is no proof of anything.
        """
        world, chance = self.world, self.chance
        kind = chance.choice(("job_start", "job_ending", "job_end", "job_end", "node_down", "late"))
        job = self._job()
        clients = [client for client in world.clients if client.settings.job == job]
        names = tuple(client.settings.labels["node"] for client in clients)
        said: dict[str, Any] = {
            "uid": 1000,
            "nodes": sum(client.settings.nodes for client in clients) or 1,
            "node_names": names,
        }
        life, node = self._lives.get(job, 0), chance.choice(names) if names else "n9"
        if kind == "job_start":
            self._lives[job] = life = life + 1
            self._over[job] = set()
        elif kind == "late":
            kind, life = "job_end", life - 1
        elif kind == "job_end":
            over = self._over.setdefault(job, set())
            over.add(node)
            for client in clients:
                if client.alive and (client.settings.labels["node"] == node or over >= set(names)):
                    client.die()
                    world.agenda.after(chance.choice((0.5, 5.0)), client.born)
        if world.controller.up and life >= 0:
            end: dict[str, Any] = {"node": node} if kind in ("job_end", "node_down") else {}
            world.controller.order("hook", wire.Hook(1, kind, job, restart=life, **said, **end))

    def _job(self) -> str:
        """One that there is or was, or one that nobody comes for."""
        known = self.chance.choice(self.world.clients).settings.job
        return self.chance.choice((*[known] * 9, "nobody"))

    def _later(self, seconds: tuple[float, ...], verb: str, args: dict[str, Any]) -> None:
        self.world.agenda.after(self.chance.choice(seconds), lambda: self.world.order(verb, args))
