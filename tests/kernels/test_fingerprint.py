"""Two functions have the same recipe only if they compile to the same."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from penstock.kernels.fingerprint import recipe

FILE = """
import math
import numba
import numpy as np
import helpers
from penstock.sharing.order import fill

GAIN = 1
STEPS = (1, 0.0)
TABLE = np.array([1.0, 2.0])
UNUSED = []

@numba.njit(fastmath={"nsz"})
def helper(x):
    return x + 1

@numba.njit
def down(x):
    return up(x - 1) if x > 0 else x

@numba.njit
def up(x):
    return down(x + 1)

def enclosing(inner):
    def policy(view, rates, least=0.5):
        # at last
        for row in range(rates.size):
            part = [GAIN * each for each in STEPS]
            rates[row] = helper(part[0]) + TABLE[row] * inner + math.sqrt(least) + np.float64(helpers.scaled(row))
            rates[row] = min(down(rates[row]), 3)
        fill(view, rates)
    return policy

policy = enclosing(7)
"""

CHANGES = {
    "a constant in the code": (", 3)", ", 4)"),
    "the type of a constant": (", 3)", ", 3.0)"),
    "the sign of zero in a global tuple": ("STEPS = (1, 0.0)", "STEPS = (1, -0.0)"),
    "a global number": ("GAIN = 1", "GAIN = 2"),
    "the type of a global number": ("GAIN = 1", "GAIN = True"),
    "a number of NumPy": ("GAIN = 1", "GAIN = np.float32(1)"),
    "a value in an array": ("[1.0, 2.0]", "[1.0, 3.0]"),
    "the type of an array": ("[1.0, 2.0]", "[1, 2]"),
    "the shape of an array": ("[1.0, 2.0]", "[[1.0, 2.0]]"),
    "a compiled helper": ("x + 1\n\n@numba.njit\ndef down", "x + 2\n\n@numba.njit\ndef down"),
    "the options of a helper": ('fastmath={"nsz"}', 'fastmath={"nsz", "reassoc"}'),
    "the signature of a helper": ('fastmath={"nsz"}', '"f4(f4)", fastmath={"nsz"}'),
    "a helper of a helper": ("down(x + 1)", "down(x + 2)"),
    "what is enclosed": ("enclosing(7)", "enclosing(7.0)"),
    "a default": ("least=0.5", "least=0.25"),
    "the lines, which errors tell": ("# at last", "# at\n        # last"),
    "which global a name means": ("GAIN = 1", "GAIN = 1\nmin = max"),
}

UNTOLD = {
    "a plain function, which somebody may have taught Numba": ("GAIN = 1", "def GAIN():\n    return 1"),
    "a list": ("GAIN = 1", "GAIN = [1]"),
    "a class": ("GAIN = 1", "class GAIN:\n    pass"),
    "an array that is read where it lies": ("np.array([1.0, 2.0])", "np.zeros(200_000)"),
    "an array in pieces": ("np.array([1.0, 2.0])", "np.arange(9.0)[::2]"),
    "an option that is a function": ('fastmath={"nsz"}', "inline=lambda *_: False"),
}


@pytest.fixture(autouse=True)
def helpers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the user's."""
    module = ModuleType("helpers")
    monkeypatch.setitem(sys.modules, "helpers", module)
    vars(module).update(scale=2.0, others=[], scaled=compiled("def scaled(row):\n    return scale * row", scale=2.0))
    return module


def compiled(text: str, **scope: Any) -> Any:
    exec(text, scope)
    return numba.njit(scope["scaled"])


def policy(text: str = FILE, name: str = "my.py") -> Callable[..., None]:
    """The policy in a file, read anew."""
    scope: dict[str, Any] = {"__name__": "penstock_policy_my"}
    exec(compile(text, name, "exec"), scope)
    found: Callable[..., None] = scope["policy"]
    return found


def test_a_file_read_twice_has_the_same_policy() -> None:
    assert policy() is not policy()
    assert recipe(policy()) == recipe(policy())
    assert hash(recipe(policy())) == hash(recipe(policy()))
    assert recipe(policy()) is not None


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_the_outcome_changes_the_recipe(change: str) -> None:
    changed = FILE.replace(*CHANGES[change])
    assert changed != FILE
    assert recipe(policy(changed)) not in (None, recipe(policy()))


@pytest.mark.parametrize("untold", UNTOLD)
def test_there_is_no_recipe_with_what_may_change_unseen(untold: str) -> None:
    changed = FILE.replace(*UNTOLD[untold])
    assert changed != FILE
    assert recipe(policy(changed)) is None


def test_what_is_not_used_makes_no_difference() -> None:
    assert recipe(policy(FILE.replace("UNUSED = []", "UNUSED = {}"))) == recipe(policy())


def test_the_same_text_in_another_file_is_another_policy() -> None:
    assert recipe(policy(name="other.py")) != recipe(policy())


def test_modules_of_the_user_count_with_what_is_used_of_them(helpers: ModuleType) -> None:
    before = recipe(policy())
    vars(helpers).update(others=[1])
    assert recipe(policy()) == before
    vars(helpers).update(scaled=compiled("def scaled(row):\n    return scale * row", scale=3.0))
    assert recipe(policy()) not in (None, before)
    vars(helpers).update(scaled=len, __getattr__=lambda name: 1.0)
    assert recipe(policy()) is None


def test_modules_that_lead_to_each_other_come_to_an_end(helpers: ModuleType) -> None:
    vars(helpers).update(scaled=helpers)
    assert recipe(policy()) is not None


def test_a_function_that_numba_has_compiled() -> None:
    def plain(x: float) -> float:
        return x + 1

    assert recipe(numba.njit(plain)) == recipe(numba.njit(plain))
    assert recipe(numba.njit(plain)) not in (None, recipe(plain), recipe(numba.njit(fastmath=True)(plain)))


def test_what_has_no_code_to_look_at_has_no_recipe() -> None:
    class Policy:
        def __call__(self, view: Any, rates: np.ndarray) -> None:
            rates[:] = 0.0

    def unready() -> float:
        return later

    before = recipe(unready)
    later = 1.0
    assert before is None
    assert recipe(unready) is not None
    assert recipe(Policy()) is None
