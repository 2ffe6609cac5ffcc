"""Where units are performed. An executor is anything that maps a function over units, in whatever order they end.

To add a place: a class with `map`, and a line in `EXECUTORS`, whose module has a function `make(argument, workers)`;
the argument is what follows `=` in `--on NAME=ARGUMENT`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import NamedTuple, Protocol

from penstock.campaign.perform import RunRow
from penstock.campaign.units import Unit
from penstock.errors import InvalidOption

Perform = Callable[[Unit], list[RunRow]]


class LostUnit(NamedTuple):
    """Why nothing came back for a unit, though it was tried again."""

    reason: str


class Executor(Protocol):
    """Performs units somewhere."""

    @property
    def words(self) -> str:
        """Where, for users."""

    def map(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """What `perform` gives for each unit, as it comes; units are drawn no earlier than they are needed.

        Closing the iterator ends all work. A unit whose worker is lost is tried again, and then given up.
        """


EXECUTORS = {
    "local": "penstock.campaign.local",
    "dask": "penstock.campaign.dask",
    "slurm": "penstock.campaign.slurm",
}


def executor(on: str = "local", workers: int | None = None) -> Executor:
    """The executor that `--on` names."""
    name, _, argument = on.partition("=")
    if name not in EXECUTORS:
        raise InvalidOption(f"--on is {on!r}; accepted: {', '.join(EXECUTORS)}")
    if workers is not None and workers < 1:
        raise InvalidOption(f"--workers is {workers}; accepted is a whole number ≥ 1")
    made: Executor = import_module(EXECUTORS[name]).make(argument, workers)
    return made


class Here:
    """One after the other, in this process."""

    words = "in this process"

    def map(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """As in the protocol."""
        for unit in units:
            yield unit, perform(unit)
