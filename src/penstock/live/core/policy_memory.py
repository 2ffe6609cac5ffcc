"""The controller keeps what its policy remembers between decisions: numbers per application, on each resource."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import itemgetter

import numpy as np

from penstock.kernels.arrays import Floats


class Memory:
    """`width` numbers for each place of an application, one after the other."""

    def __init__(self) -> None:
        self.width = 0
        self.numbers: dict[str, Floats] = {}

    def copy(self) -> Memory:
        """The same numbers, which change by themselves."""
        made = Memory()
        made.width, made.numbers = self.width, {name: known.copy() for name, known in self.numbers.items()}
        return made

    def of(self, resource: str, width: int, places: int) -> Floats:
        """A copy of what is remembered on a resource, zero where nothing is yet."""
        found = np.zeros(width * places)
        if width == self.width and resource in self.numbers:
            known = self.numbers[resource]
            found[: known.size] = known[: found.size]
        return found

    def change(self, width: int, places: int, changes: Sequence[tuple[str, int, float]]) -> None:
        """Take in the changes of a decision; those of a policy with another width begin anew."""
        if width != self.width:
            self.clear(width)
        for resource, noted in itertools.groupby(changes, key=itemgetter(0)):
            known = self.numbers.get(resource)
            if known is None or known.size < width * places:
                known = self.numbers[resource] = self.of(resource, width, max(16, 2 * places))
            for _, index, number in noted:
                known[index] = number

    def clear(self, width: int = 0) -> None:
        """Forget it all."""
        self.width = width
        self.numbers.clear()

    def keep(self, places: Sequence[int]) -> None:
        """Only these places stay, in this order."""
        for resource, known in self.numbers.items():
            rows = known.reshape(-1, self.width)
            there = [place for place in places if place < len(rows)]
            self.numbers[resource] = rows[there].ravel().copy()
