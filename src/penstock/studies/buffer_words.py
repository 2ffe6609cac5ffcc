"""What options of studies of burst buffers may say. It loads no kernels, so that a wrong word is refused at once."""

from __future__ import annotations

import math
from importlib.util import find_spec

from penstock.errors import InvalidOption
from penstock.model.units import Refusal, quantity

PARTITIONS = ("isolated", "static", "dynamic")
ADMIT = ("now", "wait")
FOREVER = "forever"


def check_partition(partition: str, where: str = "partition") -> None:
    """Refuse an unknown way to divide a buffer."""
    if partition not in PARTITIONS:
        raise InvalidOption(f"{where} is {partition!r}; accepted: {', '.join(PARTITIONS)}")


def need_solver(partition: str) -> None:
    """Refuse to look for shares without a library for it, before anything is compiled; other buffers may need none."""
    if partition == "static" and find_spec("scipy") is None:
        raise InvalidOption("shares of a buffer need scipy; install penstock[buffers], or give --partition dynamic")


def check_division(partition: str, common: float | None) -> None:
    """Refuse an unknown partition, and a common part that it cannot have."""
    check_partition(partition)
    if common is not None and not 0.0 <= common <= 1.0:
        raise InvalidOption(f"common is {common:g}; accepted is a part of the buffer, from 0 to 1")
    if partition == "dynamic" and common not in (None, 1.0):
        raise InvalidOption(f"common is {common:g}; with partition dynamic all of the buffer is common: leave it out")


def check_admission(admit: str, partition: str) -> None:
    """Refuse an unknown way to admit, and waiting for a part that nobody has."""
    if admit not in ADMIT:
        raise InvalidOption(f"admit is {admit!r}; accepted: {', '.join(ADMIT)}")
    if admit == "wait" and partition == "dynamic":
        raise InvalidOption("admit wait waits for a part of the buffer, and with partition dynamic nobody has one")


def read_lead(text: str | None, where: str = "--lead") -> float | None:
    """What an option says: a duration, or `forever`."""
    if text is None or text == FOREVER:
        return None if text is None else math.inf
    try:
        return quantity(text, "seconds")
    except Refusal:
        raise InvalidOption(f'{where} is {text!r}; accepted is a duration ≥ 0, such as "30 min", or forever') from None
