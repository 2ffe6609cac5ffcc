"""The table of broken rules on the page about safety: `python scripts/measure/safety.py [SEEDS]`.

Every row is the same seeds with one rule taken away; the first row has all rules. Takes some minutes.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from live.harness.judge import Violation, Witness
from live.harness.runs import run_seed
from live.harness.world import World
from live.test_mutants import MUTANTS, SEEDS, Untold

WORDS = {
    "no wait for acks": "2: a decrease frees at once, before it is acknowledged",
    "lease from receipt": "4: the lease runs from the arrival of the grant",
    "no journal": "6: a restart begins with no charges",
    "no grace": "6: a journal that lost its end is trusted",
    "no order of revisions": "3: whatever arrives last is applied",
    "no margin for drift": "5: the controller waits L, not W",
    "ack without its rate": "2: the journal has the acknowledgement without its rate",
    "acks of an older epoch": "2: an acknowledgement of an earlier epoch frees",
    "expiry not written": "2: the end of a lease is used and not written down",
}


class Worst(Witness):
    """Adds up what clients use, against what may be in use, and lets the run go on."""

    def fail(self, text: str) -> None:
        """Noted in `worst_allowed`."""


def main(seeds: int) -> None:
    """Print the table, a row at a time."""
    print("| broken rule | runs in which the judge sees it | most in use, of what may be |\n| --- | --- | --- |")
    _row("none", lambda _: World, seeds)
    for name, mutant in MUTANTS.items():
        _row(WORDS[name], mutant, seeds)


def _row(words: str, mutant: Callable[[pytest.MonkeyPatch], type[World]], seeds: int) -> None:
    """One kind of controller. A run that ends in an error of its own is seen, too, but not by the judge."""
    seen, broken, worst = 0, 0, 0.0
    with pytest.MonkeyPatch.context() as patch:
        kind = mutant(patch)
        for seed in SEEDS[:seeds]:
            try:
                run_seed(seed, kind, Untold())
            except Violation:
                seen += 1
                worst = max(worst, _worst(seed, kind))
            except Exception:
                broken += 1
    over = f"{worst:.2f} ×" if worst > 1.0 else "not exceeded"
    count = f"{seen} of {seeds}" + (f", and {broken} break down" if broken else "")
    print(f"| {words} | {count} | {over} |", flush=True)


def _worst(seed: int, kind: type[World]) -> float:
    """How far a run goes beyond what may be in use, if nobody stops it."""
    witness = Worst()
    with contextlib.suppress(Exception):
        run_seed(seed, kind, witness)
    return witness.worst_allowed


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else len(SEEDS))
