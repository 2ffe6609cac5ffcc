"""For clients and controller alike: Slurm's compressed lists of nodes; `rack[1-2]n[01-04],login3` are nine names."""

from __future__ import annotations

import re
from itertools import product

MOST = 100_000  # names in one list
_LONGEST = 64 << 10  # characters
_PART = re.compile(r"(?P<plain>[A-Za-z0-9_.-]+)|\[(?P<ranges>[0-9,-]+)\]")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class BadHostlist(ValueError):
    """Not a list of nodes as Slurm writes one."""


def expand(text: str) -> tuple[str, ...]:
    """All names, in the order of the list.

    >>> expand("n[1-3,07],io5")
    ('n1', 'n2', 'n3', 'n07', 'io5')
    >>> expand("r[1-2]n[08-09]")
    ('r1n08', 'r1n09', 'r2n08', 'r2n09')
    """
    if len(text) > _LONGEST:
        raise BadHostlist(f"a list of {len(text)} characters; at most {_LONGEST} are accepted")
    names: list[str] = []
    for each in _split(text):
        names += _names(each, MOST - len(names))
    return tuple(names)


def _split(text: str) -> list[str]:
    """At commas outside brackets; nothing in an empty list."""
    parts, inside = [""] if text else [], False
    for letter in text:
        inside = letter == "[" or (inside and letter != "]")
        if letter == "," and not inside:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _names(text: str, most: int) -> list[str]:
    choices: list[list[str]] = []
    at, count = 0, 1
    while at < len(text) or not text:
        part = _PART.match(text, at)
        if part is None:
            raise BadHostlist(f"{text[:80]!r} is no name of nodes, such as n17 or n[01-16,20]")
        choices.append([part["plain"]] if part["plain"] else _numbers(part["ranges"], most))
        count *= len(choices[-1])
        if count > most:
            raise BadHostlist(f"{text[:80]!r} makes a list of more than {MOST} names")
        at = part.end()
    return ["".join(each) for each in product(*choices)]


def _numbers(text: str, most: int) -> list[str]:
    """Of one bracket: numbers and ranges; leading zeros are kept."""
    found: list[str] = []
    for each in text.split(","):
        bounds = _RANGE.fullmatch(each)
        if bounds is None:
            raise BadHostlist(f"[{text[:80]}] is no list of numbers and ranges, such as [1-16,20]")
        first, last = bounds[1], bounds[2] or bounds[1]
        if int(last) < int(first):
            raise BadHostlist(f"[{text[:80]}] has a range that ends before it begins")
        if int(last) - int(first) + 1 + len(found) > most:
            raise BadHostlist(f"[{text[:80]}] makes a list of more than {MOST} names")
        found += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    return found
