"""A whole scenario: the platform, the applications, and the window in which they are watched."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, Self

from pydantic import JsonValue, model_validator

from penstock.kernels.arrays import SAME
from penstock.model.application import Application
from penstock.model.plain import plain
from penstock.model.plan import Plan, problems_with
from penstock.model.platform import Interference, Platform
from penstock.model.problems import Locate, Path, reject
from penstock.model.record import Noise, NotEmpty, Record, Seconds, Seed, Version
from penstock.model.size import check_size
from penstock.model.tabular import Tabular
from penstock.model.units import in_words

MOST_PHASES = 50_000_000


class Window(Record):
    """The run is watched from `begin` and stops at `end` (P1)."""

    begin: Seconds = 0.0
    end: Seconds

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.end <= self.begin:
            text = f"is {self.end:g}; a window ends after it begins, at {self.begin:g}"
            reject("Window", [(("end",), self.end, text)])
        return self


class Scenario(Record, Tabular):
    """All that a run needs to know, bar the policy."""

    version: Version
    platform: Platform
    window: Window | None = None
    seed: Seed = 0
    noise: Noise = 0.0
    applications: Annotated[tuple[Application, ...], NotEmpty]
    plan: Plan | None = None  # what is decided already of the whole machine
    provenance: dict[str, JsonValue] | None = None  # where the numbers come from; no run looks at it

    @classmethod
    def from_document(cls, document: object, where: str = "scenario") -> Scenario:
        """A scenario from a plain document; `where` opens the sentence of an error.

        >>> job = {"name": "a", "phases": [{"compute": "1 min"}, {"write": "3 GB"}]}
        >>> document = {"version": 1, "platform": {"bandwidth": "1 GB/s"}, "applications": [job]}
        >>> Scenario.from_document(document).applications[0].phases
        (Compute(compute=60.0), Write(write=3000000000.0))
        """
        return validated(document, lambda _: where)

    def rows(self) -> list[dict[str, Any]]:
        """One row per application; `phases` is empty for those that go on forever."""
        return [
            {
                "name": each.name,
                "nodes": each.nodes,
                "release": each.release,
                "bandwidth": each.bandwidth,
                "walltime": each.walltime,
                "phases": None if each.endless else len(each.phases),  # of one type: a column of arrow has no other
                "forever": each.endless,
            }
            for each in self.applications
        ]

    def headline(self) -> str:
        """The machine, the window and how many applications."""
        until = f", {in_words(self.window.begin, 's')} to {in_words(self.window.end, 's')}" if self.window else ""
        bandwidth = self.platform.bandwidth
        machine = "resources with bandwidths of their own" if bandwidth is None else in_words(bandwidth, "B/s")
        return f"{len(self.applications):,} applications on {machine}{until}"

    def to_document(self) -> dict[str, Any]:
        """The plain document: bare numbers in base units, defaults left out, nothing shared."""
        document: dict[str, Any] = plain(self)
        return document

    @property
    def by_io_node(self) -> bool:
        """Whether applications go through I/O nodes of their own instead of sharing one bandwidth."""
        return self.applications[0].io_node is not None

    @property
    def shared_bandwidth(self) -> float | None:
        """What one set of sharing applications divides: the platform's bandwidth, or that of an I/O node."""
        nodes = self.platform.io_nodes
        alone = self.platform.bandwidth is None and nodes is not None and nodes.count == 1
        return nodes.bandwidth if nodes and (self.by_io_node or alone) else self.platform.bandwidth

    @property
    def shared_interference(self) -> Interference | None:
        """What those who share that bandwidth leave of it when several move at once; None: all of it."""
        nodes = self.platform.io_nodes
        alone = self.platform.bandwidth is None and nodes is not None and nodes.count == 1
        return nodes.interference if nodes and (self.by_io_node or alone) else self.platform.interference

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Scenario", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        yield from self._name_problems()
        yield from self._io_node_problems()
        for index, application in enumerate(self.applications):
            for key, value, text in self._time_problems(application):
                yield ("applications", index, *key), value, text
        if self.plan is not None:
            for key, value, text in problems_with(self.plan, self):
                yield ("plan", *key), value, text
        count = sum(application.unrolled for application in self.applications)
        if self.window is None and count > MOST_PHASES:
            many = f"{count:,}" if count < 10**15 else f"10^{math.floor(math.log10(count))}"
            yield (), None, f"unrolls to {many} phases; at most {MOST_PHASES:,} without a window"

    def _name_problems(self) -> Iterator[tuple[Path, object, str]]:
        first: dict[str, int] = {}
        for index, application in enumerate(self.applications):
            same = first.setdefault(application.name, index)
            if same != index:
                text = f"is {application.name!r}, already the name of applications[{same}]; names are unique"
                yield ("applications", index, "name"), application.name, text
        buffer = self.platform.burst_buffer
        for name in (buffer and buffer.shares) or ():
            if name not in first:
                yield (
                    ("platform", "burst_buffer", "shares", name),
                    name,
                    "is a share of an application that is not there",
                )

    def _io_node_problems(self) -> Iterator[tuple[Path, object, str]]:
        count = self.platform.io_nodes.count if self.platform.io_nodes else 0
        for index, application in enumerate(self.applications):
            place: Path = ("applications", index, "io_node")
            chosen = application.io_node
            if (chosen is not None) != self.by_io_node:
                text = "is given for some applications only; give it for all, or for none"
                yield place, chosen, text
            elif chosen is not None and chosen >= count:
                accepted = f"the platform has {count}, counted from 0" if count else "the platform has no io_nodes"
                yield place, chosen, f"is {chosen}; {accepted}"

    def _time_problems(self, application: Application) -> Iterator[tuple[Path, object, str]]:
        """What does not fit together of an application's times and the window; places are inside the application."""
        release, progress, walltime = application.release, application.progress, application.walltime
        begin = self.window.begin if self.window else 0.0
        if walltime is not None and release + walltime <= begin:
            text = f"is {walltime:g}; from its release it reaches beyond window.begin, {begin:g}"
            yield ("walltime",), walltime, text
        if self.window is None:
            if application.endless:
                last = ("phases", len(application.phases) - 1, "repeat")
                yield last, None, "is forever without a window; give window.end or a number of repeats"
            if progress:
                yield ("progress",), progress, "is given without a window; it is the progress made at window.begin"
            return
        if release >= self.window.end:
            yield ("release",), release, f"is {release:g}; a release is before window.end, {self.window.end:g}"
        lead = max(0.0, self.window.begin - release)
        if progress and progress > lead * (1 + SAME):
            text = f"is {progress:g}; at most window.begin − release = {lead:g} seconds have passed since its release"
            yield ("progress",), progress, text


def validated(document: object, locate: Locate) -> Scenario:
    """A scenario from a plain document; `locate` says what to print before a place."""
    check_size(document, locate)
    return Scenario.checked(document, locate)
