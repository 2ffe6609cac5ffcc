"""The ways to map jobs to I/O nodes: packs by sensitivity, and backfilling."""

from __future__ import annotations

import math

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.policies.mapping.backfill import DEFAULT_SENSITIVITY
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Sharing
from penstock.studies.packs.batch import Batch
from penstock.studies.packs.execution import Progress, run_backfilled, run_packs
from penstock.studies.packs.measure import measured
from penstock.studies.packs.result import Packing
from penstock.studies.share import Policy

FIRST_FIT, BY_ALPHA = "inf", "alpha"


def pack(
    scenario: Scenario,
    sensitivity: str | float | None = None,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    backfill: bool = False,
    progress: Progress | None = None,
) -> Packing:
    """Map the jobs of `scenario` to its I/O nodes and run them there. Release times are ignored.

    `sensitivity` is S, a number above 0, "inf" (first-fit) or "alpha" (the I/O load of the jobs): with packs, how much
    average I/O occupation a pack may have; with `backfill`, how much average I/O demand on a node. By default 1, with
    `backfill` 1.5. `io_nodes` overrides how many there are. `sharing` divides the bandwidth of each node.

    >>> from penstock import Scenario
    >>> nodes = {"count": 1, "bandwidth": 1, "nodes": 4}
    >>> jobs = [{"name": name, "nodes": 2, "phases": [{"compute": 1}, {"write": 3}]} for name in ("a", "b")]
    >>> two = Scenario.from_document({"version": 1, "platform": {"io_nodes": nodes}, "applications": jobs})
    >>> [each.jobs for each in pack(two).packs], pack(two).makespan
    ([('a',), ('b',)], 8.0)
    >>> [each.jobs for each in pack(two, "inf").packs], pack(two, "inf").makespan
    ([('a', 'b')], 7.0)
    """
    return _pack(Batch(scenario, io_nodes), sensitivity, find(sharing), backfill, progress)


def compare_packings(
    scenario: Scenario,
    *,
    io_nodes: int | None = None,
    sharing: Policy = "list-fifo",
    progress: Progress | None = None,
) -> dict[str, Packing]:
    """The mappings of P3 (first-fit, S = 1, S = alpha) and backfilling, by name."""
    batch, policy = Batch(scenario, io_nodes), find(sharing)
    # First, because it refuses policies that the others take; a refusal should not have to wait for them.
    backfilled = _pack(batch, None, policy, True, progress)
    asked: dict[str, str | float] = {"first-fit": FIRST_FIT, "S = 1": 1.0, "S = alpha": BY_ALPHA}
    packings = {name: _pack(batch, given, policy, False, progress) for name, given in asked.items()}
    return packings | {"backfill": backfilled}


def _chosen(given: str | float | None, batch: Batch, default: float) -> tuple[float | str, float]:
    """The sensitivity as it is reported, and as a number."""
    if given is None:
        return default, default
    if given == BY_ALPHA:
        return BY_ALPHA, batch.alpha
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not number > 0.0:
        raise InvalidOption(f"sensitivity is {given!r}; accepted is a number above 0, inf (first-fit) or alpha")
    return FIRST_FIT if math.isinf(number) else number, number


def _pack(
    batch: Batch, sensitivity: str | float | None, policy: Sharing, backfill: bool, progress: Progress | None
) -> Packing:
    report = progress or (lambda ended: None)
    shown, number = _chosen(sensitivity, batch, DEFAULT_SENSITIVITY if backfill else 1.0)
    run = run_backfilled if backfill else run_packs
    return measured(batch, shown, policy, run(batch, number, policy, report))
