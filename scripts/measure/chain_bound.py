"""The chain bound beside the interval bound, on few long jobs: the rows of docs/measurements/references.md.

python scripts/measure/chain_bound.py --places 30000
"""

from __future__ import annotations

import argparse
import time

from penstock import generate, reference
from penstock.studies.reference import chain_bound
from penstock.studies.study import Study


def main() -> None:
    """One row per workload and seed."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--places", type=int, default=chain_bound.MOST_PLACES)
    asked.add_argument("--trials", type=int, default=100)
    given = asked.parse_args()
    for jobs in (3, 6):
        for seed in (0, 1):
            scenario = generate("synthetic", seed=seed, applications=jobs, small=0, medium=0)
            chain_bound.MOST_PLACES = 0  # the reference alone, without its own chain bound
            best = reference(scenario, trials=given.trials)
            chain_bound.MOST_PLACES = given.places
            begun = time.process_time()
            chain = chain_bound.chain_bound(Study(scenario).program, best.min_yield, best.bound_interval)
            seconds = time.process_time() - begun
            found = "none" if chain is None else f"{chain.bound:.4f} ({chain.slots} slots, {seconds:.0f} s)"
            exact = "" if best.exact is None else f"{best.exact.bound:.4f}"
            print(f"| {jobs} | {seed} | {best.min_yield:.4f} {best.found_by} | {found} | {exact} |", end=" ")
            print(f"{best.bound_interval:.4f} |", flush=True)


if __name__ == "__main__":
    main()
