"""What a compiled function is made of: of two functions with the same recipe, one needs to be compiled.

A policy in a user's file is a new function whenever the file is read, though mostly the same one. Numba makes machine
code of a function's code and of what it finds under the names in it: it takes in numbers and arrays as constants, and
other compiled functions with all that is in them. A recipe has all of this. Of anything else we cannot tell whether it
is still the same, and a function that uses it has no recipe.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

_SIMPLE = (type(None), bool, int, float, complex, str, bytes)
_LASTING = ("builtins", "math", "numba", "numpy", "penstock")  # what they have stays as it is while a process lives
_LARGEST = 1_000_000  # bytes of an array; a larger one, or one in pieces, Numba does not copy but reads where it lies


class _Unknown(Exception):
    """Part of a function is something that may change unseen."""


def recipe(function: Any) -> Hashable | None:
    """What a function, plain or of Numba, compiles from; None if that cannot be told.

    >>> def made(gain):
    ...     return lambda x: gain * x
    >>> recipe(made(2)) == recipe(made(2)), recipe(made(2)) == recipe(made(2.0))
    (True, False)
    """
    try:
        return _of_function(function, ()) if isinstance(function, FunctionType) else _of(function, set(), ())
    except _Unknown:
        return None


def _of_function(function: Any, inside: tuple[Any, ...]) -> Hashable:
    """`inside` are the functions and modules that led here; one may lead to itself."""
    inside = (*inside, function)
    code, scope = function.__code__, function.__globals__
    names = set(_names(code))
    used = tuple((name, _of(scope[name], names, inside)) for name in sorted(names) if name in scope)
    enclosed = tuple(_of(_content(cell), names, inside) for cell in function.__closure__ or ())
    defaults = _of(function.__defaults__, names, inside), _of(function.__kwdefaults__, names, inside)
    return code, code.co_filename, used, enclosed, defaults  # code objects compare by what is in them


def _names(code: CodeType) -> Iterator[str]:
    """Global names and attributes, also of the functions within."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # to be filled later
        raise _Unknown from None


def _of(value: Any, names: set[str], inside: tuple[Any, ...]) -> Hashable:
    """A value that code with these names uses."""
    for depth, each in enumerate(inside):
        if getattr(value, "py_func", value) is each:
            return "the same as", depth
    if type(value) is tuple:
        return tuple, *(_of(each, names, inside) for each in value)
    if isinstance(value, ModuleType):
        return _of_module(value, names, inside)
    if callable(value):
        return _of_callable(value, inside)
    if isinstance(value, np.generic | np.ndarray):
        return _of_array(value)
    return _of_simple(value)


def _of_simple(value: Any) -> Hashable:
    if type(value) not in _SIMPLE:
        raise _Unknown
    return type(value), repr(value)  # 1, 1.0 and True are equal, and so are 0.0 and -0.0


def _of_array(value: Any) -> Hashable:
    whole = value.flags.c_contiguous or value.flags.f_contiguous
    if not whole or value.nbytes > _LARGEST or value.dtype.hasobject:
        raise _Unknown
    return type(value), value.dtype, value.shape, value.strides, value.tobytes()


def _of_callable(value: Any, inside: tuple[Any, ...]) -> Hashable:
    if _lasts(getattr(value, "__module__", None)):
        lasting: Hashable = value
        return lasting
    if not isinstance(value, Dispatcher):
        raise _Unknown
    options = tuple((name, _option(value.targetoptions[name])) for name in sorted(value.targetoptions))
    return options, tuple(value.nopython_signatures), _of_function(value.py_func, inside)


def _option(value: Any) -> Hashable:
    """An option of `njit`; `fastmath` may be a set."""
    return frozenset(value) if isinstance(value, set) else _of_simple(value)


def _of_module(module: ModuleType, names: set[str], inside: tuple[Any, ...]) -> Hashable:
    if _lasts(module.__name__):
        return module
    content = vars(module)
    if "__getattr__" in content:
        raise _Unknown
    inside = (*inside, module)
    return module, tuple((name, _of(content[name], names, inside)) for name in sorted(names) if name in content)


def _lasts(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] in _LASTING
