"""One application's own part of the burst buffer (models §9): what it holds, and how that flows.

What it writes goes in by a flow of the application's own, or straight through; n drains take it out, from one pool.
What it reads is fetched ahead by n flows up to the end of the next read, and taken by a flow of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from .engine import TOLERANCE, Document
from .machine_shares import TIE, Flow, Rates, State, operation

if TYPE_CHECKING:
    from .machine_world import World

EXACT = 1e-12
PACES = ("written", "drained", "fetched", "taken")


@dataclass
class Side:
    """The n flows between the buffer and the targets, one way."""

    owner: str
    flows: list[Flow]
    total: float = 0.0

    def with_port(self, use: float, most: float = inf) -> Side:
        """The same with another cost at the port, and no faster in all than `most`."""
        whole = sum(flow.weight for flow in self.flows)
        flows = []
        for flow in self.flows:
            uses = {
                name: use if name == "buffer" else cost for name, cost in flow.uses.items() if name != "buffer" or use
            }
            peak = min(flow.peak, most * flow.weight / whole)
            flows.append(Flow(flow.owner, uses, peak, flow.weight, flow.siblings))
        return Side(self.owner, flows)


@dataclass
class Pool:
    """Output not yet drained and input not yet read, together no more than `size`."""

    world: World
    app: Document
    size: float
    reads: list[float]
    out: float = 0.0
    fetched: float = 0.0
    consumed: float = 0.0
    horizon: float = 0.0  # nothing is fetched beyond the end of the first read not yet started
    goal: float = 0.0
    # Whether something is there, or missing, is told by events and not by amounts that rounding may make 0.
    full: bool = False
    has_output: bool = False
    has_input: bool = False
    lacks_input: bool = False
    since: float = 0.0  # when output was last there after there was none
    fetching_since: float | None = None
    passing: bool = False  # what it writes passes straight through
    most: float | None = None  # what may be fetched for a full part: no more than leaves it
    pinned: bool = False
    pace: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("written", "drained", "fetched", "taken"), 0.0)
    )
    over: bool = False
    now_sides: list[Side] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.port = self.world.sizes.get("buffer", inf)
        self.crossing = {"buffer": 1.0} if self.port < inf else {}
        self.base = {}
        for direction, name in (("write", "drain"), ("read", "fetch")):
            ways = [(uses | self.crossing, peak) for uses, peak in self.world.ways(self.app, direction, capped=True)]
            owner = f"{self.app['name']}:{name}"
            self.base[direction] = Side(owner, operation(owner, ways, self.world.sizes))
        self.next_read()

    def next_read(self) -> None:
        if self.reads:
            self.horizon += self.reads.pop(0)
            self.lacks_input = True

    @property
    def ahead(self) -> float:
        return self.fetched - self.consumed

    def own_flow(self, kind: str) -> Flow:
        """What the application itself writes into the buffer or takes out of it."""
        peak = min(self.world.cap(self.app, kind), self.port)
        return Flow(self.app["name"], dict(self.crossing), peak, peak)

    def begins(self, kind: str, volume: float, now: float) -> None:
        if kind == "read":
            self.goal = self.consumed + volume
            self.next_read()

    def ends(self, kind: str) -> None:
        if kind == "read":
            self.consumed = self.goal
            self.fetched = max(self.fetched, self.goal) if self.has_input else self.goal
            self.lacks_input = self.fetched < self.horizon
            self.has_input = self.fetched > self.goal
        self.pace |= {"written": 0.0, "taken": 0.0}

    def cut_off(self) -> None:
        """Output still drains; input that was fetched ahead is dropped."""
        self.pace |= {"written": 0.0, "taken": 0.0, "fetched": 0.0}
        self.full = self.full and not self.has_input
        self.has_input = self.lacks_input = False
        self.fetched = self.consumed = self.horizon
        self.over = True

    def ready(self, doing: str, now: float) -> None:
        """Before a decision nobody passes straight through."""
        self.passing, self.most, self.pinned = False, None, False
        self.over = doing in ("done", "cut", "stopped")
        wanted = doing != "away" and not self.over and self.lacks_input
        self.fetching_since = (now if self.fetching_since is None else self.fetching_since) if wanted else None

    def through(self, kind: str) -> bool:
        return self.passing if kind == "write" else not self.has_input

    def sides(self, doing: str, kind: str) -> list[Side]:
        """The flows to and from the targets that there are now."""
        found = []
        writing, reading = doing == "io" and kind == "write", doing == "io" and kind == "read"
        if writing or self.has_output:
            found.append(self.base["write"].with_port(2.0 if writing and self.passing else 1.0))
        may = reading or not self.full or (not writing and self.has_output)
        if doing != "away" and not self.over and self.lacks_input and may:
            straight = reading and not self.has_input
            most = inf if self.most is None else self.most
            found.append(self.base["read"].with_port(0.0 if straight else 1.0, most))
        self.now_sides = found
        return found

    def facts(self, side: Side, posted: float, to_write: float) -> State:
        """When what drains, or is fetched, was posted, and how long it takes alone."""
        whole = sum(flow.weight for flow in side.flows)
        if side.owner.endswith(":drain"):
            return {"posted": self.since if self.has_output else posted, "time_left": (self.out + to_write) / whole}
        since = posted if self.fetching_since is None else self.fetching_since
        return {"posted": since, "time_left": (self.horizon - self.fetched) / whole}

    def granted(self, rates: Rates) -> tuple[float, float]:
        """What drains and what is fetched, in all."""
        totals = {side.owner: sum(rates[flow] for flow in side.flows) for side in self.now_sides}
        name = self.app["name"]
        return totals.get(f"{name}:drain", 0.0), totals.get(f"{name}:fetch", 0.0)

    def violated(self, doing: str, kind: str, own: list[Flow], rates: Rates) -> bool:
        """Whether the answer cannot be, since the part is full or empty; if so it is asked for differently."""
        drained, fetched = self.granted(rates)
        if doing == "io" and kind == "write":
            if self.passing:
                return False
            written = rates[own[0]]
            over = self.full and written > drained * (1 + TIE)
            under = not self.has_output and drained > written * (1 + TIE)
            self.passing = over or under
            return self.passing
        if not self.full or self.most is not None or (doing == "io" and not self.has_input):
            return False
        room = self.leaving(doing, own, rates)
        self.most = room if fetched > room * (1 + TIE) else None
        return self.most is not None

    def leaving(self, doing: str, own: list[Flow], rates: Rates) -> float:
        """How fast bytes leave the part."""
        return self.granted(rates)[0] + (rates[own[0]] if doing == "io" and self.has_input else 0.0)

    def astray(self, doing: str, own: list[Flow], rates: Rates) -> bool:
        """Whether not as much is fetched for a full part as leaves it, though it could be."""
        if self.most is None or self.pinned:
            return False
        fetched, room = self.granted(rates)[1], self.leaving(doing, own, rates)
        grain = 0.1 * EXACT * (fetched + room)
        return fetched > room + grain or (self.most < room - grain and fetched >= self.most - grain)

    def fit(self, doing: str, own: list[Flow], ask: Callable[[], Rates]) -> None:
        """Halve again and again what may be fetched, until as much is fetched as leaves the part meanwhile."""
        low, high = 0.0, sum(flow.peak for flow in self.base["read"].flows)
        while high - low > 1e-16 * high and low < (middle := (low + high) / 2) < high:
            self.most = middle
            rates = ask()
            if self.granted(rates)[1] > self.leaving(doing, own, rates):
                high = middle
            else:
                low = middle
        self.most = low
        self.pinned = self.astray(doing, own, ask())  # a policy changes its mind just there: this is the most

    def rates_of(self, doing: str, kind: str, own: list[Flow], rates: Rates) -> float:
        """Set the pace of everything; what the application itself moves."""
        drained, fetched = self.granted(rates)
        self.pace = {"written": 0.0, "drained": drained, "fetched": fetched, "taken": 0.0}
        if doing != "io":
            return 0.0
        name = "written" if kind == "write" else "taken"
        straight = drained if kind == "write" else fetched
        self.pace[name] = straight if self.through(kind) else rates[own[0]]
        return self.pace[name]

    def paces(self) -> tuple[float, float, float]:
        """How fast output, input and both together grow."""
        out = self.pace["written"] - self.pace["drained"]
        ahead = self.pace["fetched"] - self.pace["taken"]
        return out, ahead, out + ahead

    def changes(self) -> list[tuple[str, float, float]]:
        """What will happen to it as things stand: what, what is missing to it, and how fast that shrinks."""
        out, ahead, both = self.paces()
        whole, found = EXACT * max(self.pace.values()), []
        if self.has_output and -out > whole:
            found.append(("empty", self.out, -out))
        if self.has_input and -ahead > whole:
            found.append(("read up", self.ahead, -ahead))
        if self.lacks_input and self.pace["fetched"] > 0.0:
            found.append(("all fetched", self.horizon - self.fetched, self.pace["fetched"]))
        if not self.full and both > whole:
            found.append(("full", self.size - self.out - self.ahead, both))
        return found

    def settle(self, now: float) -> bool:
        for what, missing, pace in self.changes():
            if missing <= pace * TOLERANCE * now:
                if what == "empty":
                    self.out, self.has_output = 0.0, False
                elif what == "read up":
                    self.consumed, self.has_input = self.fetched, False
                elif what == "all fetched":
                    self.fetched, self.lacks_input = self.horizon, False
                    self.pace["fetched"] = 0.0
                else:
                    self.full = True
                return True
        return False

    def due(self, now: float) -> list[float]:
        return [now + max(0.0, missing) / pace for _, missing, pace in self.changes()]

    def move(self, now: float, seconds: float) -> None:
        out, ahead, both = self.paces()
        whole = EXACT * max(self.pace.values())
        if not self.has_output and out > whole:
            self.has_output, self.since = True, now
        self.has_input |= ahead > whole
        self.full &= both >= -whole
        self.out += out * seconds if self.has_output else 0.0
        self.fetched += self.pace["fetched"] * seconds
        self.consumed = self.consumed + self.pace["taken"] * seconds if self.has_input else self.fetched
