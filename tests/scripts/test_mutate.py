"""The mutants that `make mutate` makes, and that it tells those that a test notices from those that none does."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import time

import pytest

from scripts.mutate.mutants import mutants
from scripts.mutate.targets import PACKAGE, ROOT, TARGETS, groups
from scripts.mutate.trial import Result, forked

CASES = {
    "return a < b": ["a < b → a <= b", "a < b → a >= b"],
    "return a is None and b": ["a is None → a is not None", "a is None and b → a is None or b"],
    "return a - 2 * b": ["a - 2 * b → a + 2 * b", "2 * b → 2 / b", "2 → 3"],
    "return 0.0 if a else 1.5": ["0.0 → 1.0", "1.5 → 3.0", "a → not a"],
    "return min(a, b)": ["min → max"],
    "if not a:\n  return": ["not a → a", "return → pass"],
    "a.b = b\nc = a.b\na.go(c)": ["a.b = b → pass", "a.go(c) → pass"],
    "raise ValueError(f'{a + 1}')": ["raise ValueError(f'{a + 1}') → pass"],
    "assert a > 0\n'a text'": [],
}


def function(body: str) -> str:
    return "def f(a: int = 3, b: int = 4) -> None:\n  " + body.replace("\n", "\n  ") + "\n"


@pytest.mark.parametrize("body", CASES)
def test_changes(body: str) -> None:
    assert sorted(f"{each.before} → {each.after}" for each in mutants(function(body))) == sorted(CASES[body])


def test_a_mutant_differs_in_one_line_which_it_names() -> None:
    lines = function("a.go()\nif a:\n  b += 1").splitlines()
    source = ast.unparse(ast.parse("class A:\n" + "".join(f"  {line}\n" for line in lines)))
    for mutant in mutants(source):
        both = zip(source.splitlines(), ast.unparse(mutant.tree()).splitlines(), strict=True)
        assert [number for number, (old, new) in enumerate(both, 1) if old != new] == [mutant.line]
        assert mutant.function == mutant.outermost == "A.f"


def test_every_module_and_every_test_of_the_targets_is_there() -> None:
    for module, tests in TARGETS.items():
        assert (PACKAGE / module).is_file()
        assert all((ROOT / each).exists() for each in tests)
    assert sorted(module for _, alike in groups(list(TARGETS)) for module in alike) == sorted(TARGETS)


def endless() -> Result:
    time.sleep(60.0)
    return Result()


def test_a_process_that_takes_too_long_or_dies_is_told() -> None:
    assert forked(lambda: Result(stopped="x"), 10.0) == Result(stopped="x")
    assert forked(lambda: sys.exit(1), 10.0).stopped == "an end without a word"
    assert forked(endless, 0.2).stopped == "the time limit"


@pytest.mark.slow
def test_a_few_mutants_of_the_bucket() -> None:
    # As many as are asked for, however long that takes: on a loaded machine two seconds were too few for a verdict.
    options = ["client/bucket.py", "--most", "4", "--longest", "0.1", "--verbose"]
    told = subprocess.run(
        [sys.executable, "-m", "scripts.mutate", *options], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    tried = re.findall(r"^(killed|survived) +src/penstock/client/bucket\.py:\d+  \w+\.\w+: ", told, re.M)
    counted, survived = map(int, re.findall(r"\d+", told.splitlines()[-1])[-2:])
    assert len(tried) == counted == 4 and tried.count("survived") == survived < counted, told
