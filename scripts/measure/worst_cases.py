"""Where each policy is at its worst against fair-share: the table of docs/measurements/worst-cases.md.

python scripts/measure/worst_cases.py --budget 1000 > worst.md
"""

from __future__ import annotations

import argparse

from penstock import PenstockError, attack
from penstock.policies.sharing import NAMES


def main() -> None:
    """One row per policy: the lowest ratio found, and the two yields, for both kinds of jobs."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--budget", type=int, default=1000)
    asked.add_argument("--against", default="fair-share")
    given = asked.parse_args()
    for name in NAMES:
        cells = [cell(name, given.against, kind, given.budget) for kind in ("closed", "arrivals")]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)


def cell(name: str, against: str, kind: str, budget: int) -> str:
    """What was found for one kind of jobs."""
    try:
        found = attack(name, against, jobs=kind, budget=budget)
    except PenstockError as error:
        return str(error)
    return f"{found.ratio:.3f} ({found.min_yield:.3f}, {found.min_yield_against:.3f})"


if __name__ == "__main__":
    main()
