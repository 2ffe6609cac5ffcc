"""The study of packs, `pack`: ways to map jobs to I/O nodes, packs by sensitivity and backfilling."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock.errors import InvalidOption
from penstock.model.load import ScenarioLike, as_scenario
from penstock.policies.mapping import MappingPolicy
from penstock.policies.mapping import find as find_mapping
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Sharing
from penstock.studies.packs.batch import Batch
from penstock.studies.packs.execution import Progress, run_mapped
from penstock.studies.packs.measure import measured
from penstock.studies.packs.result import Packing
from penstock.studies.study import Policy

Mapped = str | MappingPolicy | Callable[..., Any]
FIRST_FIT, BY_ALPHA = "inf", "alpha"


def pack(
    scenario: ScenarioLike,
    sensitivity: str | float | None = None,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    backfill: bool = False,
    mapping: Mapped | None = None,
    progress: Progress | None = None,
) -> Packing:
    """Map the jobs of `scenario` to its I/O nodes and run them there.

    `mapping` says which jobs start when, and where: a name from `penstock policies`, make-pack by default, a file or
    a function; `backfill` is short for the mapping of that name. `sensitivity` is S, a number above 0, "inf"
    (first-fit) or "alpha" (the I/O load of the jobs): with packs, how much average I/O occupation a pack may have, by
    default 1; with `backfill`, how much average I/O demand on a node, by default 1.5. `io_nodes` overrides how many
    there are. `sharing` divides the bandwidth of each node.

    >>> from penstock import Scenario
    >>> nodes = {"count": 1, "bandwidth": 1, "nodes": 4}
    >>> jobs = [{"name": name, "nodes": 2, "phases": [{"compute": 1}, {"write": 3}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"io_nodes": nodes}, "applications": jobs})
    >>> [each.jobs for each in pack(two).packs], pack(two).makespan
    ([('a',), ('b',)], 8.0)
    >>> [each.jobs for each in pack(two, "inf").packs], pack(two, "inf").makespan
    ([('a', 'b')], 7.0)
    """
    if backfill and mapping is not None:
        raise InvalidOption("backfill is short for a mapping of that name; leave one of the two out")
    chosen = find_mapping("backfill" if backfill else "make-pack" if mapping is None else mapping)
    return _pack(Batch(as_scenario(scenario), io_nodes), chosen, sensitivity, find(sharing), progress)


def compare_packings(
    scenario: ScenarioLike,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    progress: Progress | None = None,
) -> dict[str, Packing]:
    """The mappings of P3 (first-fit, S = 1, S = alpha) and backfilling, by name."""
    batch, policy = Batch(as_scenario(scenario), io_nodes), find(sharing)
    # First, because it refuses policies that the others take; a refusal should not have to wait for them.
    backfilled = _pack(batch, find_mapping("backfill"), None, policy, progress)
    asked: dict[str, str | float] = {"first-fit": FIRST_FIT, "S = 1": 1.0, "S = alpha": BY_ALPHA}
    make_pack = find_mapping("make-pack")
    packings = {name: _pack(batch, make_pack, given, policy, progress) for name, given in asked.items()}
    return packings | {"backfill": backfilled}


def _pack(
    batch: Batch,
    mapping: MappingPolicy,
    sensitivity: str | float | None,
    policy: Sharing,
    progress: Progress | None,
) -> Packing:
    shown, chosen = _with_sensitivity(mapping, sensitivity, batch)
    return measured(batch, chosen, shown, policy, run_mapped(batch, chosen, policy, progress or (lambda ended: None)))


def _with_sensitivity(
    mapping: MappingPolicy, given: str | float | None, batch: Batch
) -> tuple[float | str | None, MappingPolicy]:
    """The sensitivity as it is reported, None if the mapping has none, and the mapping with it."""
    if given is None:
        number = mapping.settings.get("sensitivity", math.inf if mapping.name == "first-fit" else None)
        return _shown(number), mapping
    if "sensitivity" not in mapping.settings:
        raise InvalidOption(f"mapping {mapping.name!r} has no sensitivity; leave it out, or choose another mapping")
    number = batch.alpha if given == BY_ALPHA else _number(given)
    return BY_ALPHA if given == BY_ALPHA else _shown(number), mapping.with_settings({"sensitivity": number})


def _shown(number: float | None) -> float | str | None:
    return FIRST_FIT if number == math.inf else number


def _number(given: str | float) -> float:
    try:
        number = float(given)
    except (TypeError, ValueError):
        number = math.nan
    if not number > 0.0:
        raise InvalidOption(f"sensitivity is {given!r}; accepted is a number above 0, inf (first-fit) or alpha")
    return number
