"""Records that kernels are handed by their address: one argument, however many arrays they have.

A NamedTuple of arrays is for Numba as many arguments as its arrays have fields, seven each. A function that hands on a
hundred arrays is compiled, and called, with seven hundred arguments; by its address a record is one, and a field is
looked up where it is used. What a record consists of never changes, so compiled code looks it up once; what is in its
arrays may change.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, lower_getattr_generic, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array

from penstock.kernels.numba_types import plain_type

_WORD = ir.IntType(64)


class RecordType(types.Type):
    """Numba's type of the address of a record; `places` says with which word each field begins, and its type."""

    def __init__(self, record: Any) -> None:
        self.places: dict[str, tuple[int, types.Type]] = {}
        self.words = 0
        for name, hint in get_type_hints(record, include_extras=True).items():
            kind = record_type(hint) if hasattr(hint, "_fields") else plain_type(hint)
            self.places[name] = self.words, kind
            self.words += kind.words if isinstance(kind, RecordType) else 1 + getattr(kind, "ndim", 0)
        super().__init__(f"record({record.__module__}.{record.__qualname__})")


@cache
def record_type(record: Any) -> RecordType:
    """The type of such records. Numba asks at every call, and to read all hints takes over a millisecond."""
    return RecordType(record)


register_model(RecordType)(models.OpaqueModel)


@infer_getattr
class _Fields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> types.Type | None:  # type: ignore[override]
        """The type of a field."""
        return record.places[name][1] if name in record.places else None


@lower_getattr_generic(RecordType)  # type: ignore[untyped-decorator]
def _field(context: Any, builder: Any, record: RecordType, address: Any, name: str) -> Any:
    """A number, an array, or the address of a record in it."""
    place, kind = record.places[name]
    words = builder.bitcast(address, _WORD.as_pointer())
    at = builder.gep(words, [_WORD(place)])
    if isinstance(kind, RecordType):
        return builder.bitcast(at, address.type)
    if not isinstance(kind, types.Array):
        return _load(builder, builder.bitcast(at, context.get_value_type(kind).as_pointer()))
    array = make_array(kind)(context, builder)
    shape = [_load(builder, builder.gep(at, [_WORD(1 + axis)])) for axis in range(kind.ndim)]
    item = _WORD(8)
    strides = [item] if kind.ndim == 1 else [builder.mul(shape[1], item), item]
    data = builder.inttoptr(_load(builder, at), array.data.type)
    populate_array(array, data, cgutils.pack_array(builder, shape), cgutils.pack_array(builder, strides), item, None)
    return array._getvalue()


def _load(builder: Any, pointer: Any) -> Any:
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


class Record:
    """A NamedTuple of numbers, arrays and such NamedTuples, and where compiled code finds them."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields  # as long as somebody may look them up
        self.words = np.array(_words_of(fields), np.int64)
        self.address = int(self.words.ctypes.data)

    def __getattr__(self, name: str) -> Any:
        """A field, for kernels that run as plain Python."""
        return getattr(self.fields, name)


def _words_of(fields: Any) -> list[int]:
    words: list[int] = []
    for field in fields:
        if isinstance(field, np.ndarray):
            assert field.flags.c_contiguous
            assert field.dtype.itemsize == 8
            words += [field.ctypes.data, *field.shape]
        elif hasattr(field, "_fields"):
            words += _words_of(field)
        else:
            words.append(int(np.float64(field).view(np.int64)) if isinstance(field, float) else int(field))
    return words


def by_address(fields: Any) -> Any:
    """What a kernel is handed; the fields themselves with NUMBA_DISABLE_JIT=1."""
    return fields if numba.config.DISABLE_JIT else Record(fields)  # type: ignore[attr-defined]


@typeof_impl.register(Record)
def _typeof(record: Record, context: Any) -> RecordType:
    kind: Any = type(record.fields)
    return record_type(kind)


@unbox(RecordType)  # type: ignore[untyped-decorator]
def _unbox(kind: RecordType, record: Any, c: Any) -> NativeValue:
    number = c.pyapi.object_getattr_string(record, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, c.context.get_value_type(kind)))
