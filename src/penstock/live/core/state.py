"""The state of a controller: applications, members, charges, rows, modes. It changes by records only.

`apply` takes one record at a time. A core makes them and applies them at once; recovery reads them from a journal and
applies them again, and arrives at the same state without asking anybody anything.
"""

from __future__ import annotations

from collections import Counter
from math import inf, nan

from penstock.live.core import apply as applying
from penstock.live.core import records, snapshots
from penstock.live.core.charges import Charges
from penstock.live.core.history import History
from penstock.live.core.losses import Losses
from penstock.live.core.members import App, BatchJob, Member
from penstock.live.core.policy_memory import Memory
from penstock.live.core.resources import Route, Routes
from penstock.live.core.rows import ActiveRows
from penstock.live.core.settings import DIRECTIONS, ControllerSettings
from penstock.live.core.shares import Tree
from penstock.wire import messages as wire

RUN, MONITOR, PAUSED, GRACE, FENCED = "run", "monitor", "paused", "grace", "fenced"


class ControllerState:
    """All that a controller knows. Times inside count from the beginning, which is at `origin` on this boot's clock."""

    def __init__(self, settings: ControllerSettings) -> None:
        self.settings = settings
        self.routes = Routes(settings.resources)
        self.capacity = [resource.capacity for resource in settings.resources]
        self.configured: dict[str, float] = {}
        self.sharing = settings.sharing
        self.configured_sharing = ""
        self.origin = nan
        self.now = 0.0
        self.epoch = 0
        self.rev = 0
        self.chosen = RUN
        self.grace_until = -inf
        self.draining = False
        self.fenced = False
        self.exempt: set[str] = set()
        self.out_of_service: list[str] = []  # resources
        self.apps: dict[int, App] = {}
        self.by_job: dict[tuple[str, int], App] = {}
        self.on_names: dict[tuple[str, int], App] = {}  # the same jobs, by what they do on names
        self.jobs_of: Counter[int] = Counter()  # how many applications every user has
        self.jobs: dict[str, BatchJob] = {}
        self.next_app = 1
        self.next_place = 0
        self.decisions = 0
        self.decided = -inf
        self.failures = 0
        self.last_failure = ""
        self.overrun = ""  # the policy that took too long, and decides no more
        self.rows = ActiveRows(len(self.capacity))
        self.memory = Memory()
        self.losses = Losses()
        self.history = History()
        self.tree = None if settings.shares is None else Tree(settings.shares)
        self.charges = Charges(self.routes, settings.reserve == "strict", settings.machine_nodes)

    def apply(self, t: float, record: wire.Message) -> None:
        """Change by one record, made at `t` on the controller's clock."""
        if isinstance(record, records.Started):
            t = record.clock
            self._set_clock(t)
        self.now = max(self.now, t - self.origin)
        applying.CHANGES[type(record)](self, record)

    def snapshot(self) -> bytes:
        """All of it, as bytes."""
        return snapshots.packed(self)

    @classmethod
    def restore(cls, data: bytes, settings: ControllerSettings) -> ControllerState:
        """A state that was packed; resources are those of `settings`."""
        return snapshots.unpacked(data, cls(settings))

    @property
    def mode(self) -> str:
        """The mode in force: what was chosen, but nothing is raised while leases of another controller may live."""
        if self.fenced:
            return FENCED
        if self.chosen == RUN and self.now < self.grace_until:
            return GRACE
        return self.chosen

    def add(self, app: App) -> None:
        """Somebody new is known."""
        self.apps[app.number] = self.known(app.kind)[app.job, app.uid] = app
        self.jobs_of[app.uid] += 1

    def drop(self, app: App) -> None:
        """Somebody is known no more."""
        del self.apps[app.number], self.known(app.kind)[app.job, app.uid]
        self.losses.remove(app)
        self.jobs_of[app.uid] -= 1

    def known(self, kind: str) -> dict[tuple[str, int], App]:
        """Jobs by name and user, with what they move or do on names."""
        return self.by_job if kind == wire.BYTES else self.on_names

    def is_exempt(self, member: Member) -> bool:
        """Whether somebody goes unpaced: by an operator's word, or because nothing on its node could pace it."""
        return member.app.job in self.exempt or "unpaced" in member.labels

    def members(self) -> list[Member]:
        """All that are known."""
        return [member for app in self.apps.values() for member in app.members.values()]

    def find(self, app: int, member: int) -> Member | None:
        """The member that records call so."""
        known = self.apps.get(app)
        return known.members.get(member) if known else None

    def grantable(self, k: int) -> float:
        """What may be charged on a resource in all; nothing on one that is out of service.

        A strict reserve covers everyone's fallback. Those of members are what they were told when they registered, so
        after a capacity was lowered they may be more than its part.
        """
        settings, capacity = self.settings, self.capacity[k]
        if settings.resources[k].name in self.out_of_service:
            return 0.0
        if settings.reserve != "strict":
            return capacity
        part = capacity * (1.0 - settings.phi)
        return min(part, capacity - self.charges.reserved(k))

    def room(self, k: int) -> float:
        """What nobody is charged with on a resource; below 0 if somebody came back with more than there is."""
        return self.grantable(k) - self.charges.used[k]

    def limit(self, member: Member, most: float | None = None) -> float:
        """The most that a member can use for its operation; `most`: what capacities leave to its route, if known."""
        assert member.op is not None
        most = self.limit_on(member.op.route) if most is None else most
        cap = member.cap if member.op.cap is None else member.op.cap
        return most if cap is None else min(cap, most)

    def able(self, member: Member, most: float | None = None) -> float:
        """The same, and no more than it was seen to need."""
        return min(self.limit(member, most), member.usable)

    def limit_on(self, route: Route, cap: float | None = None) -> float:
        """The most that a cap and the capacities leave to a route."""
        most = min(route.most(self.capacity), wire.MOST_NUMBER)
        return most if cap is None else min(cap, most)

    def fallback(self, member: Member, route: Route) -> float:
        """What a member uses for an operation when nobody tells it a rate.

        One that named no target goes by what it was told for that, wherever its bytes were seen since.
        """
        direction, targets = route.key
        named = self._least(member.fallback, route)
        if not targets or member.app.seen_on.get(direction) != targets:
            return named
        return max(named, self._least(member.fallback, self.routes.find(direction, ())))

    def parts(self, nodes: float, kind: str = wire.BYTES) -> dict[str, float]:
        """What so many nodes may use of each resource of a kind when nobody tells them a rate."""
        part = self.settings.phi * nodes / self.settings.machine_nodes
        named = zip(self.settings.resources, self.capacity, strict=True)
        return {each.name: part * capacity for each, capacity in named if each.kind == kind}

    def operations(self, nodes: float) -> float:
        """Operations on names, a second, that so many nodes may do when nobody tells them; 0: they are not shared."""
        return min(self.parts(nodes, wire.OPERATIONS).values(), default=0.0)

    def told(self, parts: dict[str, float]) -> dict[str, float]:
        """The same by target, as members are told: the least of both directions; "" for one that names no target."""
        ways: dict[str, tuple[str, ...]] = {"": (), **{target: (target,) for target in self.routes.targets}}
        return {name: min(self._within(parts, way, targets) for way in DIRECTIONS) for name, targets in ways.items()}

    def _within(self, parts: dict[str, float], direction: str, targets: tuple[str, ...]) -> float:
        return self._least(parts, self.routes.find(direction, targets))

    def _least(self, parts: dict[str, float], route: Route) -> float:
        resources = [(self.routes.resources[k].name, share) for k, share in route.shares]
        known = [parts[name] / share for name, share in resources if name in parts]
        if resources and not known:
            # It was told when none of them was there: no more than all that there was.
            return sum(parts.values())
        return min(known, default=wire.MOST_NUMBER)

    def _set_clock(self, t: float) -> None:
        # After a reboot the clock begins anew, and the state goes on from where it was.
        if self.origin != self.origin:
            self.origin = t
        elif t - self.origin < self.now:
            self.origin = t - self.now
