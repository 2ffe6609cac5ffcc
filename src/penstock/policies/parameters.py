"""Parameters of a policy: numbers that users may change, written in parentheses after its name."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from penstock.errors import PolicyError

Settings = Mapping[str, float]


def split_settings(text: str) -> tuple[str, dict[str, float]]:
    """The name of a policy, and the parameters behind it.

    >>> split_settings("set(g=3)"), split_settings("fcfs")
    (('set', {'g': 3.0}), ('fcfs', {}))
    """
    match = re.fullmatch(r"([^()]+)\((.*)\)", text)
    if not match:
        return text, {}
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


def split_misled(asked: str) -> tuple[str, dict[str, float]]:
    """The policy, and what it is told.

    >>> split_misled("misled(reserve-credit(k=2),end=0.8)")
    ('reserve-credit(k=2)', {'end': 0.8})
    """
    inside = asked.partition("(")[2][:-1]
    # The policy's own parameters are in parentheses, what it is told is not.
    match = re.fullmatch(r"(.*?(?:\(.*\))?)((?:,[^()]*)?)", inside)
    who, told = (match[1], match[2]) if match else (inside, "")
    return who.strip(), split_settings(f"misled({told.lstrip(',')})")[1]


def check_known(who: str, known: Settings, given: Settings) -> None:
    """Refuse a parameter that a policy does not have."""
    for name in given:
        if name not in known:
            raise PolicyError(f"{who} has no parameter {name!r}; it has: {', '.join(known) or 'none'}")


def labelled(name: str, settings: Settings, defaults: Settings) -> str:
    """The name, with the parameters that were set: what finds this policy again."""
    changed = {key: value for key, value in settings.items() if not math.isnan(value) and value != defaults.get(key)}
    given = ",".join(f"{key}={value!r}".removesuffix(".0") for key, value in changed.items())
    return f"{name}({given})" if given else name
