"""What all records of a scenario share: they are frozen, take no unknown key, and explain what they refuse."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from penstock.model.problems import Locate, explain
from penstock.model.units import Refusal, number, quantity, shown, whole


class Record(BaseModel):
    """A frozen piece of a scenario. A bad value raises InvalidScenario, whether from Python or from a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise explain(error, type(self), lambda _: type(self).__name__, whole="it") from None

    # Records inside records are validated without going through __init__, so that their errors keep their place.
    cast(Any, __init__).__pydantic_base_init__ = True

    @classmethod
    def checked(cls, document: object, locate: Locate) -> Self:
        """One from a plain document; `locate` says what to print before the place of a problem."""
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise explain(error, cls, locate) from None

    def __repr__(self) -> str:
        given = (f"{name}={getattr(self, name)!r}" for name in type(self).model_fields if not self.is_default(name))
        return f"{type(self).__name__}({', '.join(given)})"

    __str__ = __repr__

    def is_default(self, name: str) -> bool:
        """Whether a field says nothing that its absence would not say."""
        field = type(self).model_fields[name]
        return not field.is_required() and bool(getattr(self, name) == field.default)


def _name(value: object) -> str:
    if isinstance(value, str) and value and value.isprintable():
        return value
    hint = "" if isinstance(value, str) else ", in quotes if it looks like something else"
    raise Refusal(f"is {shown(value)}; a name is printable text, not empty{hint}")


_count = partial(whole, accepted="a count is a whole number ≥ 1")
_place = partial(whole, accepted="a place is a whole number ≥ 0", least=0)
_seed = partial(whole, accepted="a seed is a whole number ≥ 0", least=0, most=None)
_share = partial(number, accepted="a share is a number ≥ 0")
_skew = partial(number, accepted="the skew is a number ≥ 1", least=1.0)
_efficiency = partial(number, accepted="an efficiency is a number from 1e-6 to 1", least=1e-6, most=1.0)
_noise = partial(number, accepted="the noise is a number from 0 to 1", most=1.0)


def _not_empty(value: object) -> object:
    # Pydantic's own check of the length would also count a list whose entries were all refused as empty.
    if isinstance(value, list | tuple | dict) and not value:
        raise Refusal(f"is an empty {'mapping' if isinstance(value, dict) else 'list'}; expected at least one entry")
    return value


def _version(value: object) -> object:
    if type(value) is not int or value != 1:
        raise Refusal(f"is {shown(value)}; this penstock reads version 1")
    return value


NotEmpty = BeforeValidator(_not_empty)
Seconds = Annotated[float, BeforeValidator(partial(quantity, kind="seconds"))]
Bytes = Annotated[float, BeforeValidator(partial(quantity, kind="bytes"))]
BytesPerSecond = Annotated[float, BeforeValidator(partial(quantity, kind="bytes/s"))]
Count = Annotated[int, BeforeValidator(_count)]
Version = Annotated[Literal[1], BeforeValidator(_version)]  # of a file's format
Place = Annotated[int, BeforeValidator(_place)]
Seed = Annotated[int, BeforeValidator(_seed)]
Share = Annotated[float, BeforeValidator(_share)]
Noise = Annotated[float, BeforeValidator(_noise)]
Skew = Annotated[float, BeforeValidator(_skew)]
Efficiency = Annotated[float, BeforeValidator(_efficiency)]
Name = Annotated[str, BeforeValidator(_name)]
