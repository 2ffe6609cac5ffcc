"""Measure the policies as the site reports them: `python scripts/measure/policies.py` prints the table of means.

60 applications of P1 §6.2.1 at three I/O pressures, 20 seeds each.
"""

from __future__ import annotations

from statistics import fmean

from penstock import compare, generate
from penstock.policies.sharing import NAMES

PRESSURES = (0.8, 1.0, 1.1)
SEEDS = range(20)
METRICS = ("min_yield", "distance_to_bound", "efficiency", "seconds")


def main() -> None:
    """One line per metric and policy, one column per pressure."""
    runs = {
        pressure: list(zip(*(compare(generate("synthetic", seed, pressure=pressure)) for seed in SEEDS), strict=True))
        for pressure in PRESSURES
    }
    for metric in METRICS:
        for place, name in enumerate(NAMES):
            means = [fmean(getattr(result, metric) for result in runs[pressure][place]) for pressure in PRESSURES]
            print(f"{metric:20} {name:24}", *(f"{mean:8.4f}" for mean in means))


if __name__ == "__main__":
    main()
