"""`python -m scripts.mutate [MODULE …]`: a seeded sample of mutants for as long as the budget lasts."""

from __future__ import annotations

import argparse
import os
import random
from collections import Counter
from pathlib import Path

import pytest

os.environ["NUMBA_DISABLE_JIT"] = "1"  # before anything imports Numba
from scripts.mutate.mutants import Mutant, mutants
from scripts.mutate.targets import PACKAGE, ROOT, TARGETS, groups
from scripts.mutate.trial import PROFILE, Result, Trials, register_profile


def main() -> None:
    """Try small changes of the code and print those that no test notices."""
    options = _options()
    os.chdir(ROOT)
    os.environ["HYPOTHESIS_PROFILE"] = PROFILE
    register_profile()
    known = {module: _mutants_of(module, options.line) for module in options.modules}
    total = sum(map(len, known.values()))
    for tests, modules in groups(options.modules):
        drawn = [(PACKAGE / module, mutant) for module in modules for mutant in known[module]]
        random.Random(options.seed).shuffle(drawn)
        _group(tests, drawn, options.seconds * len(drawn) / total, options)


def _mutants_of(module: str, lines: list[int] | None) -> list[Mutant]:
    found = mutants((PACKAGE / module).read_text(encoding="utf-8"))
    return found if lines is None else [mutant for mutant in found if mutant.line in lines]


def _group(tests: list[str], drawn: list[tuple[Path, Mutant]], seconds: float, options: argparse.Namespace) -> None:
    """Modules that have the same tests, in a process of their own: it need not import what the others do."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    outcomes = Outcomes(options.verbose)
    trials = Trials(drawn[: options.most], seconds, options.longest, outcomes.tell)
    pytest.main(
        ["-s", "-q", "--tb=native", "--no-header", "--no-summary", "-p", "no:cacheprovider", *tests], plugins=[trials]
    )
    outcomes.show(Counter(path for path, _ in drawn))
    os._exit(0)


class Outcomes:
    """Prints survivors as they come, and counts."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._tried: Counter[Path] = Counter()
        self._survived: Counter[Path] = Counter()

    def tell(self, path: Path, mutant: Mutant, result: Result) -> None:
        """What became of one mutant."""
        self._tried[path] += 1
        where = f"{path.relative_to(ROOT)}:{mutant.line}  {mutant}"
        if not result.stopped:
            self._survived[path] += 1
            print(f"survived  {where}", flush=True)
        elif self._verbose:
            print(f"killed    {where}  by {result.stopped}", flush=True)

    def show(self, known: Counter[Path]) -> None:
        """How many there are of each module, how many were tried, and how many nobody noticed."""
        for path, count in known.items():
            tried, survived = self._tried[path], self._survived[path]
            print(
                f"{path.relative_to(PACKAGE)!s:32} {count:4} mutants, {tried:4} tried, {survived:3} survived",
                flush=True,
            )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m scripts.mutate", description=main.__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(TARGETS)}; all if none is given")
    parser.add_argument("--seconds", type=float, default=1200.0, help="budget; what does not fit in is not tried")
    parser.add_argument("--most", type=int, metavar="COUNT", help="mutants tried of modules with the same tests")
    parser.add_argument("--line", type=int, action="append", help="only mutants of this line; may be given again")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which mutants are tried")
    parser.add_argument("--longest", type=float, default=5.0, help="tests that take longer, in seconds, are left out")
    parser.add_argument("--verbose", action="store_true", help="also show what was noticed, and by which test")
    options = parser.parse_args()
    if unknown := set(options.modules) - set(TARGETS):
        parser.error(f"{', '.join(sorted(unknown))}: no module with tests here; known: {', '.join(TARGETS)}")
    options.modules = options.modules or list(TARGETS)
    return options


if __name__ == "__main__":
    main()
