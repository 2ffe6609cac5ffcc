"""Quantities with units: `3.2 TB`, `160 GB/s`, `1.5 h`. A bare number is in the base unit: seconds, bytes, bytes/s.

A time may also be written as Slurm writes it: `1-05:50:00` (days-hours:minutes:seconds), `05:50:00`, `30:00`.

Decimal prefixes (kB, MB, … EB) are powers of 1000, binary ones (KiB … EiB) powers of 1024. Storage is sold in bytes and
networks in bits, and a slip between the two is a factor of eight, so bits are refused with a hint.
"""

from __future__ import annotations

import math
import re
from numbers import Real
from typing import Final, Literal

from penstock.errors import InvalidScenario

Kind = Literal["seconds", "bytes", "bytes/s"]

ACCEPTED: Final[dict[str, str]] = {
    "seconds": 'a time is a number ≥ 0 or text such as "1.5 h"',
    "bytes": 'a volume is a number ≥ 0 or text such as "3.2 TB"',
    "bytes/s": 'a bandwidth is a number > 0 or text such as "160 GB/s"',
}
WHOLE_MOST = 2**53  # above it, whole numbers are not exact as floats

_NOUN = {"seconds": "time", "bytes": "volume", "bytes/s": "bandwidth"}
_NUMBER = r"[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\W\d_][\w/]*)?\s*", re.UNICODE)
_CLOCK = re.compile(r"\s*(?:\d+-\d\d?(?::\d\d?){0,2}|\d+:\d\d(?::\d\d)?)(?:\.\d+)?\s*")
_BITS = re.compile(r"([kKMGTPE]?)(i?)(b|bits?|Bits?)(/s|/sec|ps)?")
_PREFIXES = ("", "kilo", "mega", "giga", "tera", "peta", "exa")


class Refusal(ValueError):
    """Why a value is refused, as the rest of a sentence that starts with its place."""


def _units() -> dict[str, tuple[str, float]]:
    """Every unit as (kind, size in the base unit)."""
    times = {
        1e-9: "ns",
        1e-6: "us µs μs",  # both Unicode letters for micro are in use
        1e-3: "ms",
        1.0: "s sec second seconds",
        60.0: "min minute minutes",
        3600.0: "h hour hours",
        86400.0: "d day days",
    }
    table = {name: ("seconds", size) for size, names in times.items() for name in names.split()}
    volumes = {"B": 1.0, "KB": 1e3}
    for power, letter in enumerate("kMGTPE", start=1):
        volumes[f"{letter}B"] = float(1000**power)
        volumes[f"{letter.upper()}iB"] = float(1024**power)
    for name, size in volumes.items():
        table[name] = ("bytes", size)
        table[f"{name}/s"] = table[f"{name}/sec"] = ("bytes/s", size)
    return table


_UNITS = _units()


def parse_quantity(value: object, kind: Kind) -> float:
    """The value in the base unit of its kind.

    >>> parse_quantity("1.5 h", "seconds"), parse_quantity("2 KiB", "bytes"), parse_quantity(7, "bytes/s")
    (5400.0, 2048.0, 7.0)
    """
    try:
        return quantity(value, kind)
    except Refusal as refusal:
        raise InvalidScenario(f"the {_NOUN[kind]} {refusal}") from None


def quantity(value: object, kind: str) -> float:
    """As `parse_quantity`, for validators: raises a Refusal that lacks the place."""
    amount = _with_unit(value, kind) if isinstance(value, str) else _plain(value)
    if amount is None or not math.isfinite(amount) or amount < 0 or (amount == 0 and kind == "bytes/s"):
        raise Refusal(f"is {shown(value)}; {ACCEPTED[kind]}")
    return amount + 0.0  # turns -0.0 into 0.0


def number(value: object, accepted: str, least: float = 0.0, most: float = math.inf) -> float:
    """A finite number without a unit; `accepted` says in words what is taken."""
    plain = _plain(value)
    if plain is None or not math.isfinite(plain) or not least <= plain <= most:
        raise Refusal(f"is {shown(value)}; {accepted}")
    return plain + 0.0


def whole(value: object, accepted: str, least: int = 1, most: int | None = WHOLE_MOST) -> int:
    """A whole number; `4.0` and `1e3` are whole."""
    exact = value if type(value) is int else _plain(value)
    if exact is None or not math.isfinite(exact) or exact != int(exact) or exact < least or (most and exact > most):
        raise Refusal(f"is {shown(value)}; {accepted}")
    return int(exact)


def _plain(value: object) -> float | None:
    """A number, or text that is one: YAML takes `1e9` for text because it has no dot."""
    if isinstance(value, str):
        match = _QUANTITY.fullmatch(value)
        return float(match[1]) if match and match[2] is None else None
    if isinstance(value, bool) or not isinstance(value, float | int | Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _with_unit(text: str, kind: str) -> float | None:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return clock(text) if kind == "seconds" else None
    amount, unit = match.groups()
    if unit is None:
        return float(amount)
    found, size = _UNITS.get(unit, (None, 0.0))
    if found == kind:
        return float(amount) * size
    raise Refusal(f"is {shown(text)}{_about(unit, found)}; {ACCEPTED[kind]}")


def clock(text: str) -> float | None:
    """Seconds of a time as Slurm writes it: [D-]HH:MM:SS, MM:SS, D-HH, D-HH:MM; None if it is none.

    >>> clock("1-05:50:00"), clock("30:00"), clock("2-00")
    (107400.0, 1800.0, 172800.0)
    """
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    days, rest = text.strip().split("-") if "-" in text else ("0", text)
    parts = [float(part) for part in rest.split(":")]
    if "-" in text:  # after days come hours, however few parts there are
        parts += [0.0] * (3 - len(parts))
    hours, minutes, seconds = [0.0] * (3 - len(parts)) + parts
    return 86400.0 * int(days) + 3600.0 * hours + 60.0 * minutes + seconds


def _about(unit: str, found: str | None) -> str:
    """What a refused unit is, as far as we can tell."""
    if found is not None:
        return f", a {_NOUN[found]}"
    bits = _BITS.fullmatch(unit)
    if bits is None:
        return f", with the unknown unit {unit!r}"
    prefix, binary, _, per_second = bits.groups()
    name = _PREFIXES[" KMGTPE".index(prefix.upper() or " ")]
    byte = f"{prefix.upper()}iB" if binary else f"{prefix}B"
    return f" ({unit} is {name}bits; penstock takes bytes: {byte}{'/s' if per_second else ''})"


def in_words(value: float, base: str) -> str:
    """Bytes (`B`, `B/s`) or seconds (`s`) in the largest unit of which there is at least one.

    >>> in_words(2.4e10, "B/s"), in_words(21600.0, "s"), in_words(1.0, "B/s"), in_words(0.0, "s")
    ('24 GB/s', '6 h', '1 B/s', '0 s')
    """
    rest = base.removeprefix("B")
    steps = (
        [("d", 86400.0), ("h", 3600.0), ("min", 60.0)]
        if base == "s"
        else [
            (f"{letter}B{rest}", float(1000**power)) for power, letter in reversed(list(enumerate("kMGTPE", start=1)))
        ]
    )
    unit, size = next(((unit, size) for unit, size in steps if abs(value) >= size), (base, 1.0))
    return f"{value / size:.4g} {unit}"


def shown(value: object) -> str:
    """A value as the user wrote it, kept short."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and abs(value) > 10**60:
        return "a number of more than 60 digits"  # Python refuses to print much longer ones
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
