"""Units of a campaign in chunks of about the same time, so that a message costs little of what it carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from penstock.campaign.units import Unit

AHEAD = 2  # chunks that a worker has, so that it need not wait for the next
LONG = 1.0  # seconds of a unit: against these a wait for the next is nothing, and others may be free earlier
_SLOWNESS = 0.7  # of learning, since units differ


@dataclass(frozen=True)
class Chunk:
    """Units that travel together; `alone` if it is one that was in a chunk whose worker was lost."""

    units: tuple[Unit, ...]
    alone: bool = False

    def apart(self) -> Iterator[Chunk]:
        """Every unit alone, to find out which is to blame."""
        return (Chunk((unit,), alone=True) for unit in self.units)


class Chunks:
    """Draws units as they are needed, as many at a time as take `seconds`, but at the most `most`."""

    def __init__(self, units: Iterator[Unit], seconds: float, most: int) -> None:
        self._units, self._seconds, self._most = units, seconds, most
        self._unit_seconds = seconds

    def draw(self) -> Chunk | None:
        """The next units; None if there are no more."""
        size = max(1, min(self._most, int(self._seconds / self._unit_seconds)))
        units = tuple(islice(self._units, size))
        return Chunk(units) if units else None

    @property
    def ahead(self) -> int:
        """How many chunks a worker should have at a time."""
        return 1 if self._unit_seconds > LONG else AHEAD

    def learn(self, chunk: Chunk, seconds: float) -> None:
        """How long a chunk took."""
        taken = seconds / len(chunk.units)
        self._unit_seconds = max(1e-6, _SLOWNESS * self._unit_seconds + (1.0 - _SLOWNESS) * taken)
