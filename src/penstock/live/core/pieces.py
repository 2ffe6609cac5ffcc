"""Long looks at the controller in short pieces: everybody's leases wait for a turn, so no turn may wait for a look.

A look is a generator that yields after every piece and returns its answer at the end. Between two pieces the state may
change: each number of an answer was right when it was read, all of them together need not be.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TypeVar

from penstock.live.core.members import App, Member

T = TypeVar("T")
Pieces = Generator[None, None, T]

PIECE = 100  # units of work, of about 2 µs each
GLANCES = 5 * PIECE  # members or applications of which next to nothing is asked that make a piece
DESCRIPTION = 8  # units that it takes to tell of an application or a member in full


class Pace:
    """Says when a piece is long enough."""

    def __init__(self) -> None:
        self._done = 0

    def enough(self, units: int = 1) -> bool:
        """Whether it is, with so many units more."""
        self._done += units
        if self._done < PIECE:
            return False
        self._done = 0
        return True


def whole(pieces: Pieces[T]) -> T:
    """The answer, all at once."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def members_of(apps: Iterable[App], at_once: int = PIECE) -> Iterator[list[Member]]:
    """The members of applications, so many at a time; an application without any counts as one."""
    found: list[Member] = []
    pace = Pace()
    for app in apps:
        found += app.members.values()
        while len(found) >= at_once:
            yield found[:at_once]
            del found[:at_once]
        if not app.members and pace.enough():
            yield []
    yield found
