"""Measure how far the exact optimum goes: `python scripts/measure/optimum.py` prints the site's table in half an hour.

The jobs are periodic, run about equally long alone, and their I/O fills the storage without drowning it: the hardest.
"""

from __future__ import annotations

from random import Random
from statistics import fmean, median

from penstock import Scenario, optimum

SIZES = ((3, 20), (3, 50), (5, 5), (5, 10), (5, 20), (8, 3), (8, 5), (8, 10), (12, 3), (12, 5))
SEEDS = range(4)
LIMIT = 60.0


def main() -> None:
    """One row per size: jobs, operations, proved, median seconds, mean gap, how much longer the best known order is."""
    for jobs, length in SIZES:
        found = [optimum(instance(jobs, length, seed), LIMIT) for seed in SEEDS]
        cells = (
            f"{jobs}",
            f"{fmean(best.schedule.start.size for best in found):.0f}",
            f"{sum(best.optimal for best in found)} of {len(found)}",
            f"{median(best.seconds for best in found):.1f} s",
            f"{fmean(best.gap for best in found):.1%}",
            f"{fmean(best.heuristic.makespan / best.makespan - 1 for best in found):.1%}",
        )
        print("|", " | ".join(cells), "|", flush=True)


def instance(jobs: int, length: int, seed: int) -> Scenario:
    """Jobs (a, b)^n with n·a about ten times `length`, of an I/O weight of about 1."""
    chance = Random(seed)
    return Scenario.from_document(
        {
            "version": 1,
            "platform": {"bandwidth": 1},
            "applications": [{"name": f"j{i}", "phases": [loop(jobs, length, chance)]} for i in range(jobs)],
        }
    )


def loop(jobs: int, length: int, chance: Random) -> dict[str, object]:
    """One job."""
    compute = chance.randint(10, 200) / 10
    share = chance.uniform(0.6, 1.4) / jobs
    write = max(0.1, round(compute * share / (1 - share), 1))
    count = max(1, round(length * 10 / compute * chance.uniform(0.8, 1.2)))
    return {"repeat": count, "phases": [{"compute": compute}, {"write": write}]}


if __name__ == "__main__":
    main()
