"""Kernels, and the pieces that they are made of, as plain Python: a rule can be asked alone, and nothing compiles."""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from penstock.kernels import compile as kernels


def _slice(array: Any, start: int, count: int) -> Any:
    return array[start : start + count]


@cache
def as_python(function: Any) -> Any:
    """The Python of a kernel or a piece, with that of all that it calls; what is divided by 0 is infinite there."""
    own = _copy(function)

    def call(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return own(*arguments)

    return call


@cache
def _copy(function: Any) -> Any:
    if function in (kernels.part, kernels.glance):
        return _slice
    python = kernels.plain(function)
    known = dict(python.__globals__)
    for name in python.__code__.co_names:
        value = known.get(name)
        if hasattr(value, "py_func") or value is kernels.part or value is kernels.glance:
            known[name] = _copy(value)
    return FunctionType(python.__code__, known, python.__name__, python.__defaults__, python.__closure__)
