"""Asking a policy: whatever a user's function does wrong becomes a sentence that names it."""

from __future__ import annotations

from collections.abc import Sequence
from traceback import extract_tb
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from penstock.errors import PolicyError
from penstock.kernels.arrays import SAME, Floats
from penstock.kernels.compile import compile_policy, once, reason
from penstock.policies.sharing.policy import Sharing
from penstock.policies.sharing.view import DECIDE, View


def ask(policy: Sharing, view: View, rates: Floats) -> None:
    """Let `policy` decide; it writes `rates`."""
    try:
        given: Any = policy.decide(view, rates)  # type: ignore[func-returns-value]
    except NumbaError as error:
        raise does_not_compile(policy, error) from error
    except (Exception, SystemExit) as error:
        raise raised(at(policy, view.now), policy.plain, error) from error
    if given is not None:
        kind = type(given).__name__
        raise PolicyError(f"sharing policy {policy.name!r} returned a {kind}; it must write into `rates`")


def first_class(policy: Sharing) -> Any:
    """Its function in the form that kernels can call; a user's own Numba function gets our signature first."""
    decide: Any = policy.decide
    if DECIDE in getattr(decide, "nopython_signatures", [DECIDE]):
        return decide

    def build() -> Any:
        decide.compile(DECIDE)
        return decide

    try:
        return once(decide, DECIDE, build)
    except (NumbaError, TypeError) as error:
        raise does_not_compile(policy, error) from error


def compiled(policy: Sharing) -> Any:
    """The function of a plain policy compiled, for a loop that calls no Python."""
    try:
        return compile_policy(policy.plain, DECIDE)
    except (NumbaError, TypeError) as error:
        raise does_not_compile(policy, error) from error


def improper(
    policy: Sharing, names: Sequence[str], view: View, rates: Floats, unit: str = "bytes/s", where: str = ""
) -> str:
    """What is wrong with the rates of a decision, as a sentence; empty if nothing is."""
    who = at(policy, view.now) + where
    for row, rate in enumerate(rates):
        if np.isnan(rate) or rate < 0.0:
            given = "a rate that is not a number" if np.isnan(rate) else f"a rate of {rate:g} {unit}"
            return f"{who} gave {names[row]!r} {given}; a rate is 0 or more"
        if rate > view.limit[row] * (1.0 + SAME):
            return f"{who} gave {names[row]!r} {rate:g} {unit}; it can use {view.limit[row]:g} at most"
    if rates.sum() > view.capacity * (1.0 + SAME):
        return f"{who} gave out {rates.sum():g} {unit} in all; there are {view.capacity:g}"
    return ""


def at(policy: Sharing, now: float) -> str:
    """The start of a sentence about a decision."""
    return f"sharing policy {policy.name!r}, at t = {now:g} s,"


def raised(who: str, plain: Any, error: BaseException) -> PolicyError:
    """The error of a policy, `plain` its function, that raised one."""
    message = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    code: Any = getattr(plain, "__code__", None)
    frames = [frame for frame in extract_tb(error.__traceback__) if code and frame.filename == code.co_filename]
    return PolicyError(f"{who} raised {message}" + (f" (line {frames[-1].lineno})" if frames else ""))


def does_not_compile(policy: Sharing, error: Exception) -> PolicyError:
    """The error of a policy that Numba refuses."""
    return PolicyError(f"sharing policy {policy.name!r} does not compile: {reason(error)}")
