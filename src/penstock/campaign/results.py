"""What a campaign has found so far: one row per run that it asks for, in its order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from penstock.campaign.rows import CLOCK
from penstock.campaign.store import RESULTS, TIMES, Store
from penstock.campaign.tasks import Metric, find_task
from penstock.errors import InvalidOption
from penstock.model.problems import near

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Results:
    """All runs that a campaign asks for; what is missing, or failed, has empty metrics."""

    name: str
    metrics: tuple[str, ...]  # that the campaign shows
    tasks: tuple[str, ...]
    table: Any  # key, workload, parameters (JSON), seed, plan, then metrics and provenance
    ended: NDArray[np.bool_]  # which of the rows are there
    damaged: tuple[str, ...] = ()  # files that cannot be read

    @property
    def size(self) -> int:
        """How many runs the campaign asks for."""
        return int(self.ended.size)

    @cached_property
    def failed(self) -> NDArray[np.bool_]:
        """Which runs ended in an error."""
        return ~_flags(pc.is_null(self.table["error"]))

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
        found = dict.fromkeys(zip(self._column("workload"), self._column("parameters"), strict=True))
        return tuple({"workload": label, **json.loads(settings)} for label, settings in found)

    @cached_property
    def point(self) -> Ints:
        """For each run, its place among the points."""
        pairs = list(zip(self._column("workload"), self._column("parameters"), strict=True))
        places = {pair: place for place, pair in enumerate(dict.fromkeys(pairs))}
        return np.array([places[pair] for pair in pairs], np.int64)

    @cached_property
    def seed(self) -> Ints:
        """For each run, its seed."""
        return np.array(self._column("seed"), np.int64)

    @cached_property
    def varying(self) -> tuple[str, ...]:
        """What points differ in: `workload`, then settings."""
        names = dict.fromkeys(name for point in self.points for name in point)
        return tuple(name for name in names if len({repr(point.get(name)) for point in self.points}) > 1)

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

    def is_number(self, name: str) -> bool:
        """Whether a setting is a number in every point."""
        values = [point.get(name) for point in self.points]
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)

    def status(self) -> dict[str, Any]:
        """How far the campaign is, as JSON."""
        versions = self._column("versions") if self.ended.any() else []
        ended, failed = int(self.ended.sum()), int(self.failed.sum())
        return {
            "campaign": self.name,
            "runs": self.size,
            "done": ended - failed,
            "failed": failed,
            "missing": self.size - ended,
            "versions": sorted({text for text in versions if text}),
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
        """Every run that is there, with its settings as columns, and without times."""
        ended = self.table.filter(pa.array(self.ended))
        plain = ended.drop_columns([name for name in CLOCK if name in ended.column_names]).to_pylist()
        settings = ({"parameters": row.pop("parameters")} for row in plain)
        return [row | json.loads(each["parameters"]) for row, each in zip(plain, settings, strict=True)]

    def _column(self, name: str) -> list[Any]:
        values: list[Any] = self.table[name].to_pylist()
        return values

    def _texts(self, name: str) -> tuple[list[str], Ints]:
        values = self._column(name)
        places = {text: place for place, text in enumerate(dict.fromkeys(values))}
        return list(places), np.array([places[text] for text in values], np.int64)


def read_results(folder: str | Path | Store) -> Results:
    """What the campaign in a directory has found so far."""
    store = folder if isinstance(folder, Store) else Store(folder)
    about, asked = store.about(), store.asked().replace_schema_metadata(None)
    tables = list(store.found())
    if not tables:
        tables = [pa.table({"key": pa.array([], pa.string()), "error": pa.array([], pa.string())})]
    whole = pa.concat_tables(tables, promote_options="default")
    place = _places(asked["key"], whole)
    rows = whole.take(place)
    for name in rows.column_names:
        if name != "key":
            asked = asked.append_column(name, rows[name])
    return Results(
        about["name"],
        tuple(about["metrics"]),
        tuple(about["tasks"]),
        asked,
        _flags(pc.is_valid(place)),
        tuple(map(str, store.damaged())),
    )


def write_results(store: Store) -> None:
    """Write all runs into one file, in order and without times, and the times into another."""
    results = read_results(store)
    ended = results.table.filter(pa.array(results.ended))
    store.write(RESULTS, _plain(ended.drop_columns([name for name in CLOCK if name in ended.column_names])))
    store.write(TIMES, ended.select(["key", *(name for name in CLOCK if name in ended.column_names)]))


def _plain(table: Any) -> Any:
    """Without what depends on the order in which rows were found: chunks, and the columns of tasks that came later."""
    described = ("key", "workload", "parameters", "seed", "plan", "scenario_hash", "versions", "error", "reproducer")
    metrics = sorted(name for name in table.column_names if name not in described)
    return table.select(
        [*described[:5], *metrics, *(n for n in described[5:] if n in table.column_names)]
    ).combine_chunks()


def _places(keys: Any, found: Any) -> Any:
    """For each key the row that counts: the last that succeeded, or else the last; null if there is none."""
    failed = ~_flags(pc.is_null(found["error"]))
    order = np.lexsort((-np.arange(failed.size), failed))  # successes first, each from the last to the first
    first = pc.index_in(keys, value_set=found["key"].take(pa.array(order)))
    return pa.array(order, pa.int64()).take(first.combine_chunks() if hasattr(first, "combine_chunks") else first)


def _flags(values: Any) -> NDArray[np.bool_]:
    return np.array(values.to_pylist(), np.bool_)
