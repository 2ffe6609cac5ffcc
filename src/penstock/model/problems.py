"""From what was found wrong with a scenario to one sentence: where, what was found, what is accepted.

Pydantic lists every error with its location and type; here, and only here, they become our words. Steps of a location
in angle brackets are tags of unions (see `phases`): they tell which record was meant and are not part of the place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from penstock.errors import InvalidScenario, nearest
from penstock.model.units import shown

Path = tuple[str | int, ...]
Locate = Callable[[Path], str]  # what to print before the place: a file, or a file and a line

OURS = "refused"


def reject(title: str, problems: Iterable[tuple[Path, object, str]]) -> None:
    """Raise if there are problems, each (place, value found there, rest of the sentence); for validators of records."""
    details = [
        InitErrorDetails(type=PydanticCustomError(OURS, "{text}", {"text": text}), loc=path, input=value)
        for path, value, text in problems
    ]
    if details:
        raise ValidationError.from_exception_data(title, details)


def refuse(locate: Locate, path: Path, text: str) -> NoReturn:
    """Raise the error of a document for one place in it."""
    raise InvalidScenario(f"{locate(path)}: {place(path)} {text}")


def explain(
    error: ValidationError, model: type[BaseModel], locate: Locate, whole: str = "the document"
) -> InvalidScenario:
    """The first problem as a sentence, and how many more there are; `whole` is what a problem of no one place is of."""
    errors = error.errors(include_url=False)
    first = _most_telling(errors)
    of_key = first["type"] in ("missing", "extra_forbidden", "invalid_key")
    loc = first["loc"][:-1] if of_key else first["loc"]
    where: Path = tuple(step for step in loc if not _is_tag(step))
    words = (_about_key if of_key else _about_value)(first, _accepted_keys(model, loc))
    line_of = (*where, first["loc"][-1]) if first["type"] == "extra_forbidden" else where
    more = len(errors) - 1
    count = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
    return InvalidScenario(f"{locate(line_of)}: {place(where) or whole} {words}{count}")


def place(path: Path) -> str:
    """A location as a user would write it: `applications[3].phases[0].write`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    text = "".join(steps).lstrip(".")
    return text if text.isprintable() else repr(text)


def near(word: object, known: Iterable[str]) -> str:
    """A suggestion for a misspelt word, or nothing."""
    found = nearest(str(word), known)
    return f"; did you mean {found[0]!r}?" if found else ""


def _most_telling(errors: list[ErrorDetails]) -> ErrorDetails:
    """The first error, but a misspelt key rather than the missing one it was meant to be."""
    first = errors[0]
    if first["type"] == "missing":
        for error in errors:
            if error["type"] == "extra_forbidden" and error["loc"][:-1] == first["loc"][:-1]:
                return error
    return first


def _about_key(error: ErrorDetails, accepted: list[str]) -> str:
    key = error["loc"][-1]
    if error["type"] == "missing":
        return f"has no {key!r}; accepted keys: {', '.join(accepted)}"
    if error["type"] == "invalid_key":
        return f"has the key {key}; accepted keys: {', '.join(accepted)}"
    return f"has an unknown key {key!r}{near(key, accepted) or ';'} accepted: {', '.join(accepted)}"


def _about_value(error: ErrorDetails, accepted: list[str]) -> str:
    kind, found = error["type"], error["input"]
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in ("model_type", "dict_type"):
        keys = f" with the keys {', '.join(accepted)}" if kind == "model_type" else ""
        return f"is {shown(found)}; expected a mapping{keys}"
    if kind == "tuple_type":
        return f"is {shown(found)}; expected a list"
    return error["msg"]


def _is_tag(step: str | int) -> bool:
    return isinstance(step, str) and (step.startswith("<") or step == "[key]")


def _accepted_keys(model: type[BaseModel], loc: Path) -> list[str]:
    """The keys of the record at a location, found by walking down the types of the fields."""
    options = {f"<{model.__name__}>": model}
    for step in loc:
        if step in options:
            options = {str(step): options[str(step)]}
            continue
        fields = {name: field for option in options.values() for name, field in option.model_fields.items()}
        if step in fields:
            options = {f"<{record.__name__}>": record for record in _records(fields[str(step)].annotation)}
    return list(dict.fromkeys(name for option in options.values() for name in option.model_fields))


def _records(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _records(argument)
