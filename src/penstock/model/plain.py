"""Records as the plain data of a document: mappings, lists, text and numbers."""

from __future__ import annotations

from typing import Any

from penstock.model.platform import Target
from penstock.model.record import Record
from penstock.model.trace import Trace

_EXACT = 2.0**53  # whole floats below it are written without a dot and read back the same


def plain(value: Any, traces: bool = True) -> Any:
    """The value as a document would hold it, defaults left out, and traces too unless asked for."""
    if isinstance(value, Trace):
        return plain(value.to_list())
    if isinstance(value, Record):
        return _fields(value, traces)
    if isinstance(value, list | tuple):
        return [plain(item, traces) for item in value]
    if isinstance(value, dict):
        return {key: plain(item, traces) for key, item in value.items()}
    whole = isinstance(value, float) and value.is_integer() and value < _EXACT
    return int(value) if whole else value


def _fields(record: Record, traces: bool) -> Any:
    given = {name: getattr(record, name) for name in type(record).model_fields if not record.is_default(name)}
    if isinstance(record, Target) and given.keys() == {"name"}:
        return record.name
    return {name: plain(item, traces) for name, item in given.items() if traces or not isinstance(item, Trace)}
