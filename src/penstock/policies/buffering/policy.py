"""What a strategy for a burst buffer is: a function from the flows to rates, and a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.core.errors import NumbaError

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.kernels.compile import compile_policy, kernel, reason
from penstock.policies.buffering.view import DIVIDE, Flows
from penstock.policies.sharing.policy import rule_of

Divide = Callable[[Flows, Floats], None]


@dataclass(frozen=True)
class Strategy:
    """A strategy, ready to run. `divide` writes one rate per row of the flows."""

    name: str
    divide: Divide
    plain: Callable[..., Any]
    rule: str = ""
    source: str = ""
    plans: bool = False  # whether it wants a schedule made ahead of the run


def strategy(name: str, *, source: str = "", plans: bool = False) -> Callable[[Divide], Strategy]:
    """Make a compiled strategy of a function `(flows, rates)`; the first line of its docstring is shown to users."""

    def build(function: Divide) -> Strategy:
        try:
            compiled = compile_policy(function, DIVIDE)
        except (NumbaError, TypeError) as error:
            raise PolicyError(f"buffering strategy {name!r} does not compile: {reason(error)}") from error
        return Strategy(name, compiled, function, rule_of(function), source, plans)

    return build


@kernel(DIVIDE)
def nothing(flows: Flows, rates: Floats) -> None:
    """Stands in where a sharing policy decides."""
