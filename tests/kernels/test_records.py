"""Records that kernels are handed by their address."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from penstock.kernels.arrays import Floats, FloatTable, Ints
from penstock.kernels.compile import kernel
from penstock.kernels.records import RecordType, by_address


class Inside(NamedTuple):
    """A record in a record."""

    table: FloatTable
    many: int


class Outside(NamedTuple):
    """All kinds of fields."""

    factor: float
    inside: Inside
    amounts: Floats
    places: Ints


@kernel(types.float64(RecordType(Outside)))
def add_up(record: Outside) -> float:
    """Writes to an array, and reads every field."""
    inside = record.inside
    in_all = 0.0
    for place in range(record.places.size):
        record.amounts[record.places[place]] += 1.0
        for column in range(inside.table.shape[1]):
            in_all += record.factor * inside.table[place, column]
    return in_all + inside.many


def test_a_kernel_finds_every_field_and_changes_what_is_in_the_arrays() -> None:
    amounts = np.zeros(4)
    inside = Inside(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), -7)
    record = Outside(0.5, inside, amounts, np.array([3, 1]))
    assert add_up(by_address(record)) == 0.5 * 21.0 - 7.0
    assert amounts.tolist() == [0.0, 1.0, 0.0, 1.0]
