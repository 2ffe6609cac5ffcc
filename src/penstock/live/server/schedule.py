"""The controller's capacities by the time of the day: for a file system that is scrubbed at night, or shared by day.

The clock on the wall is looked at every few seconds and never reckoned with: it may be set, and a day may be short.
What comes of it is an order as an operator would give it, which is journalled; so a replay needs no clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

LOOK = 5.0  # seconds


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """From so many minutes after midnight on."""

    minute: int
    capacity: float  # bytes/s


def in_force(steps: Sequence[Step], minute: int) -> Step:
    """The last step until now; before the first of a day, yesterday's last.

    >>> in_force([Step(8 * 60, 80.0), Step(20 * 60, 160.0)], minute=7 * 60).capacity
    160.0
    """
    ordered = sorted(steps)
    return max((step for step in ordered if step.minute <= minute), default=ordered[-1])


def minute_of_the_day() -> int:
    """By the clock on the wall."""
    now = time.localtime()
    return 60 * now.tm_hour + now.tm_min


class CapacitySchedule:
    """Orders what is in force when it changes; what an operator says in between counts until the next step."""

    def __init__(self, order: Callable[[str, float], None], minute: Callable[[], int] = minute_of_the_day) -> None:
        self._order, self._minute = order, minute
        self._steps: Mapping[str, Sequence[Step]] = {}
        self._last: dict[str, Step] = {}

    @property
    def names(self) -> frozenset[str]:
        """The resources that have one."""
        return frozenset(self._steps)

    def use(self, steps: Mapping[str, Sequence[Step]]) -> None:
        """Go by these from now on; those that are as they were are not ordered again."""
        self._last = {name: step for name, step in self._last.items() if steps.get(name) == self._steps.get(name)}
        self._steps = steps
        self.look()

    def look(self) -> None:
        """Order what has changed since the last look."""
        minute = self._minute()
        for name, steps in self._steps.items():
            now = in_force(steps, minute)
            if self._last.get(name) != now:
                self._last[name] = now
                self._order(name, now.capacity)
