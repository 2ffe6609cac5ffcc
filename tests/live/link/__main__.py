"""`python -m tests.live.link [--runs 2] [--policies A,B] [--json FILE]`: policies, and writers paced and not.

All policies take nine minutes for each run.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from .link import link_up, obstacle
from .measuring import (
    MARGIN,
    NONE,
    POLICIES,
    Document,
    contended,
    paced_writers,
    payload_rate,
    sensitivity,
    unpaced_writers,
)
from .workload import table_1

WRITERS = (1, 2, 4, 8)
PACED_BESIDE_INTRUDER = 4
SECONDS = 12.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.live.link", description=__doc__)
    parser.add_argument("--runs", type=int, default=2, help="of everything")
    parser.add_argument("--rate", type=int, default=50, help="of the link, MB/s")
    parser.add_argument("--policies", type=lambda text: tuple(text.split(",")), default=POLICIES, help="A,B,…")
    parser.add_argument("--json", type=Path, help="file for the results")
    told = parser.parse_args()
    if reason := obstacle():
        sys.exit(f"penstock: {reason}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("penstock: stopped"))  # not without taking the link down
    results = measure(told.rate, told.runs, told.policies)
    if told.json:
        told.json.write_text(json.dumps(results, indent=1) + "\n")
    print("\n".join(tables(results)))


def measure(megabytes: int, runs: int, policies: Sequence[str] = POLICIES) -> Document:
    """Everything, so many times."""
    with link_up(megabytes) as link:
        bandwidth = payload_rate(link)
        capacity = (1.0 - MARGIN) * bandwidth
        workload = table_1(bandwidth)
        results: Document = {"link": 1e6 * megabytes, "payload": bandwidth, "capacity": capacity}
        results["unpaced"] = [unpaced_writers(link, n, SECONDS) for _ in range(runs) for n in WRITERS]
        results["writers"] = [paced_writers(link, capacity, n, SECONDS) for _ in range(runs) for n in WRITERS]
        results["intruder"] = [paced_writers(link, capacity, PACED_BESIDE_INTRUDER, SECONDS, 1) for _ in range(runs)]
        results["runs"] = []
        for _ in range(runs):
            for policy in policies:
                results["runs"].append(contended(link, workload, policy, bandwidth, capacity))
                print(line(results["runs"][-1]), file=sys.stderr, flush=True)
    results["sensitivity"] = {policy: sensitivity(workload, policy, bandwidth, capacity) for policy in policies}
    return results


def line(run: Document) -> str:
    """One run in a few words."""
    each = " ".join(f"{stretch:.3f} ({run['off'][name]:+.1%})" for name, stretch in run["stretch"].items())
    return f"{run['policy']:14} {each}  makespan {run['makespan']:.1f} s ({run['predicted_makespan']:.1f})"


def tables(results: Document) -> list[str]:
    """The results as tables of a Markdown page."""
    return [
        f"Payload {megabytes(results['payload'])} MB/s, capacity {megabytes(results['capacity'])} MB/s",
        *policies_table(results),
        *(gains_table(results) if NONE in measured_policies(results) else ()),
        *writers_table(results),
    ]


def measured_policies(results: Document) -> list[str]:
    """Each once, in the order of the runs."""
    return list(dict.fromkeys(run["policy"] for run in results["runs"]))


def megabytes(rate: float) -> str:
    return f"{rate / 1e6:.2f}"


def policies_table(results: Document) -> list[str]:
    """Stretches of every application, lowest and highest of the runs, and the prediction."""
    names = list(results["runs"][0]["stretch"])
    rows = ["", f"| | {' | '.join(names)} | largest difference |", "| --- |" + " --: |" * (len(names) + 1)]
    for policy in measured_policies(results):
        runs = [run for run in results["runs"] if run["policy"] == policy]
        measured = [spread([run["stretch"][name] for run in runs]) for name in names]
        off = max((value for run in runs for value in run["off"].values()), key=abs)
        rows.append(f"| {policy} | {' | '.join(measured)} | {off:+.1%} |")
        predicted = [f"*{runs[0]['predicted'][name]:.3f}*" for name in names]
        rows.append(f"| *predicted* | {' | '.join(predicted)} | |")
    return rows


def gains_table(results: Document) -> list[str]:
    """What each policy gains over none, in the figures that operators look at."""
    rows = ["", "| | max stretch | mean stretch | makespan, s | max stretch against none | predicted |"]
    rows.append("| --- |" + " --: |" * 5)
    for policy in measured_policies(results):
        runs = [run for run in results["runs"] if run["policy"] == policy]
        none = [run for run in results["runs"] if run["policy"] == NONE]
        largest, before = [most(run["stretch"]) for run in runs], [most(run["stretch"]) for run in none]
        gains = [one / two - 1.0 for one, two in zip(largest, before, strict=True)]
        promised = most(runs[0]["predicted"]) / most(none[0]["predicted"]) - 1.0
        means = [sum(run["stretch"].values()) / len(run["stretch"]) for run in runs]
        makespans = spread([run["makespan"] for run in runs], ".1f")
        gained = "" if policy == NONE else f"{spread(gains, '+.1%')} | {promised:+.1%}"
        rows.append(f"| {policy} | {spread(largest)} | {spread(means)} | {makespans} | {gained or ' | '} |")
    return rows


def most(stretch: dict[str, float]) -> float:
    return max(stretch.values())


def writers_table(results: Document) -> list[str]:
    """Paced writers alone, and beside one that is not paced."""
    rows = ["", "| writers | each, MB/s | Σ against the grant | largest share off by |", "| --- | --: | --: | --: |"]
    for number in WRITERS:
        found = [each for each in results["writers"] if each["writers"] == number]
        rows.append(f"| {number} | {writers_row(found)} |")
    rows.append(f"| {PACED_BESIDE_INTRUDER} and an intruder | {writers_row(results['intruder'])} |")
    intruders = [rate / 1e6 for each in results["intruder"] for rate in each["intruders"]]
    return [*rows, "", f"The intruder got {spread(intruders, '.2f')} MB/s."]


def writers_row(found: list[Document]) -> str:
    rates = [rate / 1e6 for each in found for rate in each["rates"]]
    sums, shares = [each["sum_off"] for each in found], [each["share_off"] for each in found]
    return f"{spread(rates, '.2f')} | {spread(sums, '+.2%')} | {max(shares):.2%}"


def spread(values: list[float], form: str = ".3f") -> str:
    """The lowest and the highest, or one if they look the same."""
    low, high = f"{min(values):{form}}", f"{max(values):{form}}"
    return low if low == high else f"{low} … {high}"


if __name__ == "__main__":
    main()
