"""Targets given out and used: the compiled engine and policies against the slow, independent ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock import Scenario
from penstock.errors import PolicyError
from penstock.policies.allocation import NAMES as ALLOCATIONS
from penstock.policies.placement import NAMES as PLACEMENTS
from penstock.policies.sharing import NAMES as SHARING
from penstock.studies.targets import Allotment, allocate
from reference import allocations as literal
from reference.targets import Stalled, simulate
from strategies import site_documents, target_documents

Document = dict[str, Any]
METRICS = ("load", "interval", "mean_io_slowdown", "machine_idletime")
LOSSES = ("node_hours_lost", "node_hours_used", "lost_share", "mean_yield", "p95_stretch")
# The reference has no ticks, which this policy asks for inside a window.
TICKING = ("periodic-greedy-yield",)


def close(value: float | list[float] | None, relative: float = 1e-9) -> Any:
    return value if value is None else pytest.approx(value, rel=relative, abs=relative)


def given_out(
    document: Document, allocation: str, placement: str, sharing: str = "fair-share", interval: str | None = None
) -> Allotment:
    """What comes of a pair of policies; documents on which mckp cannot work are left out."""
    try:
        return allocate(Scenario.from_document(document), allocation, placement, sharing=sharing, interval=interval)
    except PolicyError:
        assume(allocation != "mckp")
        raise


def assert_same(document: Document, fast: Allotment, slow: Document, relative: float) -> None:
    begin = document.get("window", {}).get("begin", 0.0)
    for metric in (*METRICS, *LOSSES):
        assert getattr(fast, metric) == close(slow[metric], relative), metric
    assert fast.unfinished == slow["unfinished"]
    yields = {each.name: each.yield_ for each in fast.applications}
    assert yields[fast.worst] == close(yields[slow["worst"]], relative)  # of equals the last digit may decide
    assert fast.least_load == close(literal.load(document, literal.nsys(document)))
    for ours, theirs in zip(fast.applications, slow["applications"], strict=True):
        found = ours.to_dict()
        completion = found.pop("completion")
        assert (completion is None) == (theirs["completion"] is None), ours.name
        assert completion is None or completion - begin == close(theirs["completion"], relative)
        for key in found.keys() & theirs.keys():
            if key != "yield" or found[key] is not None:
                assert found[key] == (theirs[key] if key in ("name", "cut") else close(theirs[key], relative)), key
    use = slow["target_use"]
    assert [target.busy for target in fast.targets] == close([target["busy"] for target in use], relative)
    # P4 has no slow targets, so what one carries is not said there.
    if all(target.limit is None for target in fast.targets):
        assert [target.stress for target in fast.targets] == close([target["stress"] for target in use])
        assert fast.imbalance == close(slow["imbalance"])


@given(
    document=target_documents(limits=False) | site_documents(limits=False),
    allocation=st.sampled_from(sorted({*literal.ALLOCATIONS} - {"tcpu"})),
    placement=st.sampled_from(sorted(literal.PLACEMENTS)),
)
def test_counts_and_targets_are_those_of_the_definitions(allocation: str, placement: str, document: Document) -> None:
    found = given_out(document, allocation, placement).to_dict()
    counts = literal.ALLOCATIONS[allocation](document)
    assert found["counts"] == counts
    assert found["targets"] == literal.PLACEMENTS[placement](document, counts)


@settings(max_examples=5 * settings().max_examples)
@given(
    document=target_documents() | site_documents(),
    allocation=st.sampled_from(ALLOCATIONS),
    placement=st.sampled_from(PLACEMENTS),
    sharing=st.sampled_from(SHARING),
    interval=st.sampled_from([None, "first", "all"]),
)
def test_every_sharing_policy_matches_the_reference(
    sharing: str, allocation: str, placement: str, interval: str | None, document: Document
) -> None:
    if sharing in TICKING:
        document.pop("window", None)
    planned = given_out(document, allocation, placement).to_dict()
    try:
        slow = simulate(document, planned["counts"], planned["targets"], sharing, interval)
    except Stalled:
        with pytest.raises(PolicyError):
            given_out(document, allocation, placement, sharing, interval)
        return
    fast = given_out(document, allocation, placement, sharing, interval)
    assert (fast.to_dict()["counts"], fast.to_dict()["targets"]) == (planned["counts"], planned["targets"])
    assert_same(document, fast, slow, 1e-6 if sharing == "best-next-event" else 1e-9)
