"""What an application of a scenario does, one thing after the other: compute for seconds, read or write bytes, repeat.

A phase is written as a mapping with one key, `{compute: 3}`, and a loop as `{repeat: 10, phases: […]}`. The key decides
which record a mapping becomes, so an error speaks of the phase that was written and not of all that it might have been.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from penstock.model.problems import Path, near, reject
from penstock.model.record import Bytes, NotEmpty, Record, Seconds
from penstock.model.units import Refusal, shown, whole

FOREVER: Final = "forever"
DEEPEST = 32  # levels of repeat in repeat


class Compute(Record):
    """Work that no I/O disturbs."""

    compute: Seconds

    @property
    def amount(self) -> float:
        """Seconds."""
        return self.compute


class Read(Record):
    """Bytes from storage; the application waits for them."""

    read: Bytes

    @property
    def amount(self) -> float:
        """Bytes."""
        return self.read


class Write(Record):
    """Bytes to storage; the application waits until they are there."""

    write: Bytes

    @property
    def amount(self) -> float:
        """Bytes."""
        return self.write


def _times(value: object) -> int | str:
    if value == FOREVER:
        return FOREVER
    return whole(value, f'repeat takes a whole number ≥ 1 or "{FOREVER}"')


class Repeat(Record):
    """A loop. An endless one ends its application's list and needs a window to run in."""

    repeat: Annotated[int | Literal["forever"], BeforeValidator(_times)]
    phases: Annotated[tuple[TaggedPhase, ...], NotEmpty]

    @property
    def endless(self) -> bool:
        """Whether it repeats forever."""
        return self.repeat == FOREVER

    # Each of these is asked of the loop around it, so without a memory nested loops would cost a power of their depth.
    @cached_property
    def depth(self) -> int:
        """Levels of repeat, itself included."""
        return 1 + max(phase.depth if isinstance(phase, Repeat) else 0 for phase in self.phases)

    @cached_property
    def unrolled(self) -> int:
        """Phases after unrolling; an endless loop counts one round."""
        return unrolled(self.phases) * (1 if self.repeat == FOREVER else int(self.repeat))

    @cached_property
    def busy(self) -> bool:
        """Whether any phase in it takes time."""
        return busy(self.phases)

    @model_validator(mode="after")
    def _check(self) -> Self:
        reject("Repeat", self._problems())
        return self

    def _problems(self) -> Iterator[tuple[Path, object, str]]:
        if self.depth > DEEPEST:
            yield (), self, f"nests repeat more than {DEEPEST} levels deep; unroll the inner ones"
        if self.endless and not self.busy:
            yield ("repeat",), FOREVER, "is forever, but every phase in it is empty; one must take time"
        for index, phase in enumerate(self.phases):
            if isinstance(phase, Repeat) and phase.endless:
                text = "is forever inside another repeat; forever stands only in an application's own list, as its last"
                yield ("phases", index, "repeat"), FOREVER, text


Phase = Compute | Read | Write | Repeat

KINDS: Final[dict[str, type[Record]]] = {"compute": Compute, "read": Read, "write": Write, "repeat": Repeat}


def _one_key(value: object) -> object:
    """The phase as written, if it says which one it is."""
    accepted = "a phase has exactly one of the keys compute, read, write, repeat"
    if isinstance(value, Record):
        return value
    if not isinstance(value, Mapping):
        raise Refusal(f"is {shown(value)}; {accepted}")
    found = [key for key in KINDS if key in value]
    if len(found) == 1:
        return value
    if found:
        raise Refusal(f"has the keys {' and '.join(found)}; {accepted}")
    hint = near(next(iter(value)), KINDS) if value else ""
    raise Refusal(f"has {_listed(value)}{hint or ';'} {accepted}")


def _listed(keys: Iterable[object]) -> str:
    return f"the key {', '.join(map(str, keys))}" if keys else "no key"


def _tag(value: object) -> str:
    """Which record a phase becomes, by its key."""
    if isinstance(value, Mapping):
        return next(f"<{record.__name__}>" for key, record in KINDS.items() if key in value)
    return f"<{type(value).__name__}>"


TaggedPhase = Annotated[
    Annotated[Compute, Tag("<Compute>")]
    | Annotated[Read, Tag("<Read>")]
    | Annotated[Write, Tag("<Write>")]
    | Annotated[Repeat, Tag("<Repeat>")],
    Discriminator(_tag),
    BeforeValidator(_one_key),
]

Repeat.model_rebuild()


def unrolled(phases: Iterable[Phase]) -> int:
    """How many phases a list is with every loop written out."""
    return sum(phase.unrolled if isinstance(phase, Repeat) else 1 for phase in phases)


def busy(phases: Iterable[Phase]) -> bool:
    """Whether any phase takes time."""
    return any(phase.busy if isinstance(phase, Repeat) else phase.amount > 0 for phase in phases)
