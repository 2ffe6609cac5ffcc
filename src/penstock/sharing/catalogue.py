"""How a name becomes a policy: our own table, installed entry points, a Python file, or a function at hand."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from penstock.errors import PolicyError, UnknownPolicy
from penstock.sharing.policy import Sharing, rule_of

# Name → module and attribute. Modules are imported when asked for: each compiles its kernel.
OURS = {
    "fair-share": "fair_share",
    "fcfs": "fcfs",
    "greedy-yield": "greedy_yield",
    "greedy-com": "greedy_com",
    "lookahead-greedy-yield": "lookahead_greedy_yield",
    "periodic-greedy-yield": "periodic_greedy_yield",
    "set-10": "set_10",
    "best-next-event": "best_next_event",
    "best-effort": "best_effort",
    "list-fifo": "list_fifo",
    "list-johnson": "list_johnson",
    "list-most-remaining": "list_most_remaining",
    "list-shortest-remaining": "list_shortest_remaining",
    "list-lowest-id": "list_lowest_id",
    "list-longest-io": "list_longest_io",
    "list-shortest-io": "list_shortest_io",
    "list-bandwidth": "list_bandwidth",
    "list-stretch": "list_stretch",
    "periodic-fifo": "periodic_fifo",
    "periodic-johnson": "periodic_johnson",
    "periodic-most-remaining": "periodic_most_remaining",
    "hierarchical-round-robin": "hierarchical_round_robin",
}
NAMES = tuple(OURS)
GROUP = "penstock.sharing"


def find(asked: str | Sharing | Callable[..., None]) -> Sharing:
    """The policy for a name, `name(parameter=value)`, `file.py`, `file.py:function`, or a function itself.

    >>> find("fcfs").rule
    'Fill greedily, earliest posting first.'
    >>> find("periodic-greedy-yield(delta=5)").settings
    {'delta': 5.0}
    """
    if isinstance(asked, Sharing):
        return asked
    if callable(asked):
        return from_function(asked)
    if not isinstance(asked, str):
        raise PolicyError(f"a sharing policy is a name or a function (view, rates), not a {type(asked).__name__}")
    name, settings = _split_settings(asked.strip())
    return _named(name).with_settings(settings)


def policies() -> list[Sharing]:
    """All policies that a name finds: ours, then installed ones."""
    return [find(name) for name in known_names()]


def known_names() -> tuple[str, ...]:
    """Our own policies, then what is installed."""
    return (*OURS, *sorted(_installed()))


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; commas inside parentheses belong to a policy's parameters.

    >>> split_names("fcfs, periodic-greedy-yield(delta=5), my.py")
    ['fcfs', 'periodic-greedy-yield(delta=5)', 'my.py']
    """
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def from_function(function: Callable[..., None]) -> Sharing:
    """A policy of a user's function `(view, rates)`: compiled if Numba compiled it, else called as plain Python."""
    name = getattr(function, "__name__", type(function).__name__).replace("_", "-")
    plain = getattr(function, "py_func", function)
    return Sharing(name, function, plain, hasattr(function, "py_func"), rule_of(plain))


def _split_settings(text: str) -> tuple[str, dict[str, float]]:
    match = re.fullmatch(r"([^()]+)\((.*)\)", text)
    if not match:
        return text, {}
    if match[1].strip() == "follow":
        raise PolicyError(f"{text!r} is no policy name; a plan in a file is followed with --follow FILE")
    settings = {}
    for part in filter(str.strip, match[2].split(",")):
        name, _, value = part.partition("=")
        try:
            settings[name.strip()] = float(value)
        except ValueError:
            raise PolicyError(
                f"in {text!r}, {part.strip()!r} is no parameter; one is written name=number, as in {match[1]}(g=2)"
            ) from None
    return match[1].strip(), settings


def _named(name: str) -> Sharing:
    if name in OURS:
        module = importlib.import_module(f"penstock.sharing.{OURS[name]}")
        return getattr(module, OURS[name])  # type: ignore[no-any-return]
    if name in (installed := _installed()):
        return _from_entry_point(installed[name])
    if re.search(r"\.py(:|$)", name):
        return _from_file(name)
    raise UnknownPolicy(_unknown(name, (*OURS, *installed)))


def _unknown(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"no sharing policy named {name!r}.{hint} Known: {', '.join(known)}; or a file: my_policy.py:function"


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in OURS}


def _from_entry_point(point: EntryPoint) -> Sharing:
    try:
        loaded = point.load()
    except Exception as error:
        raise PolicyError(f"the installed policy {point.name!r} ({point.value}) does not load: {error}") from error
    return _as_policy(loaded, f"the installed policy {point.name!r}")


def _from_file(text: str) -> Sharing:
    path, _, attribute = text.partition(":")
    if not Path(path).is_file():
        raise UnknownPolicy(f"{path}: there is no such file to take a sharing policy from")
    # Numba needs an importable module to compile what is in it.
    name = f"penstock_policy_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PolicyError(f"{path} is no Python file; a policy file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except PolicyError:
        raise
    except Exception as error:
        raise PolicyError(f"{path} does not run as Python: {type(error).__name__}: {error}") from error
    if attribute:
        if not hasattr(module, attribute):
            raise UnknownPolicy(f"{path} has no function {attribute!r}")
        return _as_policy(getattr(module, attribute), text)
    found = [thing for thing in vars(module).values() if isinstance(thing, Sharing)]
    own = [thing for thing in found if thing.plain.__module__ == name]
    if len(own) != 1:
        raise PolicyError(f"{path} has {len(own)} functions marked @sharing; name the one to use: {path}:function")
    return own[0]


def _as_policy(thing: Any, where: str) -> Sharing:
    if isinstance(thing, Sharing):
        return thing
    if callable(thing):
        return from_function(thing)
    raise PolicyError(f"{where} is a {type(thing).__name__}; a policy is a function (view, rates)")
