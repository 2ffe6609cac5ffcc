"""One application of a scenario: computes, then moves bytes, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from penstock.model.phases import Phase, Repeat, TaggedPhase, busy, unrolled
from penstock.model.problems import Path, reject
from penstock.model.record import BytesPerSecond, Count, Name, NotEmpty, Place, Record, Seconds, Skew
from penstock.model.trace import Trace, compact
from penstock.model.units import Refusal, shown, whole


def _form(value: object) -> str:
    return "<Trace>" if isinstance(value, Trace) else "<list>"


def _distinct(profile: object) -> object:
    reject("profile", _repeated(profile) if isinstance(profile, dict) else ())
    return profile


def _repeated(profile: dict[object, object]) -> Iterator[tuple[Path, object, str]]:
    """Counts that are there twice once they are numbers; what is no count is refused elsewhere."""
    seen: dict[int, object] = {}
    for key in profile:
        try:
            count = whole(key, "")
        except Refusal:
            continue
        if count in seen:
            yield (count,), key, f"is there twice, as {shown(seen[count])} and as {shown(key)}; give every count once"
        seen.setdefault(count, key)


Profile = Annotated[dict[Count, BytesPerSecond], NotEmpty, BeforeValidator(_distinct)]
Phases = Annotated[
    Annotated[tuple[TaggedPhase, ...], NotEmpty, Tag("<list>")] | Annotated[Trace, Tag("<Trace>")],
    Discriminator(_form),
    BeforeValidator(compact),
]


class Application(Record):
    """Its size, its caps (None: what its nodes can drive), when it starts, and its phases."""

    name: Name
    nodes: Count = 1
    bandwidth: BytesPerSecond | None = None
    read_bandwidth: BytesPerSecond | None = None
    write_bandwidth: BytesPerSecond | None = None
    node_skew: Skew = 1.0  # the slowest node moves that many times the mean, so the cap is that much lower (P1 §3.1.2)
    release: Seconds = 0.0
    walltime: Seconds | None = None  # from the release; what is not finished then is cut off (P1 §3.2.1)
    progress: Seconds | None = None  # ideal progress already made at the window's begin
    io_node: Place | None = None  # which of the platform's I/O nodes it goes through, from 0
    profile: Profile | None = None  # b_j(n) of P4
    phases: Phases

    @property
    def endless(self) -> bool:
        """Whether its phases never end."""
        last = None if isinstance(self.phases, Trace) else self.phases[-1]
        return isinstance(last, Repeat) and last.endless

    @property
    def unrolled(self) -> int:
        """Phases with every loop written out; an endless loop counts one round."""
        return len(self.phases) if isinstance(self.phases, Trace) else unrolled(self.phases)

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Application", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        if self.walltime == 0.0:
            yield ("walltime",), self.walltime, "is 0; a walltime is longer than that"
        if not (self.phases.busy if isinstance(self.phases, Trace) else busy(self.phases)):
            yield ("phases",), None, "has only empty phases; at least one must take time or move bytes"
        listed: tuple[Phase, ...] = () if isinstance(self.phases, Trace) else self.phases
        for index, phase in enumerate(listed[:-1]):
            if isinstance(phase, Repeat) and phase.endless:
                yield ("phases", index, "repeat"), phase, "is forever but not last; nothing after it would ever run"
