"""Measure packs and backfilling as the site reports them: `python scripts/measure/packs.py` prints the tables.

The workloads of P3 §6.2.2, ten for each aimed I/O load, on 1, 3 and 5 I/O nodes. Every figure is a ratio to first-fit
with list-fifo on the same workload; means are geometric. Takes a quarter of an hour, and draws the pictures of the
page, too. Names of tables as arguments (mappings, rules, sensitivities, sharing) measure those only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean, geometric_mean

import numpy as np

from penstock import Scenario, generate, pack
from penstock.policies.mapping.backfill import DEFAULT_SENSITIVITY, Backfill
from penstock.policies.sharing.exclusive import ranked
from penstock.report.parts.theme import COLOURS, INK, theme
from penstock.report.plots import save_figure
from penstock.studies.packs import Packing

ALPHAS = (0.5, 0.75, *map(float, range(1, 11)))
SEEDS = range(100, 110)  # not those on which the rule of backfilling was chosen, 0 to 9
NODES = (1, 3, 5)
POLICIES = (
    "list-fifo", "list-most-remaining", "list-stretch", "list-shortest-io", "fair-share", "greedy-yield", "set-10"
)  # fmt: skip
SHARES = ("wait", "wait_of_wide", "before_widest")
PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"

Row = dict[str, float]
Run = Callable[[Scenario, int], Packing]


class NoPromise(Backfill):
    """Anyone who fits may pass."""

    def _promise(self, job, now):  # type: ignore[no-untyped-def]
        return None


class Closed(Backfill):
    """Nobody may pass on the promised node."""

    def _harmless(self, job, promise, now):  # type: ignore[no-untyped-def]
        return False


# What a queue goes by: T, the part of a node's processor time, and V.
QUEUES = {
    "T": lambda time, processing, io: time,
    "Q·T/P": lambda time, processing, io: processing,
    "V": lambda time, processing, io: io,
    "max(Q·T/P, V)": lambda time, processing, io: np.maximum(processing, io),
    "Q·T/P + V": lambda time, processing, io: processing + io,
    "T/2 + Q·T/P + V": lambda time, processing, io: time / 2 + processing + io,
    "T + Q·T/P + V": lambda time, processing, io: time + processing + io,
    "Q": lambda time, processing, io: processing / time,
}


def main() -> None:
    """All tables and pictures, or those that are named."""
    tables = {"mappings": mappings, "rules": rules, "sensitivities": sensitivities, "sharing": shared}
    for title in sys.argv[1:] or tables:
        measured = measure(dict(tables[title]()))
        print_means(title, measured)
        print_by_alpha(title, measured)
        if title == "mappings":
            draw_by_alpha(measured)


def mappings() -> Iterator[tuple[str, Run]]:
    """The packs of P3 and backfilling."""
    yield "S = 1", lambda scenario, nodes: pack(scenario, 1, io_nodes=nodes)
    yield "S = alpha", lambda scenario, nodes: pack(scenario, "alpha", io_nodes=nodes)
    yield "backfill", lambda scenario, nodes: pack(scenario, backfill=True, io_nodes=nodes)


def sensitivities() -> Iterator[tuple[str, Run]]:
    """Backfilling with other S."""
    for sensitivity in (1, 1.25, 1.4, 1.5, 1.6, 1.75, 2, 3):

        def run(scenario: Scenario, nodes: int, sensitivity: float = sensitivity) -> Packing:
            return pack(scenario, sensitivity, backfill=True, io_nodes=nodes)

        yield f"{sensitivity:g}", run


def rules() -> Iterator[tuple[str, Run]]:
    """Backfilling by every queue, with and without a promise, and with a stricter one."""
    for name, key in QUEUES.items():
        for kind in (NoPromise, Backfill, *([Closed] if name in ("T", "T + Q·T/P + V") else [])):

            def rule(view, kind=kind, key=key):  # type: ignore[no-untyped-def]
                ours = kind(view, DEFAULT_SENSITIVITY)
                weight = key(view.seconds, view.processors * view.seconds / view.room, view.io)
                ours.queue = view.waiting[ranked(-weight[view.waiting])]
                return ours.start(view.open, view.now)

            def run(scenario: Scenario, nodes: int, rule=rule) -> Packing:  # type: ignore[no-untyped-def]
                return pack(scenario, mapping=rule, io_nodes=nodes)

            yield f"{name}, {kind.__name__}", run


def shared() -> Iterator[tuple[str, Run]]:
    """Every mapping under several policies."""
    for name, given in {"first-fit": "inf", "S = 1": 1, "backfill": None}.items():
        for policy in POLICIES:

            def run(scenario: Scenario, nodes: int, given=given, policy=policy) -> Packing:  # type: ignore[no-untyped-def]
                return pack(scenario, given, io_nodes=nodes, sharing=policy, backfill=given is None)

            yield f"{name}, {policy}", run


def measure(runs: dict[str, Run]) -> dict[str, dict[tuple[int, float], list[Row]]]:
    """For every run, number of I/O nodes and load: one row per workload."""
    found: dict[str, dict[tuple[int, float], list[Row]]] = {name: {} for name in runs}
    for alpha in ALPHAS:
        for seed in SEEDS:
            scenario = generate("packs", seed, alpha=alpha)
            for nodes in NODES:
                base = pack(scenario, "inf", io_nodes=nodes)
                for name, run in runs.items():
                    found[name].setdefault((nodes, alpha), []).append(row(run(scenario, nodes), base))
        print(f"load {alpha:g} done", file=sys.stderr)
    return found


def row(packing: Packing, base: Packing) -> Row:
    """One run against first-fit, and how long jobs wait for their start, as shares of the makespan."""
    row = {key: getattr(packing, key) / getattr(base, key) for key in ("makespan", "max_stretch", "mean_stretch")}
    if packing.mean_pack_max_stretch and base.mean_pack_max_stretch:
        row["pack_stretch"] = packing.mean_pack_max_stretch / base.mean_pack_max_stretch
    row["above_bound"] = packing.makespan / packing.bound
    by_width = sorted(packing.jobs, key=lambda job: -job.nodes)
    row["before_widest"] = fmean(job.start < by_width[0].start for job in packing.jobs)
    row["wait"] = fmean(job.start for job in by_width) / packing.makespan
    row["wait_of_wide"] = fmean(job.start for job in by_width[: len(by_width) // 10]) / packing.makespan
    return row


def mean(rows: Iterable[Row], key: str) -> float:
    """Geometric for ratios, plain for shares; no number if no row has it."""
    values = [row[key] for row in rows if key in row]
    return (fmean(values) if key in SHARES else geometric_mean(values)) if values else float("nan")


def print_by_alpha(title: str, measured: dict[str, dict[tuple[int, float], list[Row]]]) -> None:
    """Makespan and stretch for each load."""
    for key in ("makespan", "max_stretch", "mean_stretch", "pack_stretch"):
        for nodes in NODES:
            print(f"\n{title}, {key}, R = {nodes}")
            for name, by_place in measured.items():
                cells = [f"{mean(by_place[nodes, alpha], key):.2f}" for alpha in ALPHAS]
                print(f"| {name} |", " | ".join(cells), "|")


def print_means(title: str, measured: dict[str, dict[tuple[int, float], list[Row]]]) -> None:
    """Means over all loads."""
    keys = ["makespan", "above_bound", "max_stretch", "mean_stretch", "pack_stretch", *SHARES]
    for nodes in NODES:
        print(f"\n{title}, R = {nodes}:", ", ".join(keys))
        for name, by_place in measured.items():
            print(f"| {name} |", " | ".join(f"{mean(everything(by_place, nodes), key):.3f}" for key in keys), "|")


def everything(by_place: dict[tuple[int, float], list[Row]], nodes: int) -> list[Row]:
    """The rows of all loads."""
    return [each for (count, _), rows in by_place.items() if count == nodes for each in rows]


def draw_by_alpha(measured: dict[str, dict[tuple[int, float], list[Row]]]) -> None:
    """Makespan and worst stretch against the load."""
    with theme():
        from matplotlib.figure import Figure  # noqa: PLC0415

        figure = Figure(figsize=(9.5, 5.2), layout="constrained")
        panels = figure.subplots(2, len(NODES), sharex=True, sharey="row")
        for key, line in zip(("makespan", "max_stretch"), panels, strict=True):
            for nodes, axes in zip(NODES, line, strict=True):
                for colour, (name, by_place) in zip(COLOURS, measured.items(), strict=False):
                    values = [mean(by_place[nodes, alpha], key) for alpha in ALPHAS]
                    axes.plot(ALPHAS, values, color=colour, marker="o", markersize=3, label=name)
                axes.axhline(1.0, color=INK, linewidth=0.8, linestyle="--", label="first-fit")
                axes.set_ylim(0.0, 1.3)
            line[0].set_ylabel(f"{key.replace('_', ' ')} / first-fit's")
        for nodes, axes in zip(NODES, panels[0], strict=True):
            axes.set_title(f"{nodes} I/O node{'s' if nodes > 1 else ''}")
        for axes in panels[1]:
            axes.set_xlabel("I/O load α aimed at")
        handles, names = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower left", ncols=len(names))
        save_figure(figure, PICTURES / "packs-comparison.svg")


if __name__ == "__main__":
    main()
