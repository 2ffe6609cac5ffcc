"""How much of the clairvoyant search policies reach: the rows of docs/measurements/references.md.

`python scripts/measure/references.py rows.jsonl --seeds 9000-9003` measures, with `--table` it prints the table.
Rows are added one by one, so that it can be stopped; what is there already is not done again.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import penstock
from penstock.campaign.statistics import mean_intervals

POLICIES = ("reserve-credit", "steady-reserve", "credited-yield", "greedy-yield", "fair-share")
PRESSURES = (0.9, 1.0, 1.1)


def main() -> None:
    """Measure, or print the table of what was measured."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("rows", type=Path)
    asked.add_argument("--seeds", default="9000-9003")
    asked.add_argument("--trials", type=int, default=30)
    asked.add_argument("--table", action="store_true")
    given = asked.parse_args()
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows.exists() else []
    if given.table:
        return table(rows)
    first, last = map(int, given.seeds.split("-"))
    done = {(row["pressure"], row["seed"], row["trials"]) for row in rows}
    for seed in range(first, last + 1):
        for pressure in PRESSURES:
            if (pressure, seed, given.trials) not in done:
                with given.rows.open("a") as file:
                    file.write(json.dumps(measured(pressure, seed, given.trials)) + "\n")
    return None


def measured(pressure: float, seed: int, trials: int) -> dict[str, object]:
    """One instance of P1's workload."""
    begun = time.process_time()
    scenario = penstock.generate("synthetic", seed=seed, pressure=pressure)
    runs = penstock.compare(scenario, POLICIES)
    best = penstock.reference(scenario, trials=trials, runs=runs)
    yields = {run.sharing: run.min_yield for run in runs}
    seconds = time.process_time() - begun
    return {"pressure": pressure, "seed": seed, "trials": trials, **best.to_dict(), "yields": yields, "cpu": seconds}


def table(rows: list[dict[str, Any]]) -> None:
    """Mean shares of the best schedule found, with 95 % intervals, as Markdown."""
    for pressure in PRESSURES:
        some = [row for row in rows if row["pressure"] == pressure]
        best = np.array([row["min_yield"] for row in some])
        bound = np.array([row["bound"] for row in some])
        seconds = np.mean([row["cpu"] for row in some])
        by = {row["found_by"] for row in some}
        print(f"pressure {pressure}, {len(some)} seeds, best {best.mean():.4f}, bound {bound.mean():.4f}, by {by},")
        print(f"  best/bound {(best / bound).mean():.4f}, {seconds:.0f} s each")
        for name in POLICIES:
            share = np.array([row["yields"][name] for row in some]) / best
            (found,) = mean_intervals(share[:, np.newaxis])
            print(f"  {name}: {found.mean:.4f} ({found.low:.4f} … {found.high:.4f}), lowest {share.min():.4f}")


if __name__ == "__main__":
    main()
