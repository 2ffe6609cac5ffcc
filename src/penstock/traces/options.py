"""What every importer of traces takes: the same words as on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from penstock.errors import InvalidOption
from penstock.model.units import Refusal, quantity
from penstock.traces.phases import BURSTS, Slack

Unseen = Literal["keep", "drop"]
CAPS = ("alone", "median", "max")
TOLERANCE = 0.005


@dataclass(frozen=True)
class Options:
    """How jobs become a scenario. Bandwidths in bytes/s; None: what was observed, as a lower bound."""

    bandwidth: float | None = None
    node_bandwidth: float | None = None
    window: str | None = None  # A..B or busy
    tolerance: float = TOLERANCE  # of a run: by how much merging may displace a byte, on average
    slack: Slack = "compute"
    cap: str | Path = "alone"
    unseen: Unseen = "keep"
    anonymise: bool = False
    strict: bool = False
    bursts: int | Literal["opens"] = BURSTS  # for jobs whose bursts nobody can see; opens: as many as files were opened
    cap_factor: float = 1.0  # times the caps that logs suggest; those that were given stay

    def __post_init__(self) -> None:
        _one_of("slack", self.slack, get_args(Slack))
        _one_of("unseen", self.unseen, get_args(Unseen))
        if not 0.0 <= self.tolerance <= 0.5:
            raise InvalidOption(f"tolerance is {self.tolerance:g}; accepted is a share of the run time from 0 to 50 %")
        if self.bursts != "opens" and self.bursts < 1:
            raise InvalidOption(f"bursts is {self.bursts}; accepted is a whole number ≥ 1, or opens")
        if not 0.0 < self.cap_factor < float("inf"):
            raise InvalidOption(f"cap_factor is {self.cap_factor:g}; accepted is a number > 0")
        if str(self.cap) not in CAPS and not Path(self.cap).is_file():
            raise InvalidOption(f"cap is {str(self.cap)!r}; accepted is {', '.join(CAPS)} or a CSV file")


def share(text: str, what: str) -> float:
    """A share of 1 from text: `0.5%` or `0.005`."""
    match = re.fullmatch(r"\s*([\d.]+(?:[eE]-?\d+)?)\s*(%?)\s*", text)
    try:
        return float(match[1]) / (100.0 if match[2] else 1.0) if match else float("nan")
    except ValueError:
        return float("nan")
    finally:
        if match is None:
            raise InvalidOption(f"{what} is {text!r}; accepted is a share such as 0.5% or 0.005")


def window_of(text: str, first: float) -> tuple[float, float]:
    """The ends of `A..B`, each a date or a time since the first job's start, in seconds since 1970."""
    ends = text.split("..")
    if len(ends) != 2:
        raise InvalidOption(f"--window is {text!r}; accepted is A..B, as in 2026-11-02..2026-11-09 or 1h..25h, or busy")
    begin, end = (_instant(each, first, text) for each in ends)
    if not begin < end:
        raise InvalidOption(f"--window is {text!r}; it ends before it begins")
    return begin, end


def _instant(text: str, first: float, window: str) -> float:
    try:
        given = datetime.fromisoformat(text.strip())
        return given.replace(tzinfo=given.tzinfo or UTC).timestamp()
    except ValueError:
        pass
    try:
        return first + quantity(text, "seconds")
    except Refusal:
        raise InvalidOption(
            f"--window is {window!r}; {text!r} is neither a date (2026-11-02T06:00, in UTC unless it says) "
            "nor a time since the first job's start (36 h)"
        ) from None


def _one_of(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise InvalidOption(f"{name} is {value!r}; accepted is one of {', '.join(accepted)}")
