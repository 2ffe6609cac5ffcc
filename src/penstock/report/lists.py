"""Lists of what there is to choose from: policies and generators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from penstock.policies.allocation.policy import TargetPolicy
from penstock.policies.buffering import Strategy
from penstock.policies.mapping import MappingPolicy
from penstock.policies.sharing.policy import Sharing
from penstock.workloads import Generator


def policies_table(kind: str, policies: Iterable[Sharing | MappingPolicy]) -> Table:
    """Every policy with parameters, those for sharing and for mapping, in a row."""
    table = _table(kind, "rule", "parameters", "source")
    for policy in policies:
        table.add_row(policy.name, policy.rule, _settings(policy.settings), policy.source)
    return table


def target_policies_table(kind: str, policies: Iterable[TargetPolicy]) -> Table:
    """Every policy that gives out targets in a row, with how hard it is to know what it must know."""
    table = _table(kind, "rule", "needs", "source")
    for policy in policies:
        table.add_row(policy.name, policy.rule, policy.needs, policy.source)
    return table


def strategies_table(strategies: Iterable[Strategy]) -> Table:
    """Every strategy for a burst buffer in a row."""
    table = _table("buffering strategy", "rule", "source")
    for each in strategies:
        table.add_row(each.name, each.rule, each.source)
    return table


def generators_table(generators: Iterable[Generator]) -> Table:
    """Every generator in a row."""
    table = _table("workload", "what", "settings", "source")
    for each in generators:
        settings = {parameter.name: parameter.default for parameter in each.parameters}
        table.add_row(each.name, each.rule, _settings(settings), each.source)
    return table


def _table(name: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(name, no_wrap=True)
    for heading in others:
        table.add_column(heading)
    return table


def _settings(settings: Mapping[str, Any]) -> str:
    return "\n".join(f"{name}={_default(value)}" for name, value in settings.items())


def _default(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)
