"""A scenario of a campaign that several plans are tried on: what they have in common is worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.model import Scenario

T = TypeVar("T")


class Case:
    """One scenario, the seed it came from, and what tasks keep for the next plan."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self._kept: dict[str, Any] = {}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` gives, made for the first who asks for `name`."""
        if name not in self._kept:
            self._kept[name] = make()
        found: T = self._kept[name]
        return found
