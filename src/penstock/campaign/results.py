"""What a campaign has found so far: one row per run that it asks for, in its order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.campaign.rows import CLOCK, PROVENANCE
from penstock.campaign.store import RESULTS, TIMES, Store
from penstock.campaign.tasks import Metric, find_task
from penstock.errors import InvalidOption
from penstock.kernels.arrays import Floats, Ints
from penstock.model.problems import near
from penstock.model.tabular import Tabular, html_table

BATCH = 5_000  # rows


@dataclass(frozen=True)
class Results(Tabular):
    """All runs that a campaign asks for; what is missing, or failed, has empty metrics."""

    name: str
    metrics: tuple[str, ...]  # that the campaign shows
    tasks: tuple[str, ...]
    table: Any  # key, workload, parameters (JSON), seed, plan, then metrics and provenance
    ended: NDArray[np.bool_]  # which of the rows are there
    damaged: tuple[str, ...] = ()  # files that cannot be read

    def headline(self) -> str:
        """How far the campaign is."""
        return f"{self.name}: {int(self.ended.sum()):,} of {self.size:,} runs"

    def _repr_html_(self) -> str:
        return html_table(self.headline(), self._means())

    def _means(self) -> list[dict[str, Any]]:
        """The mean of each metric that the campaign shows, by workload, its settings that vary, and plan."""
        from penstock.campaign.summary import summarise  # noqa: PLC0415 - it knows results

        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for entry in summarise(self, list(self.metrics)):
            row = found.setdefault((*entry.group.items(), entry.plan), {**entry.group, "plan": entry.plan})
            row[f"mean {entry.metric}"] = entry.mean.mean
        return list(found.values())

    @property
    def size(self) -> int:
        """How many runs the campaign asks for."""
        return int(self.ended.size)

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        """Which runs ended in an error."""
        return _flags(pc.is_valid(self.table["error"]))

    @cached_property
    def plans(self) -> tuple[str, ...]:
        """The plans, in the campaign's order."""
        return tuple(self._texts("plan")[0])

    @cached_property
    def plan(self) -> Ints:
        """For each run, its place among the plans."""
        return self._texts("plan")[1]

    @cached_property
    def points(self) -> tuple[dict[str, Any], ...]:
        """The distinct workloads, each with its label and its settings."""
        return tuple({"workload": label, **json.loads(settings)} for label, settings in self._points[0])

    @cached_property
    def point(self) -> Ints:
        """For each run, its place among the points."""
        return self._points[1]

    @cached_property
    def seed(self) -> Ints:
        """For each run, its seed."""
        return np.array(self.table["seed"].to_numpy(), np.int64)

    @cached_property
    def scenarios(self) -> Ints:
        """The distinct scenarios, each by its point and its seed."""
        return self._scenarios[0]

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """What points differ in: `workload` if there are several, then settings that differ within one."""
        labels = dict.fromkeys(point["workload"] for point in self.points)
        found = {"workload": None} if len(labels) > 1 else {}
        for label in labels:
            own = [point for point in self.points if point["workload"] == label]
            names = dict.fromkeys(name for point in own for name in point)
            found |= {name: None for name in names if len({repr(point.get(name)) for point in own}) > 1}
        return tuple(found)

    @cached_property
    def known(self) -> dict[str, Metric]:
        """Every metric that a run of this campaign may have."""
        found: dict[str, Metric] = {}
        for task in map(find_task, self.tasks):
            for metric in task.metrics:
                found.setdefault(metric.name, metric)
        return found | {name: Metric(name, best=-1) for name in CLOCK}

    def metric(self, name: str) -> Metric:
        """What is known of a metric; an unknown one is refused."""
        if name not in self.known:
            accepted = ", ".join(self.known)
            raise InvalidOption(f"the campaign has no metric {name!r}{near(name, self.known) or ';'} known: {accepted}")
        return self.known[name]

    def values(self, name: str) -> Floats:
        """A metric of every run; NaN where there is none."""
        if name not in self.table.column_names:
            return np.full(self.size, np.nan)
        column = pc.fill_null(self.table[name], float("nan")).combine_chunks()
        return np.array(column.to_numpy(zero_copy_only=False), np.float64)

    def matrix(self, name: str) -> Floats:
        """A metric with a row for each scenario and a column for each plan; NaN where there is none."""
        return self.spread(self.values(name))

    def spread(self, values: Floats) -> Floats:
        """A value of every run as such a matrix."""
        scenarios, row = self._scenarios
        found = np.full((len(scenarios), len(self.plans)), np.nan)
        found[row, self.plan] = values
        return found

    def is_number(self, name: str) -> bool:
        """Whether a setting is a number in every point."""
        values = [point.get(name) for point in self.points]
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)

    @property
    def versions(self) -> list[str]:
        """What the runs were made with; of several, there is more than one."""
        return sorted(filter(None, pc.unique(self.table["versions"]).to_pylist())) if self.ended.any() else []

    def status(self) -> dict[str, Any]:
        """How far the campaign is, as JSON."""
        ended, failed = int(self.ended.sum()), int(self.failed.sum())
        return {
            "campaign": self.name,
            "runs": self.size,
            "done": ended - failed,
            "failed": failed,
            "missing": self.size - ended,
            "versions": self.versions,
            "damaged": list(self.damaged),
        }

    def failures(self, most: int | None = None) -> list[dict[str, Any]]:
        """The runs that failed, each with why, and the commands that show it."""
        chosen = self.table.filter(pa.array(self.failed)).select(
            ["key", "workload", "parameters", "seed", "plan", "error", "reproducer"]
        )
        found: list[dict[str, Any]] = (chosen if most is None else chosen.slice(0, most)).to_pylist()
        return [each | {"parameters": json.loads(each["parameters"])} for each in found]

    def rows(self) -> list[dict[str, Any]]:
        """Every run that is there, with its settings as columns, and without times.

        A setting that has the name of a metric is called `set.NAME`.
        """
        ended = self.table.filter(pa.array(self.ended))
        plain: list[dict[str, Any]] = ended.drop_columns(
            [name for name in CLOCK if name in ended.column_names]
        ).to_pylist()
        for row in plain:
            settings = json.loads(row.pop("parameters"))
            row.update({f"set.{name}" if name in row else name: value for name, value in settings.items()})
        return plain

    @cached_property
    def _scenarios(self) -> tuple[Ints, Ints]:
        """Every scenario, and for each run its place among them."""
        scenarios, row = np.unique(np.stack([self.point, self.seed], axis=1), axis=0, return_inverse=True)
        return scenarios, row.ravel()

    @cached_property
    def _points(self) -> tuple[list[tuple[str, str]], Ints]:
        """Every point as its label and its settings (JSON), and for each run its place among them."""
        (labels, label), (texts, text) = self._texts("workload"), self._texts("parameters")
        pairs, first, place = np.unique(label * len(texts) + text, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as the campaign has them
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        return [(labels[pair // len(texts)], texts[pair % len(texts)]) for pair in pairs[order]], rank[place.ravel()]

    def _texts(self, name: str) -> tuple[list[str], Ints]:
        """The distinct texts of a column, in order, and for each run its place among them."""
        column = self.table[name].cast(pa.string()).combine_chunks().dictionary_encode()
        return column.dictionary.to_pylist(), np.array(column.indices, np.int64)


def read_results(folder: str | Path | Store) -> Results:
    """What the campaign in a directory has found so far."""
    if not isinstance(folder, str | os.PathLike | Store):
        raise InvalidOption(f"results are read from the directory of a campaign, not from a {type(folder).__name__}")
    store = folder if isinstance(folder, Store) else Store(folder)
    about, asked, found = store.about(), store.asked().replace_schema_metadata(None), _found(store)
    place = _places(asked["key"], found)
    return Results(
        about["name"],
        tuple(about["metrics"]),
        tuple(about["tasks"]),
        _joined(asked, found, place),
        _flags(pc.is_valid(place)),
        tuple(map(str, store.damaged())),
    )


def write_results(store: Store) -> None:
    """Write all runs into one file, in order and without times, and the times into another.

    What it takes is little more than the rows themselves: they are put in order some thousands at a time.
    """
    asked, found = store.asked().replace_schema_metadata(None), _found(store)
    place = _places(asked["key"], found)
    there = pc.is_valid(place)
    asked, place = asked.filter(there), place.filter(there)
    times = ["key", *(name for name in CLOCK if name in found.column_names)]
    provenance = [name for name in PROVENANCE if name in found.column_names]
    metrics = sorted(set(found.column_names) - {*times, *provenance})  # not in the order in which tasks came
    for name, columns in ((RESULTS, [*asked.column_names, *metrics, *provenance]), (TIMES, times)):
        batches = (
            _joined(asked.slice(start, BATCH), found, place.slice(start, BATCH)).select(columns)
            for start in range(0, max(1, asked.num_rows), BATCH)
        )
        store.write(name, batches)


def _found(store: Store) -> Any:
    tables = list(store.found())
    if not tables:
        return pa.table({name: pa.array([], pa.string()) for name in ("key", *PROVENANCE)})
    return pa.concat_tables(tables, promote_options="default")


def _joined(asked: Any, found: Any, place: Any) -> Any:
    """What was asked for beside what was found; empty where nothing was."""
    rows = found.drop_columns(["key"]).take(place)
    for name in rows.column_names:
        asked = asked.append_column(name, rows[name])
    return asked


def _places(keys: Any, found: Any) -> Any:
    """For each key the row that counts: the last that succeeded, or else the last; null if there is none."""
    failed = _flags(pc.is_valid(found["error"]))
    order = np.lexsort((-np.arange(failed.size), failed))  # successes first, each from the last to the first
    first = pc.index_in(keys, value_set=found["key"].take(pa.array(order))).combine_chunks()
    return pa.array(order, pa.int64()).take(first)


def _flags(values: Any) -> NDArray[np.bool_]:
    return np.array(
        values.to_numpy(zero_copy_only=False) if isinstance(values, pa.Array) else values.to_numpy(), np.bool_
    )
