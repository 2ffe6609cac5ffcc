"""How a name becomes a sharing policy: what every catalogue does, and parameters in parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from penstock.errors import PolicyError
from penstock.policies.catalogue import Catalogue
from penstock.policies.parameters import split_misled, split_settings

if TYPE_CHECKING:
    from penstock.policies.sharing.policy import Sharing

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
    "credited-yield": "credited_yield",
    "annealed-credit": "annealed_credit",
    "loss-capped-srpt": "loss_capped_srpt",
    "reserve-credit": "reserve_credit",
    "reserve-srpt": "reserve_srpt",
    "steady-reserve": "steady_reserve",
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
_MISLED = re.compile(r"misled\s*\(.*\)")


def find(asked: str | Sharing | Callable[..., None]) -> Sharing:
    """The policy for a name, `name(parameter=value)`, `file.py`, `file.py:function`, or a function itself.

    `misled(name,end=0.8)` is the same policy, told that the window is shorter than it is.

    >>> find("fcfs").rule
    'Fill greedily, earliest posting first.'
    >>> find("periodic-greedy-yield(delta=5)").settings
    {'delta': 5.0}
    """
    if isinstance(asked, _kind()):
        return asked
    if callable(asked):
        return from_function(asked)
    if not isinstance(asked, str):
        raise PolicyError(f"a sharing policy is a name or a function (view, rates), not a {type(asked).__name__}")
    if _MISLED.fullmatch(asked.strip()):
        from penstock.policies.sharing.misled import misled  # noqa: PLC0415 - loads Numba

        who, told = split_misled(asked.strip())
        return misled(find(who), told)
    name, settings = _split(asked.strip())
    return _catalogue.named(name).with_settings(settings)


def policies() -> list[Sharing]:
    """All policies that a name finds: ours, then installed ones."""
    return [find(name) for name in known_names()]


def known_names() -> tuple[str, ...]:
    """Our own policies, then what is installed."""
    return _catalogue.names()


def check(asked: str) -> None:
    """Refuse what is no policy's name, without loading any policy."""
    if _MISLED.fullmatch(asked.strip()):  # what it is told wrong is looked at when it is found
        check(split_misled(asked.strip())[0])
        return
    name, settings = _split(asked.strip())
    _catalogue.check(name)
    _catalogue.check_settings(name, settings)


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; commas inside parentheses belong to a policy's parameters.

    >>> split_names("fcfs, periodic-greedy-yield(delta=5), my.py")
    ['fcfs', 'periodic-greedy-yield(delta=5)', 'my.py']
    """
    return [name.strip() for name in re.split(r",(?![^()]*\))", text) if name.strip()]


def from_function(function: Callable[..., None]) -> Sharing:
    """A policy of a user's function `(view, rates)`: compiled if Numba compiled it, else called as plain Python."""
    name = getattr(function, "__name__", type(function).__name__).replace("_", "-")
    from penstock.policies.sharing.policy import rule_of  # noqa: PLC0415 - loads Numba

    plain = getattr(function, "py_func", function)
    return _kind()(name, function, plain, hasattr(function, "py_func"), rule_of(plain))


def _split(text: str) -> tuple[str, dict[str, float]]:
    if re.fullmatch(r"\s*follow\s*\(.*\)", text):
        raise PolicyError(f"{text!r} is no policy name; a plan in a file is followed with --follow FILE")
    return split_settings(text)


def _kind() -> type[Sharing]:
    from penstock.policies.sharing.policy import Sharing  # noqa: PLC0415 - loads Numba

    return Sharing


_OPTIONS = ("source", "ticks", "memory", "prepare", "losses")
_catalogue = Catalogue("sharing", OURS, _kind, from_function, "view, rates", _OPTIONS)
