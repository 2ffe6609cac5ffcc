"""The table of workload generators and the reading of their settings.

A generator is a function that returns a Scenario. Its keyword parameters are its settings: the annotation says which
type a value has and, through `Accepted`, which values are taken; the default and the first line of the docstring are
what `generators()` shows. A generator that draws random numbers also has a parameter `seed`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from penstock.errors import InvalidOption, nearest

if TYPE_CHECKING:
    from penstock.model import Scenario

MODULES = {
    "synthetic": "penstock.workloads.synthetic",
    "example-1": "penstock.workloads.examples",
    "example-2": "penstock.workloads.examples",
    "example-3": "penstock.workloads.examples",
    "example-4": "penstock.workloads.examples",
    "example-5": "penstock.workloads.examples",
    "example-6": "penstock.workloads.examples",
    "chains": "penstock.workloads.chains",
    "uniform": "penstock.workloads.chains",
    "packs": "penstock.workloads.packs",
    "tucan": "penstock.workloads.tucan",
    "targets": "penstock.workloads.targets",
    "checkpoints": "penstock.workloads.checkpoints",
    "arrivals": "penstock.workloads.arrivals",
    "machine": "penstock.workloads.machine",
    "apex-nersc": "penstock.workloads.apex",
    "apex-trilab": "penstock.workloads.apex",
}

BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}

_registered: dict[str, Generator] = {}

Make = TypeVar("Make", bound="Callable[..., Scenario]")


@dataclass(frozen=True)
class Accepted:
    """Which values a setting takes: in words for the user, and as a test."""

    words: str
    test: Callable[[Any], bool]


@dataclass(frozen=True)
class Parameter:
    """One setting of a generator."""

    name: str
    type: type
    optional: bool
    default: Any
    accepted: Accepted

    def read(self, given: object, kind: str) -> Any:
        """Return `given`, a value or its text, in this setting's type."""
        try:
            value = _convert(given, self.type, self.optional)
            if value is None or self.accepted.test(value):
                return value
        except (ValueError, TypeError, LookupError, OverflowError):
            pass
        raise InvalidOption(f"{kind}: {self.name} is {given!r}; accepted is {self.accepted.words}.")


@dataclass(frozen=True)
class Generator:
    """One way to make a workload: its name, rule in a line, source, and settings."""

    name: str
    rule: str
    source: str
    parameters: tuple[Parameter, ...]
    seeded: bool
    make: Callable[..., Scenario]


def generator(name: str, source: str) -> Callable[[Make], Make]:
    """Register the decorated function as the generator called `name`."""

    def register(make: Make) -> Make:
        rule = (make.__doc__ or "").strip().partition("\n")[0]
        declared = inspect.signature(make).parameters
        settings = tuple(_parameter(make, each) for each in declared.values() if each.name != "seed")
        _registered[name] = Generator(name, rule, source, settings, "seed" in declared, make)
        return make

    return register


def generators() -> tuple[Generator, ...]:
    """Every generator there is, in the order of the table."""
    return tuple(_find(kind) for kind in MODULES)


def generate(kind: str, seed: int = 0, **settings: object) -> Scenario:
    """Make a workload.

    Settings may be values or their text, as a command line gives them; an example of a paper draws nothing, so that
    every seed gives the same scenario.

    >>> len(generate("example-5", m="4").applications)
    4
    """
    if not isinstance(kind, str):
        raise InvalidOption(f"a workload is given by its name, as in 'synthetic', not by {kind!r}")
    found = _find(kind)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidOption(f"{kind}: seed is {seed!r}; accepted is a whole number ≥ 0.")
    known = {each.name: each for each in found.parameters}
    for name in settings:
        if name not in known:
            raise InvalidOption(_unknown(f"{kind} has no setting named", name, list(known)))
    values = {name: known[name].read(given, kind) for name, given in settings.items()}
    return found.make(**({"seed": seed} if found.seeded else {}), **values)


def _find(kind: str) -> Generator:
    if kind not in MODULES:
        raise InvalidOption(_unknown("no workload named", kind, list(MODULES)))
    import_module(MODULES[kind])
    return _registered[kind]


def _unknown(what: str, name: str, known: list[str]) -> str:
    near = nearest(name, known)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"{what} {name!r}.{hint} Known: {', '.join(known)}."


def _parameter(make: Callable[..., Scenario], declared: inspect.Parameter) -> Parameter:
    annotated = get_type_hints(make, include_extras=True)[declared.name]
    value_type, accepted = get_args(annotated)
    members = get_args(value_type) or (value_type,)
    plain = next(member for member in members if member is not NoneType)
    return Parameter(declared.name, plain, NoneType in members, declared.default, accepted)


def _convert(given: object, wanted: type, optional: bool) -> Any:
    if optional and (given is None or given == "none"):
        return None
    if wanted is bool:
        return BOOLEANS[str(given).lower()]
    if wanted is str:
        return str(given)
    number = _number(given)
    if wanted is int and number != int(number):
        raise ValueError(given)
    return wanted(number)


def _number(given: object) -> float:
    if isinstance(given, bool) or not isinstance(given, Real | str):
        raise TypeError(given)
    number = float(given)
    if not math.isfinite(number):
        raise ValueError(given)
    return number
