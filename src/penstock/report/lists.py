"""Policies and generators, all that there is to choose from, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from penstock.policies.allocation.policy import TargetPolicy
from penstock.policies.buffering import Strategy
from penstock.policies.mapping import MappingPolicy
from penstock.policies.sharing.groups import GROUPS, group_of
from penstock.policies.sharing.policy import Sharing
from penstock.workloads import Generator

_NAMES = 25  # letters, so that all lists have their sentences in one column


class Listed(NamedTuple):
    """A policy in a list: its name, what it does, and what else is worth knowing."""

    name: str
    rule: str
    notes: Sequence[str]


def sharing_lists(policies: Sequence[Sharing]) -> list[Table]:
    """Sharing policies, a list for each group of them."""
    listed = _with_parameters(policies)
    return [
        policies_list(f"Sharing. {title}", [each for each in listed if group_of(each.name) == group])
        for group, title in GROUPS.items()
    ]


def mapping_list(policies: Sequence[MappingPolicy]) -> Table:
    """Policies that say which jobs run together, where and when."""
    return policies_list("Mapping. Which jobs run together, on which I/O node, and when", _with_parameters(policies))


def targets_list(title: str, policies: Sequence[TargetPolicy]) -> Table:
    """Policies that give out targets, with how hard it is to know what each must know."""
    listed = [Listed(each.name, each.rule, (f"{each.needs} to know", each.source)) for each in policies]
    return policies_list(title, listed)


def strategies_list(strategies: Sequence[Strategy]) -> Table:
    """Strategies for a burst buffer."""
    title = "Buffering. Who drains and fetches first behind a burst buffer"
    return policies_list(title, [Listed(each.name, each.rule, (each.source,)) for each in strategies])


def policies_list(title: str, listed: Iterable[Listed]) -> Table:
    """Names at the left, sentences at the right, as wide as the terminal."""
    heading = Text(title, style="bold")
    table = Table(title=heading, title_justify="left", box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=_NAMES)
    table.add_column()
    for name, rule, notes in listed:
        words = Text(f"{rule} ")
        words.append(f"[{'; '.join(filter(None, notes))}]" if any(notes) else "", style="dim")
        table.add_row(Text(name), words)
    return table


def _with_parameters(policies: Iterable[Sharing | MappingPolicy]) -> list[Listed]:
    return [Listed(each.name, each.rule, (_settings(each.settings), each.source)) for each in policies]


def generators_list(generators: Iterable[Generator]) -> Table:
    """Every workload that can be made, with its settings."""
    listed = []
    for each in generators:
        settings = {parameter.name: parameter.default for parameter in each.parameters}
        listed.append(Listed(each.name, each.rule, (_settings(settings), each.source)))
    return policies_list("Workloads", listed)


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_default(value)}" for name, value in settings.items())


def _default(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "auto"
    return f"{value:g}" if isinstance(value, float) else str(value)
