"""Measure advice against truth, as the site reports it: `advice.py [SEEDS] [PROCESSES] [FIRST]`.

Sites are generated (tests/advise/world.py) from seeds FIRST on, run under fair-share, written out as logs see them, and
imported. Truth is the mean of a day over 100 other weeks of the same site, with everything known.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from penstock.advise import Advice, advise  # noqa: E402 - after the path
from penstock.advise.estimate import days_of  # noqa: E402
from penstock.advise.policies import CANDIDATES, IN_USE  # noqa: E402
from penstock.advise.runs import fate_of  # noqa: E402
from penstock.advise.sample import sample_days  # noqa: E402
from penstock.campaign.executor import Here  # noqa: E402
from penstock.model import Scenario  # noqa: E402
from penstock.policies.sharing import find  # noqa: E402
from penstock.studies.share import run_study  # noqa: E402
from penstock.studies.study import Study  # noqa: E402
from penstock.traces import Imported, Options  # noqa: E402
from tests.advise import world  # noqa: E402

PRESSURES = (0.3, 0.9, 1.2)
TRUE_WEEKS = 100
FIRST_TRUE = 1_000_000  # seeds of weeks that say what is true
KNOWN = Options(bandwidth=world.BANDWIDTH, node_bandwidth=world.NODE_BANDWIDTH)
# What is written out, what is told besides, and the part of all seeds that see it.
CASES = {
    "segments": ("segments", KNOWN, 1.0),
    "heat maps": ("heat maps", KNOWN, 1.0),
    "sacct + job_stats": ("sacct + job_stats", KNOWN, 1.0),
    "counters": ("counters", KNOWN, 0.34),
    "segments, caps unknown": ("segments", Options(bandwidth=world.BANDWIDTH), 0.34),
    "segments, bandwidth unknown": ("segments", Options(node_bandwidth=world.NODE_BANDWIDTH), 0.34),
}


class Outcome(NamedTuple):
    """What came of one site."""

    case: str
    pressure: float
    refused: str
    verdict: str
    of: str
    goal: str
    yields: tuple[float, float, float]
    hours: tuple[float, float, float]
    lost: float
    true_lost: float
    caps: float  # as imported, over the true ones: the median job
    figures: dict[str, dict[str, float]]  # by policy, what it seems to gain over what is in use
    tied: tuple[str, ...]


def main() -> None:
    """Measure and print tables in Markdown."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        truths = dict(zip(PRESSURES, (truth(pool, each) for each in PRESSURES), strict=True))
        tasks = [
            (case, first + seed, PRESSURES[seed % len(PRESSURES)])
            for seed in range(seeds)
            for case, (_, _, part) in CASES.items()
            if seed < part * seeds
        ]
        found = []
        for each in pool.imap_unordered(outcome, tasks):
            found.append(each)
            print(f"{len(found)} of {len(tasks)}", file=sys.stderr, flush=True)
    print(*table(found, truths), sep="\n")
    print()
    print(*knowledge(found, truths), sep="\n")
    print()
    print(*reasons(found), sep="\n")


def truth(pool: Any, pressure: float) -> dict[str, dict[str, float]]:
    """By policy, what it gains over fair-share in worst yield and node-hours, mean of a day."""
    weeks = np.array(pool.map(true_week, [(FIRST_TRUE + n, pressure) for n in range(TRUE_WEEKS)], chunksize=4))
    least, lost = weeks.mean(axis=0)
    place = CANDIDATES.index(IN_USE)
    return {
        name: {"yields": float(least[i] - least[place]), "hours": float(lost[place] - lost[i])}
        for i, name in enumerate(CANDIDATES)
    }


def true_week(task: tuple[int, float]) -> list[list[float]]:
    """Worst yield and node-hours lost of a day, mean of a week, under every policy."""
    scenario = world.site(*task)
    study = Study(scenario, bounds=False)
    fates = {name: fate_of(study.program, run_study(study, find(name))) for name in CANDIDATES}
    days = days_of(np.array([each.release for each in scenario.applications]))
    sample = sample_days(fates, days)
    return [np.nanmean(sample.min_yield, axis=0).tolist(), np.nanmean(sample.lost, axis=0).tolist()]


def outcome(task: tuple[str, int, float]) -> Outcome:
    """What advice says of one site, seen in one way."""
    case, seed, pressure = task
    source, options, _ = CASES[case]
    scenario = world.site(seed, pressure)
    true_lost = run_study(Study(scenario, bounds=False), find(IN_USE)).lost_share or 0.0
    with tempfile.TemporaryDirectory() as folder:
        found = world.SOURCES[source](world.watched(scenario), Path(folder), options)
    advice = advise(found, options, buffer=False, place=Here())
    tried = advice.tried
    return Outcome(
        case, pressure, advice.why_not.get("policy", ""), tried.verdict, tried.of, tried.goal,
        tuple(tried.shown.min_yield_gain), tuple(tried.shown.node_hours_gain or (0.0, 0.0, 0.0)),
        advice.contention.share.value, true_lost, _caps(scenario, found), _figures(advice), tried.tied,
    )  # fmt: skip


def _caps(scenario: Scenario, found: Imported) -> float:
    true = {each.name.split(".")[1]: each.nodes * world.NODE_BANDWIDTH for each in scenario.applications}
    return float(np.median([each.bandwidth / true[each.job.id] for each in found.applications if each.bandwidth]))


def _figures(advice: Advice) -> dict[str, dict[str, float]]:
    return {
        each.name: {"yields": each.min_yield_gain.value, "hours": each.node_hours_gain.value}
        for each in advice.tried.policies
        if each.node_hours_gain is not None
    }


Row = Callable[[str, float, list[Outcome], dict[str, dict[str, float]]], str]


def _by_case_and_pressure(
    heads: list[str], row: Row, found: list[Outcome], truths: dict[float, dict[str, dict[str, float]]]
) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| --- |{' --: |' * (len(heads) - 1)}"
    for case in CASES:
        for pressure in PRESSURES:
            own = [each for each in found if (each.case, each.pressure) == (case, pressure)]
            if own:
                yield row(case, pressure, own, truths[pressure])


def table(found: list[Outcome], truths: dict[float, dict[str, dict[str, float]]]) -> Iterator[str]:
    """A row for each way to see a site and each pressure."""
    heads = ["seen as", "pressure", "sites", "refused", "better", "right sign", "worst yield held", "node-hours held"]
    heads += ["lost, seen − true"]
    return _by_case_and_pressure(heads, _row, found, truths)


def _row(case: str, pressure: float, own: list[Outcome], true: dict[str, dict[str, float]]) -> str:
    told = [each for each in own if not each.refused]
    better = [each for each in told if each.verdict == "better"]
    column = {"min-yield": "yields", "node-hours": "hours"}
    right = sum(true[each.of][column[each.goal]] > 0 for each in better)
    yields = sum(_holds(each.yields, true[each.of]["yields"]) for each in told)
    timed = [each for each in told if not np.isnan(each.hours[1])]  # overloaded sites have no interval of them
    hours = sum(_holds(each.hours, true[each.of]["hours"]) for each in timed)
    apart = np.median([each.lost - each.true_lost for each in own])
    held = (f"{right} of {len(better)}", f"{yields} of {len(told)}", f"{hours} of {len(timed)}")
    shown = " | ".join(held) if told else "– | – | –"
    return f"| {case} | {pressure} | {len(own)} | {len(own) - len(told)} | {len(better)} | {shown} | {apart:+.3f} |"


def knowledge(found: list[Outcome], truths: dict[float, dict[str, dict[str, float]]]) -> Iterator[str]:
    """How near caps and the order of policies come to the truth, whether advice was given or not."""
    heads = ["seen as", "pressure", "caps, seen / true", "pairs in true order: yield", "node-hours", "best in group"]
    return _by_case_and_pressure(heads, _knowing, found, truths)


def _knowing(case: str, pressure: float, own: list[Outcome], true: dict[str, dict[str, float]]) -> str:
    ordered = [
        f"{np.mean([_in_order(each.figures, true, column) for each in own]):.0%}" for column in ("yields", "hours")
    ]
    told = [each for each in own if not each.refused]
    best = [each for each in told if _best(each, true) in each.tied]
    group = f"{len(best)} of {len(told)}" if told else "–"
    return f"| {case} | {pressure} | {np.median([each.caps for each in own]):.2f} | {' | '.join(ordered)} | {group} |"


def _in_order(seen: dict[str, dict[str, float]], true: dict[str, dict[str, float]], column: str) -> float:
    """The share of pairs of policies that are in their true order."""
    right = [
        (seen[one][column] - seen[other][column]) * (true[one][column] - true[other][column]) > 0.0
        for one, other in combinations(seen, 2)
    ]
    return float(np.mean(right))


def _best(each: Outcome, true: dict[str, dict[str, float]]) -> str:
    """Of the policies that truly do no harm in the other goal, the best in the goal of the answer."""
    goal, other = ("yields", "hours") if each.goal == "min-yield" else ("hours", "yields")
    harmless = [name for name in true if true[name][other] >= 0.0]
    return max(harmless, key=lambda name: true[name][goal])


def _holds(interval: tuple[float, float, float], value: float) -> bool:
    return interval[1] <= value <= interval[2]


def reasons(found: list[Outcome]) -> Iterator[str]:
    """Why advice was refused, and how often."""
    counts: dict[tuple[str, str], int] = {}
    for each in found:
        if each.refused:
            key = (each.case, each.refused.split(":")[0])
            counts[key] = counts.get(key, 0) + 1
    yield from (f"- {case}: {words} ({count})" for (case, words), count in sorted(counts.items()))


if __name__ == "__main__":
    main()
