"""Metrics of policies on several workloads: what `compare` gives for a list of scenarios, and who is best over all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.kernels.arrays import SAME
from penstock.metrics.comparison import Comparison
from penstock.model.tabular import Tabular, html_table, in_words, text_table


class Workloads(dict[str, Comparison], Tabular):
    """A comparison for each workload, by its name; prints as a table of policies, best first by their mean rank."""

    @property
    def metric(self) -> str:
        """What policies are judged by: where jobs come and go the node-hours lost, else the min yield."""
        closed = all(result.closed for runs in self.values() for result in runs)
        return "min_yield" if closed else "node_hours_lost"

    def rows(self) -> Sequence[dict[str, Any]]:
        """One row per policy: its value on each workload, and its mean rank, 1 being the best on all of them."""
        policies = [result.sharing for result in next(iter(self.values()), ())]
        values = {name: [getattr(result, self.metric) for result in runs] for name, runs in self.items()}
        ranks = [self._ranks(column) for column in values.values()]
        table = [
            {
                "sharing": policy,
                **{name: column[place] for name, column in values.items()},
                "mean_rank": sum(column[place] for column in ranks) / len(ranks),
            }
            for place, policy in enumerate(policies)
        ]
        return sorted(table, key=lambda row: row["mean_rank"])

    def headline(self) -> str:
        """What the values are."""
        return f"{in_words(self.metric)} on {len(self)} workloads, best first by mean rank"

    def __repr__(self) -> str:
        return text_table(self.headline(), self.rows())

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return html_table(self.headline(), self.rows())

    def _ranks(self, values: Sequence[float]) -> list[float]:
        """1 for the best; those that are the same share the mean of their ranks."""
        costs = [-value if self.metric == "min_yield" else value for value in values]
        margin = SAME * max((abs(cost) for cost in costs), default=0.0)
        better = [sum(other < cost - margin for other in costs) for cost in costs]
        same = [sum(abs(other - cost) <= margin for other in costs) for cost in costs]
        return [before + (alike + 1) / 2 for before, alike in zip(better, same, strict=True)]
