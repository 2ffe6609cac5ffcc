"""What all executors beyond this machine have in common: packages they need, and words while they wait."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from penstock.campaign.executor import LostUnit, Perform
from penstock.campaign.perform import RunRow
from penstock.campaign.units import Unit
from penstock.errors import InvalidOption

PATIENCE = 30.0  # seconds of waiting until it is said aloud
REPEAT = 600.0  # seconds until it is said again


class Elsewhere(ABC):
    """An executor that may have to wait for workers, and tells so through `show`; `logs` is for what they write."""

    def __init__(self) -> None:
        self.logs = Path("logs")
        self.show: Callable[[str], None] = lambda words: None
        self._since: float | None = None
        self._said = 0.0

    def map(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """As in the protocol; where there is nothing to do, nobody is asked for anything."""
        first = next(units, None)
        if first is not None:
            with quiet():
                yield from self.feed(perform, chain([first], units))

    @abstractmethod
    def feed(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """Have workers perform units, of which there are some."""

    def waits(self, words: str) -> None:
        """Show what is waited for; after a while also on the error stream, since not everybody has a terminal."""
        self.show(words)
        now = time.monotonic()
        if self._since is None:
            self._since, self._said = now, now - REPEAT
        if now - self._since >= PATIENCE and now - self._said >= REPEAT:
            self._said = now
            say(f"{words} (for {now - self._since:.0f} s now; still waiting)")

    def goes_on(self) -> None:
        """Nothing is waited for any more."""
        self._since = None


def say(words: str) -> None:
    """A sentence to the user, besides results."""
    print(f"penstock: {words}", file=sys.stderr, flush=True)


def need(*packages: str) -> None:
    """Refuse to go on without what only some have installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise InvalidOption(f"runs on other machines need {', '.join(missing)}; install penstock[cluster]")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep Dask from reporting every lost worker: that is our business, and we say what matters."""
    import_module("distributed")  # it gives several of its loggers levels of their own
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"distributed(\.|$)")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
