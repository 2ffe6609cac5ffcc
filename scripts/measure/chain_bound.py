"""The chain bound beside the interval bound, on few long jobs: the rows of docs/measurements/references.md.

python scripts/measure/chain_bound.py --places 30000
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from penstock import Scenario, generate, reference
from penstock.studies.reference import chain_bound
from penstock.studies.study import Study


def main() -> None:
    """One row per workload and seed."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--places", type=int, default=chain_bound.MOST_PLACES)
    asked.add_argument("--trials", type=int, default=100)
    asked.add_argument("--small", type=int, default=0, metavar="SEEDS")
    given = asked.parse_args()
    if given.small:
        return small(range(given.small))
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
    return None


def small(seeds: range) -> None:
    """Three jobs with phases of whole seconds: which part of the gap to the best schedule each bound closes."""
    closed = []
    for seed in seeds:
        scenario = whole_seconds(seed)
        best = reference(scenario, trials=10)
        gap = best.bound_interval - best.min_yield
        if gap > 1e-3 and best.exact is not None:
            chain = chain_bound.chain_bound(Study(scenario).program, best.min_yield, best.bound_interval)
            bounds = [best.bound_interval if chain is None else chain.bound, best.exact.bound]
            closed.append([best.bound_interval, *bounds, best.min_yield])
            print(seed, " ".join(f"{value:.4f}" for value in closed[-1]), flush=True)
    interval, chain, exact, found = np.array(closed).T
    for name, bound in (("chain", chain), ("exact", exact)):
        print(
            f"{name}: closes {np.mean((interval - bound) / (interval - found)):.3f} of the gap, {len(closed)} instances"
        )


def whole_seconds(seed: int) -> Scenario:
    """Two to four times a compute of 1 to 6 s and a write of 1 to 3 s; released in the first 3 s."""
    draw = np.random.default_rng(seed)
    jobs = []
    for number in range(3):
        phases: list[dict[str, int]] = []
        for _ in range(draw.integers(2, 5)):
            phases += [{"compute": int(draw.integers(1, 7))}, {"write": int(draw.integers(1, 4))}]
        jobs.append({"name": f"a{number}", "phases": phases, "release": int(draw.integers(0, 4))})
    document = {"version": 1, "platform": {"bandwidth": 1}, "window": {"end": 20}, "applications": jobs}
    return Scenario.from_document(document)


if __name__ == "__main__":
    main()
