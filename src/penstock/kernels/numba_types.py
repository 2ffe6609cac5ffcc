"""Numba's type of a NamedTuple, from its annotations: what kernels take, written down once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, get_type_hints

from numba import types

from penstock.kernels.arrays import Floats, FloatTable, Ints, IntTable

FLOATS = types.float64[::1]
INTS = types.int64[::1]
SHOWN_FLOATS = types.Array(types.float64, 1, "C", readonly=True)
SHOWN_INTS = types.Array(types.int64, 1, "C", readonly=True)

_PLAIN = {
    bool: types.boolean,
    float: types.float64,
    int: types.int64,
    Floats: FLOATS,
    Ints: INTS,
    FloatTable: types.float64[:, ::1],
    IntTable: types.int64[:, ::1],
}
_READ_ONLY = {Floats: SHOWN_FLOATS, Ints: SHOWN_INTS}


def numba_type(record: Any, read_only: Collection[str] = ()) -> types.NamedTuple | types.NamedUniTuple:
    """The type of a NamedTuple class whose fields are numbers, arrays and NamedTuples of these.

    Arrays named in `read_only` cannot be written to: a kernel that tries does not compile.

    >>> from typing import NamedTuple
    >>> class Pair(NamedTuple):
    ...     size: int
    ...     amount: Floats
    >>> numba_type(Pair)
    Pair(int64, array(float64, 1d, C))
    """
    hints = get_type_hints(record, include_extras=True)
    fields = [_type_of(hints[name], name in read_only) for name in record._fields]
    if len(set(fields)) == 1:  # as Numba itself sees it
        return types.NamedUniTuple(fields[0], len(fields), record)
    return types.NamedTuple(fields, record)


def plain_type(hint: Any) -> types.Type:
    """The type of a number or an array."""
    return _PLAIN[hint]


def _type_of(hint: Any, read_only: bool) -> types.Type:
    if read_only:
        return _READ_ONLY[hint]
    return _PLAIN[hint] if hint in _PLAIN else numba_type(hint)
