"""A schema from examples of a value, and from the type that it was made from as far as there is one."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

Schema = dict[str, Any]


class Every(NamedTuple):
    """A hint: an object with any keys, whose values are all alike."""

    value: Any


_PLAIN: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", Path: "string"}


class With(NamedTuple):
    """A hint: a class, and what some keys are that it prints otherwise than it has them."""

    kind: type
    hints: dict[str, Any]


def derive(hint: Any, samples: Sequence[Any]) -> Schema:
    """What a value may be: as its type says, and as it was."""
    known = [sample for sample in samples if sample is not None]
    options = [each for each in _options(hint) if each is not type(None)]
    null = type(None) in _options(hint) or len(known) < len(samples)
    if hint is object or not (options or known):
        return {}  # anything; or never seen, and nobody says what it is
    return _any_of([_one(each, known) for each in options] or [_seen(known)], null)


def _options(hint: Any) -> tuple[Any, ...]:
    """The types of a union, or the one that there is; none if nothing is known."""
    if get_origin(hint) in (Union, types.UnionType):
        return get_args(hint)
    return () if hint is None or hint is Any else (hint,)


def _any_of(schemas: list[Schema], null: bool) -> Schema:
    if all(set(each) == {"type"} for each in schemas):
        names = list(dict.fromkeys([*(each["type"] for each in schemas), *(["null"] if null else [])]))
        return {"type": names[0] if len(names) == 1 else names}
    found = [*schemas, *([{"type": "null"}] if null else [])]
    return found[0] if len(found) == 1 else {"anyOf": found}


def _one(hint: Any, samples: Sequence[Any]) -> Schema:
    """By one type, none of whose values is null."""
    if isinstance(hint, Every):
        return _map(hint.value, samples)
    if isinstance(hint, list):
        return _array(hint[0], samples)
    if isinstance(hint, dict | With) or (_is_record(hint) and (not samples or _all_maps(samples))):
        return _record(hint, samples)
    if get_origin(hint) is not None:
        return _generic(get_origin(hint), get_args(hint), samples)
    return {"type": _PLAIN[hint]} if hint in _PLAIN else _seen(samples)


def _generic(origin: Any, arguments: tuple[Any, ...], samples: Sequence[Any]) -> Schema:
    """By a type with types in brackets. What is a sequence in the code may be printed by name."""
    if origin is Literal:
        return {"enum": list(arguments)}
    if not (isinstance(origin, type) and issubclass(origin, Iterable)):
        return _seen(samples)
    if issubclass(origin, Mapping) or _all_maps(samples):
        return _map(arguments[-1] if issubclass(origin, Mapping) else arguments[0], samples)
    return _array(arguments[0], samples)


def _seen(samples: Sequence[Any]) -> Schema:
    """By what was seen alone."""
    if _all_maps(samples):
        return _record(None, samples)
    if samples and all(isinstance(sample, list) for sample in samples):
        return _array(None, samples)
    names = list(dict.fromkeys(_PLAIN[type(sample)] for sample in samples if type(sample) in _PLAIN))
    if "number" in names and "integer" in names:
        names.remove("integer")
    return {} if not names else {"type": names[0] if len(names) == 1 else names}


def _array(item: Any, samples: Sequence[Any]) -> Schema:
    return {
        "type": "array",
        "items": derive(item, [each for sample in samples if isinstance(sample, list) for each in sample]),
    }


def _map(value: Any, samples: Sequence[Any]) -> Schema:
    values = [each for sample in samples if isinstance(sample, Mapping) for each in sample.values()]
    return {"type": "object", "additionalProperties": derive(value, values)}


def _record(kind: Any, samples: Sequence[Mapping[str, Any]]) -> Schema:
    if isinstance(kind, With):
        hints, kind = hints_of(kind.kind) | kind.hints, kind.kind
    else:
        hints = kind if isinstance(kind, dict) else hints_of(kind)
    keys = list(dict.fromkeys(key for sample in samples for key in sample)) or [key.rstrip("_") for key in hints]
    properties = {
        key: derive(hints.get(key, hints.get(f"{key}_")), [sample[key] for sample in samples if key in sample])
        for key in keys
    }
    required = [key for key in keys if all(key in sample for sample in samples)]
    described = {"description": said} if (said := _first_sentence(kind)) else {}
    return {
        "type": "object",
        **described,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _all_maps(samples: Sequence[Any]) -> bool:
    return bool(samples) and all(isinstance(sample, Mapping) for sample in samples)


def _is_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or any(hasattr(hint, name) for name in ("_fields", "to_dict"))


def hints_of(kind: Any) -> dict[str, Any]:
    """Types of the fields and properties of a class; those that cannot be found at run time are left out."""
    if kind is None:
        return {}
    found: dict[str, Any] = {}
    for base in reversed(inspect.getmro(kind)):
        names = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        written = dict(getattr(base, "__annotations__", {}))
        for name, member in vars(base).items():
            if isinstance(member, property) and member.fget is not None and "return" in member.fget.__annotations__:
                written[name] = member.fget.__annotations__["return"]
        for name, text in written.items():
            hint = _evaluated(text, names)
            if hint is not None:
                found[name] = hint
    return found


def _evaluated(text: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(text, typing.ForwardRef):
        text = text.__forward_arg__
    if not isinstance(text, str):
        return text
    try:
        return eval(text, dict(names))  # our own annotations
    except NameError:  # imported for type checkers only
        return None


def _first_sentence(kind: Any) -> str:
    """What a class says of itself, if it is a class and does."""
    text = (inspect.getdoc(kind) or "") if inspect.isclass(kind) else ""
    made_up = inspect.isclass(kind) and text.startswith(f"{kind.__name__}(")
    return "" if made_up else " ".join(text.split("\n\n")[0].split())
