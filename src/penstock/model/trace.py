"""A scenario's long lists of phases as columns, one entry per phase, so that millions of them stay small and quick.

A plain list of more than LONG phases without loops is held this way, wherever it comes from; a trace equals the tuple
of the same phases. So a scenario is the same scenario after any round trip, whichever form a file gave it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import GetCoreSchemaHandler
from pydantic_core import core_schema

from penstock.errors import InvalidScenario
from penstock.kernels.arrays import Floats
from penstock.model.phases import Compute, Read, Write
from penstock.model.units import ACCEPTED, Refusal, quantity

COMPUTE: Final = 0
READ: Final = 1
WRITE: Final = 2
LONG = 1_000

KIND_NAMES: Final = ("compute", "read", "write")
AMOUNT_KIND: Final = ("seconds", "bytes", "bytes")
_CODES: Final[dict[object, int]] = {
    "compute": COMPUTE,
    "read": READ,
    "write": WRITE,
    Compute: COMPUTE,
    Read: READ,
    Write: WRITE,
}


class Trace:
    """Phases without loops: what each is (`kind`) and how much of it (`amount`: seconds or bytes). Read-only."""

    __slots__ = ("amount", "kind")

    kind: NDArray[np.int8]
    amount: Floats

    def __init__(self, kind: ArrayLike, amount: ArrayLike) -> None:
        codes = np.asarray(kind)
        if codes.size and not COMPUTE <= codes.min() <= codes.max() <= WRITE:
            raise InvalidScenario("Trace: a kind is 0 (compute), 1 (read) or 2 (write)")
        object.__setattr__(self, "kind", _frozen(codes, np.int8))
        object.__setattr__(self, "amount", _frozen(amount, np.float64))
        if self.kind.ndim != 1 or self.kind.shape != self.amount.shape:
            shapes = f"the shapes {self.kind.shape} and {self.amount.shape}"
            raise InvalidScenario(f"Trace: kind and amount have {shapes}; both are lists of one length")
        bad = first_bad(self.amount)
        if bad is not None:
            accepted = ACCEPTED[AMOUNT_KIND[self.kind[bad]]]
            raise InvalidScenario(f"Trace: amount[{bad}] is {self.amount[bad]}; {accepted}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Trace is frozen: {name} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (self.kind, self.amount)

    def __len__(self) -> int:
        return len(self.kind)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, tuple):
            other = Trace.of(other)
        if not isinstance(other, Trace):
            return NotImplemented
        return np.array_equal(self.kind, other.kind) and np.array_equal(self.amount, other.amount)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Trace({len(self):,} phases)"

    @property
    def busy(self) -> bool:
        """Whether any phase takes time."""
        return bool(self.amount.any())

    @staticmethod
    def of(phases: Iterable[object]) -> Trace | None:
        """Phases, as records or as written in a document, as columns; None if one is a loop or not a phase."""
        kinds: list[int] = []
        amounts: list[float] = []
        for phase in phases:
            if isinstance(phase, dict) and len(phase) == 1:
                ((key, value),) = phase.items()
            else:
                key, value = type(phase), getattr(phase, "amount", None)
            code = _CODES.get(key)
            if code is None:
                return None
            try:
                amounts.append(quantity(value, AMOUNT_KIND[code]))
            except Refusal:
                return None
            kinds.append(code)
        return Trace(kinds, amounts)

    def to_list(self) -> list[dict[str, float]]:
        """The phases as they are written in a document."""
        names = [KIND_NAMES[code] for code in self.kind.tolist()]
        return [{name: amount} for name, amount in zip(names, self.amount.tolist(), strict=True)]

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.is_instance_schema(cls)


def compact(phases: object) -> object:
    """A long plain list as a trace; anything else as it is."""
    if isinstance(phases, list | tuple) and len(phases) > LONG:
        return Trace.of(phases) or phases
    return phases


def first_bad(amount: Floats) -> int | None:
    """Where the first negative, infinite or undefined amount is."""
    bad = ~((amount >= 0) & (amount < np.inf))
    return int(bad.argmax()) if bad.any() else None


def _frozen(values: ArrayLike, dtype: type[np.generic]) -> NDArray[Any]:
    """A read-only array: the same one if nobody can write to it, else a copy."""
    array = np.asarray(values)
    if array.dtype != dtype or array.flags.writeable:
        array = array.astype(dtype)
        array.flags.writeable = False
    return array
