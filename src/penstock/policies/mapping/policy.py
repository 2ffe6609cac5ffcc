"""What a mapping policy is: a function from a View to the jobs that start now, a name, and parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from penstock.errors import PolicyError
from penstock.policies.mapping.view import View
from penstock.policies.parameters import check_known, labelled
from penstock.policies.sharing.asking import raised
from penstock.policies.sharing.policy import rule_of

Starts = list[tuple[int, int]]  # rows of the View, each with the I/O node on which it starts


@dataclass(frozen=True)
class MappingPolicy:
    """A policy for which jobs start now, and where.

    One with `packs` starts jobs on empty I/O nodes only; those that start together there are a pack.
    """

    name: str
    plain: Callable[..., Any]
    rule: str = ""
    source: str = ""
    packs: bool = False
    settings: Mapping[str, float] = field(default_factory=dict)
    defaults: Mapping[str, float] = field(default_factory=dict)

    decision: ClassVar[str] = "mapping"

    def with_settings(self, given: Mapping[str, float]) -> MappingPolicy:
        """The same policy with other parameters; a name it does not have is refused."""
        who = f"mapping policy {self.name!r}"
        check_known(who, self.settings, given)
        for name, value in given.items():
            if not value >= 0.0:
                raise PolicyError(f"{who}: {name} is {value:g}; it must be a number, 0 or more")
        return replace(self, settings={**self.settings, **given}) if given else self

    @property
    def label(self) -> str:
        """The name, with the parameters that were set: what `--mapping` takes to get this policy again."""
        return labelled(self.name, self.settings, self.defaults)

    def decide(self, view: View, names: Sequence[str]) -> Starts:
        """Who starts now, and where; `names`, of all jobs of the scenario, are for sentences about what is wrong."""
        who = f"mapping policy {self.name!r}, at t = {view.now:g} s,"
        try:
            given = self.plain(view)
        except PolicyError:
            raise
        except (Exception, SystemExit) as error:
            raise raised(who, self.plain, error) from error
        starts = _pairs(who, given, view)
        _check_room(who, starts, view, names)
        if self.packs:
            _check_empty(who, starts, view)
        return starts


def _pairs(who: str, given: Any, view: View) -> Starts:
    """What was returned as pairs of numbers, each job once and one that waits."""
    try:
        pairs = np.array(list(given))
    except (TypeError, ValueError):
        pairs = np.empty(1)
    if pairs.size == 0:
        return []
    if pairs.shape[1:] != (2,) or not np.issubdtype(pairs.dtype, np.integer):
        kind = type(given).__name__
        raise PolicyError(f"{who} returned a {kind} without pairs; it must return a list of (row, I/O node)")
    started: set[int] = set()
    for row in pairs[:, 0].tolist():
        if not 0 <= row < view.job.size or view.node[row] >= 0 or row in started:
            raise PolicyError(f"{who} started row {row}, which does not wait; view.waiting has the rows that do")
        started.add(row)
    return [(row, node) for row, node in pairs.tolist()]


def _check_room(who: str, starts: Starts, view: View, names: Sequence[str]) -> None:
    """Refuse a job on an I/O node that is not there, or that has not enough processors left for it."""
    free = view.free.copy()
    for row, node in starts:
        name = names[view.job[row]]
        if not 0 <= node < free.size:
            raise PolicyError(f"{who} started {name!r} on I/O node {node}; they are 0 to {free.size - 1}")
        if view.processors[row] > free[node]:
            raise PolicyError(
                f"{who} started {name!r}, which needs {view.processors[row]:,} processors, "
                f"on I/O node {node}, which has {free[node]:,} left"
            )
        free[node] -= view.processors[row]


def _check_empty(who: str, starts: Starts, view: View) -> None:
    """Refuse a pack beside another."""
    for _, node in starts:
        if view.free[node] < view.room:
            raise PolicyError(f"{who} started a pack on I/O node {node}, where jobs run; a pack has a node for itself")


def mapping(
    name: str, *, source: str = "", packs: bool = False, **parameters: float
) -> Callable[[Callable[..., Any]], MappingPolicy]:
    """Make a mapping policy of a function `(view)` that returns pairs: a row of the View, the I/O node it starts on.

    `parameters` are numbers, 0 or more, that users may change, `name(factor=3)`, with their defaults; the function
    finds them in `view.settings`. With `packs` it is asked only about I/O nodes on which nothing runs.
    """
    return lambda function: MappingPolicy(name, function, rule_of(function), source, packs, parameters, parameters)
