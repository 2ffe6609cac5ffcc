"""Pieces of kernels: helpers that kernels call, compiled with the kernel that they become part of.

Numba makes a library of every compiled function: with all that it calls, optimised and made machine code. For helpers
that call helpers that is the same work again and again, most of the time that a large kernel takes to compile, and
nobody ever runs what comes out of it. A piece is typed and lowered, and no more; the kernel's library has the rest.
Where Python calls a piece, its Python function runs, and nothing is compiled.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

F = TypeVar("F", bound=Callable[..., Any])

# How Python calls a compiled function: its environment, its arguments, and those by name, of which there are none.
_CALL = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)


class _Quiet:
    """Stands for what makes machine code, where a library tells it the environment of a function that has none."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing is there that could have one."""


class _PieceLibrary(JITCodeLibrary):
    """Code to be linked into kernels. Should Python call it, the Python function runs."""

    def __init__(self, codegen: Any, function: Callable[..., Any]) -> None:
        super().__init__(codegen, function.__qualname__)  # type: ignore[no-untyped-call]
        self._plain = _CALL(lambda environment, arguments, named: function(*arguments))

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._verify_declare_only_symbols()  # type: ignore[no-untyped-call]
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """What Python calls."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return ctypes.cast(self._plain, ctypes.c_void_p).value or 0

    @property
    def codegen(self) -> Any:
        """What its compiler hands the environment to."""
        return _Quiet()


class _PieceCompiler(Compiler):
    def compile_extra(self, func: Any) -> Any:
        self.state.library = _PieceLibrary(self.state.targetctx.codegen(), func)
        return super().compile_extra(func)  # type: ignore[no-untyped-call]


class _Piece(CPUDispatcher):
    """Compiled for kernels only."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """From Python: not worth typing and lowering, for what would run is the same."""
        return self.py_func(*arguments, **named)


def piece(function: F, **options: Any) -> F:
    """Compile a helper whenever a kernel that calls it is compiled, as part of it."""
    options |= {"pipeline_class": _PieceCompiler, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    made = numba.njit(**options)(function)
    if isinstance(made, CPUDispatcher):  # else NUMBA_DISABLE_JIT=1 is set
        made.__class__ = _Piece
    return made  # type: ignore[no-any-return]
