"""A machine under a plan (models §9): its resources, who shares each, and the way of every application through them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

import numpy as np

from .engine import Document, span_of, unroll
from .machine_shares import Shared

Stage = tuple[float, float, str]  # compute seconds, then bytes, in this direction; no bytes: the end


@dataclass
class World:
    """The machine under a plan: its resources, and the way of every application."""

    document: Document
    plan: Document
    resources: dict[str, Shared] = field(default_factory=dict)

    def __post_init__(self) -> None:
        platform, nodes = self.document["platform"], self.document["platform"].get("io_nodes") or {}
        for place in sorted(set((self.plan.get("mapping") or {}).values())):
            self.add(f"io_node:{place}", "io_node", nodes["bandwidth"], nodes.get("interference"))
        self.targets = self.listed_targets() if self.plan.get("placement") else []
        for target in self.targets:
            self.add(target["label"], "target", target.get("capacity") or 1.0, target.get("interference"))
        for direction in ("read", "write"):
            if platform.get(f"{direction}_bandwidth") is not None:
                name = f"file_system:{direction}"
                self.add(name, "link", platform[f"{direction}_bandwidth"], platform.get("interference"))
        if platform.get("bandwidth") is not None and not self.targets:
            self.add("file_system", "link", platform["bandwidth"], platform.get("interference"))
        buffer = platform.get("burst_buffer") or {}
        if buffer.get("bandwidth") is not None and any(self.part_of(app) for app in self.document["applications"]):
            self.add("buffer", "buffer", buffer["bandwidth"], None)
        self.sizes = {name: shared.capacity for name, shared in self.resources.items()}
        self.parts = self.joined()

    def add(self, name: str, kind: str, capacity: float, interference: list[float] | None) -> None:
        table = self.plan.get("sharing") or {}
        table = {"default": table} if isinstance(table, str) or callable(table) else table
        policy = next((table[key] for key in (name, kind, "default") if key in table), "fair-share")
        self.resources[name] = Shared(float(capacity), policy, tuple(interference or [1.0]))

    def listed_targets(self) -> list[Document]:
        listed = self.document["platform"]["targets"]
        listed = [{} for _ in range(listed)] if isinstance(listed, int) else listed
        listed = [{"name": each} if isinstance(each, str) else each for each in listed]
        return [each | {"label": each.get("name", f"target:{place}")} for place, each in enumerate(listed)]

    def part_of(self, app: Document) -> float:
        """Bytes of the buffer that are the application's own."""
        buffer = self.document["platform"].get("burst_buffer") or {}
        shares = (self.plan.get("buffering") or {}).get("shares") or {}
        return float(buffer.get("capacity", 0.0)) * float(shares.get(app["name"], 0.0))

    def cap(self, app: Document, direction: str) -> float:
        """How fast the application itself can go; nothing else of the machine clips it."""
        platform, skew = self.document["platform"], float(app.get("node_skew") or 1.0)
        for own in (app.get(f"{direction}_bandwidth"), app.get("bandwidth")):
            if own is not None:
                return float(own) / skew
        if platform.get("node_bandwidth") is not None:
            return (app.get("nodes") or 1) * float(platform["node_bandwidth"]) / skew
        limits = [shared.capacity for name, shared in self.resources.items() if self.is_way(name, app, direction)]
        return min([size for size in limits if size > 0], default=inf) / skew

    def is_way(self, name: str, app: Document, direction: str) -> bool:
        mapped = (self.plan.get("mapping") or {}).get(app["name"])
        return name in ("file_system", f"file_system:{direction}", f"io_node:{mapped}")

    def ways(self, app: Document, direction: str, capped: bool = False) -> list[tuple[dict[str, float], float]]:
        """What each flow of an operation crosses and how much a unit of rate costs there, and its peak."""
        common = {name: 1.0 for name in self.resources if self.is_way(name, app, direction)}
        if not self.targets:
            return [(common, self.cap(app, direction))]
        places = self.plan["placement"][app["name"]]
        found, skew = [], float(app.get("node_skew") or 1.0)
        for place in places:
            target = self.targets[place]
            whole = app["profile"][len(places)] / skew if app.get("profile") else self.cap(app, direction)
            whole = min(whole, self.cap(app, direction)) if capped else whole
            peak = min(whole / len(places), target.get("bandwidth") or inf)
            found.append((common | {target["label"]: 1.0 if target.get("capacity") else 1.0 / peak}, peak))
        return found

    def joined(self) -> list[set[str]]:
        """Sets of resources that the paths of applications join."""
        found = [{name} for name in self.resources]
        for app in self.document["applications"]:
            path = set().union(*(uses for way in self.directions(app) for uses, _ in self.ways(app, way)))
            path |= {"buffer"} & self.resources.keys() if self.part_of(app) else set()
            joined = [part for part in found if part & path]
            found = [part for part in found if not part & path] + ([set().union(*joined)] if joined else [])
        return found

    def may_use(self, app: Document) -> set[str]:
        """All that is on its way in either direction, whether it ever reads or writes or not."""
        ways = self.ways(app, "read") + self.ways(app, "write")
        return set().union(*(uses for uses, _ in ways)) | ({"buffer"} if self.part_of(app) else set())

    def directions(self, app: Document) -> set[str]:
        """Which of reading and writing it does; one that does neither belongs where it might."""
        body = str(app["phases"])
        return {way for way in ("read", "write") if f"'{way}'" in body} or {"read", "write"}

    def stages(self, index: int) -> Iterator[Stage]:
        """Yield the application as it runs: noise applied, empty phases dropped, neighbouring computes merged."""
        app, noise = self.document["applications"][index], self.document.get("noise") or 0.0
        random = np.random.default_rng([self.document.get("seed") or 0, index])
        _, end = span_of(self.document)
        work = least = 0.0
        for kind, amount in unroll(app["phases"]):
            actual = amount * (1 + random.uniform(-noise, noise)) if noise else float(amount)
            fastest = max(self.cap(app, kind), *(app.get("profile") or {1: 0.0}).values())
            least += actual if kind == "compute" else actual / fastest
            if kind == "compute":
                work += actual
            elif actual > 0:
                yield work, actual, kind
                work = 0.0
            fetched = self.part_of(app) > 0 and kind != "read" and least < 100 * end if end is not None else True
            if end is not None and least > 2 * end and work < 2 * end and not fetched:
                work += 3 * end  # what follows is never reached, nor fetched ahead
            if work > 2 * (end or inf):
                break
        if work > 0:
            yield work, 0.0, ""
