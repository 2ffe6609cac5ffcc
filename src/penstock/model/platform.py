"""The machine: how much the shared storage moves, and what stands in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from penstock.model.problems import Path, reject
from penstock.model.record import Bytes, BytesPerSecond, Count, Efficiency, Name, NotEmpty, Record, Share
from penstock.model.units import Refusal


def _from_one(value: object) -> object:
    """One application alone has the whole capacity."""
    if isinstance(value, list | tuple) and value and value[0] != 1:
        raise Refusal(
            f"begins with {value[0]}; its first entry is 1, what one application alone can use of the capacity"
        )
    return value


# With k applications moving at once a resource has its capacity times the k-th entry; the last is repeated (P3 §1).
Interference = Annotated[tuple[Efficiency, ...], NotEmpty, BeforeValidator(_from_one)]


class IoNodes(Record):
    """I/O nodes, each with its own bandwidth and the compute nodes behind it (P3)."""

    count: Count
    bandwidth: BytesPerSecond
    nodes: Count
    interference: Interference | None = None


class Target(Record):
    """A storage target by name (P4). Without `capacity` it divides its time; with one, so many bytes/s."""

    name: Name
    bandwidth: BytesPerSecond | None = None  # the most that one transfer there can have
    capacity: BytesPerSecond | None = None  # what all transfers there have together
    interference: Interference | None = None


class BurstBuffer(Record):
    """A fast tier in front of the file system (P5); `shares` overrides how it is split among applications."""

    capacity: Bytes
    bandwidth: BytesPerSecond | None = None  # of all that goes into it and comes out of it
    shares: dict[Name, Share] | None = None


def _named(value: object) -> object:
    """A target written as its name alone."""
    return value if isinstance(value, dict | Target) else {"name": value}


def _form(value: object) -> str:
    return "<list>" if isinstance(value, list | tuple) else "<count>"


NamedTarget = Annotated[Target, BeforeValidator(_named, json_schema_input_type=str | Target)]
Targets = Annotated[
    Annotated[Count, Tag("<count>")] | Annotated[tuple[NamedTarget, ...], NotEmpty, Tag("<list>")],
    Discriminator(_form),
]


class Platform(Record):
    """Shared storage of `bandwidth`; every other part is for the commands that need it."""

    bandwidth: BytesPerSecond | None = None
    nodes: Count | None = None
    node_bandwidth: BytesPerSecond | None = None
    io_nodes: IoNodes | None = None
    targets: Targets | None = None
    read_bandwidth: BytesPerSecond | None = None
    write_bandwidth: BytesPerSecond | None = None
    burst_buffer: BurstBuffer | None = None
    interference: Interference | None = None  # of the shared storage

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Platform", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        if not (self.bandwidth or self.read_bandwidth or self.write_bandwidth or self.io_nodes or self.targets):
            text = "has no bandwidth; give one of bandwidth, read_bandwidth, write_bandwidth, io_nodes, targets"
            yield (), self, text
        seen: set[str] = set()
        for index, target in enumerate(self.targets if isinstance(self.targets, tuple) else ()):
            if target.name in seen:
                yield ("targets", index), target, f"is {target.name!r}, the name of an earlier target; names are unique"
            seen.add(target.name)
