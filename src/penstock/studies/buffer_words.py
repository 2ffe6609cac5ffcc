"""What options of burst buffers may say. It loads no kernels, so that a wrong word is refused at once."""

from __future__ import annotations

import math

from penstock.errors import InvalidOption
from penstock.model.units import Refusal, quantity

PARTITIONS = ("isolated", "static", "dynamic")
ADMIT = ("now", "wait")
FOREVER = "forever"


def check_partition(partition: str, where: str = "partition") -> None:
    """Refuse an unknown way to divide a buffer."""
    if partition not in PARTITIONS:
        raise InvalidOption(f"{where} is {partition!r}; accepted: {', '.join(PARTITIONS)}")


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
