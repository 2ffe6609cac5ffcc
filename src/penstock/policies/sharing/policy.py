"""What a sharing policy is: a function from a View to rates, a name, parameters, and when it wants to be asked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import compile_policy, reason
from penstock.policies.parameters import check_known, labelled
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.view import DECIDE, View

Decide = Callable[[View, Floats], None]


class Outlook(NamedTuple):
    """What is known of a run before it starts, for policies that want extra decisions."""

    begin: float
    end: float  # infinity without a window
    operations: int  # I/O operations that the applications would start before `end`, each running alone


Ticks = Callable[[Outlook, Mapping[str, float]], float | None]
Prepare = Callable[[Foresight, Mapping[str, float]], Floats]


def no_ticks(outlook: Outlook, settings: Mapping[str, float]) -> float | None:
    """Decide at postings, completions and releases only."""
    return None


@dataclass(frozen=True)
class Sharing:
    """A sharing policy, ready to run. `decide` writes one rate per row of the View; `rates` comes zeroed."""

    name: str
    decide: Decide
    plain: Decide
    compiled: bool
    rule: str = ""
    source: str = ""
    settings: Mapping[str, float] = field(default_factory=dict)
    ticks: Ticks = no_ticks
    memory: int = 0
    defaults: Mapping[str, float] = field(default_factory=dict)
    prepare: Prepare | None = None
    losses: bool = True
    window: float = 1.0  # how long it is told that the window is, of its true length; see `misled`

    def with_settings(self, given: Mapping[str, float]) -> Sharing:
        """The same policy with other parameters; a name it does not have is refused."""
        check_known(f"sharing policy {self.name!r}", self.settings, given)
        for name in given:
            if not np.isfinite(given[name]):
                raise PolicyError(f"sharing policy {self.name!r}: {name} is {given[name]}; it must be a finite number")
        return replace(self, settings={**self.settings, **given}) if given else self

    @property
    def label(self) -> str:
        """The name, with the parameters that were set: what `--sharing` takes to get this policy again."""
        return labelled(self.name, self.settings, self.defaults)

    def initial_memory(self, applications: int, foresight: Foresight | None) -> Floats:
        """What `view.memory` holds when a run starts."""
        if self.prepare is None:
            return np.zeros(self.memory * applications)
        if foresight is None:
            raise PolicyError(
                f"sharing policy {self.name!r} plans with the phases still to come, which are not known here; "
                "choose one that decides by what it sees"
            )
        return np.array(self.prepare(foresight, self.settings), dtype=np.float64)

    def settings_array(self) -> Floats:
        """Parameters in declared order, as `View.settings`."""
        return np.array(list(self.settings.values()), dtype=np.float64)


def sharing(
    name: str,
    *,
    source: str = "",
    ticks: Ticks = no_ticks,
    memory: int = 0,
    prepare: Prepare | None = None,
    losses: bool = False,
    **parameters: float,
) -> Callable[[Decide], Sharing]:
    """Make a compiled policy of a function `(view, rates)`; its docstring's first line is the rule shown to users.

    `parameters` are numbers users may change, `name(g=3)`, with their defaults; the function finds them in
    `view.settings` in this order. `memory` asks for that many numbers per application, kept between decisions in
    `view.memory`. `ticks` gives the seconds between extra decisions, or None. A policy that plans ahead has a
    `prepare`, which is shown the jobs before the run and returns what `view.memory` holds at first. `losses` asks for
    `view.mean_loss`, which takes a look at every application, not just the active ones, at each decision.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise PolicyError(f"{name!r} is no policy name; one is made of lower-case letters, digits and dashes")

    def build(function: Decide) -> Sharing:
        try:
            compiled = compile_policy(function, DECIDE)
        except (NumbaError, TypeError) as error:
            raise PolicyError(f"sharing policy {name!r} does not compile: {reason(error)}") from error
        rule = rule_of(function)
        return Sharing(
            name, compiled, function, True, rule, source, parameters, ticks, memory, parameters, prepare, losses
        )

    return build


def rule_of(function: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(function) or "").strip().split("\n")[0]
