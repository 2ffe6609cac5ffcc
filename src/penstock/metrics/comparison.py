"""The metrics of runs side by side: what `compare` gives, a tuple of results that prints as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.errors import InvalidOption
from penstock.metrics.result import Result
from penstock.model.tabular import Tabular, html_table, text_table

_SHOWN = (
    *("sharing", "min_yield", "worst", "distance_to_bound", "node_hours_lost", "efficiency"),
    *("max_stretch", "mean_stretch", "makespan"),
)


class Comparison(tuple[Result, ...], Tabular):
    """The results of several policies on one scenario, in the order in which they were asked for."""

    __slots__ = ()

    def rows(self) -> Sequence[dict[str, Any]]:
        """One row per policy, with every metric of a run; what applications did is in each result."""
        runs = [result.to_dict() for result in self]
        return [{name: value for name, value in run.items() if name != "applications"} for run in runs]

    def headline(self) -> str:
        """How many policies."""
        return f"{len(self)} {'policy' if len(self) == 1 else 'policies'}"

    def best(self, metric: str = "min_yield", *, lowest: bool = False) -> Result:
        """The run with the highest value of a metric, or the lowest; one without a value is never the best."""
        if any(not hasattr(result, metric) for result in self):
            raise InvalidOption(f"a run has no metric {metric!r}; as in min_yield, node_hours_lost or efficiency")
        known = [result for result in self if getattr(result, metric) is not None]
        if not known:
            raise InvalidOption(f"none of these runs has a {metric}, so none of them is the best in it")
        return (min if lowest else max)(known, key=lambda result: getattr(result, metric))

    def __repr__(self) -> str:
        return text_table(self.headline(), self._short())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html_table(self.headline(), self._short())

    def _short(self) -> list[dict[str, Any]]:
        return [{name: row[name] for name in _SHOWN} for row in self.rows()]
