"""Proofs add up to the size, and every burst in them is what applications really move."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.studies.sizing import PARTITIONS, Burst, Sizing
from penstock.studies.sizing.traffic import Traffic
from reference.buffers import demands_of
from strategies import buffer_documents
from studies.sizing.plans import ONE_EACH, Document, app, document, sized, volume

FEW = settings(max_examples=20)


def added_up(found: Sizing) -> float:
    return sum(burst.weight * (burst.demand - burst.room) for burst in found.proof.bursts) - found.proof.rest


@FEW
@given(buffer_documents(), st.sampled_from(PARTITIONS))
def test_proofs_add_up(plain: Document, partition: str) -> None:
    found = sized(plain, partition)
    slack = 1e-9 * volume(plain)
    assert added_up(found) == pytest.approx(found.proof.size, abs=slack)
    assert found.proof.size == pytest.approx(found.size, abs=slack)
    assert all(burst.weight > 0.0 and burst.begin < burst.end for burst in found.proof.bursts)
    if found.method != "linear program":
        assert found.proof.rest == pytest.approx(0.0, abs=slack)


def moved_at_full_cap(plain: Document, burst: Burst, name: str) -> float:
    [demand] = [demand for demand in demands_of(plain) if demand.name == name]
    read, written = demand.at(np.array([burst.begin, burst.end]))
    return float({"read": read, "write": written, "both": read + written}[burst.direction] @ [-1, 1])


@FEW
@given(buffer_documents(), st.sampled_from(["static", "dynamic"]))
def test_bursts_are_what_applications_move(plain: Document, partition: str) -> None:
    found = sized(plain, partition)
    limits = dict(zip(("read", "write", "both", "port"), found.traffic.limits, strict=True))
    for burst in found.proof.bursts:
        assert sum(burst.by.values()) == pytest.approx(burst.demand)
        assert burst.room == pytest.approx(limits[burst.direction] * (burst.end - burst.begin))
        assert list(burst.by.values()) == sorted(burst.by.values(), reverse=True)
        for name, amount in burst.by.items():
            assert amount == pytest.approx(moved_at_full_cap(plain, burst, name), abs=1e-8 * volume(plain))


def test_the_fullest_instant_by_hand() -> None:
    # 12 are written from 1 to 4, when 9 of them are left; 4 are read from 5 to 6, of which 2 can come after 4.
    jobs = app("a", ("compute", 1), ("write", 12), bandwidth=4), app("c", ("compute", 5), ("read", 4), bandwidth=4)
    proof = sized(document(ONE_EACH, *jobs), "dynamic").proof
    assert (proof.size, proof.instant) == (pytest.approx(9 + 2), 4.0)
    write, read = proof.bursts
    assert (write.direction, write.begin, write.end, write.demand, write.room) == ("write", 1.0, 4.0, 12.0, 3.0)
    assert (read.direction, read.begin, read.end, read.demand, read.room) == ("read", 4.0, 6.0, 4.0, 2.0)
    assert write.by == {"a": 12.0} and read.by == {"c": 4.0}


def test_two_bursts_far_apart_force_fixed_shares_together() -> None:
    early = app("a", ("write", 3), ("compute", 9), bandwidth=3)
    late = app("c", ("compute", 9), ("write", 3), bandwidth=3)
    found = sized(document(ONE_EACH, early, late), "static")
    assert found.size == pytest.approx(4)
    assert sorted((burst.begin, tuple(burst.by), burst.weight) for burst in found.proof.bursts) == [
        (0.0, ("a",), pytest.approx(1)),
        (9.0, ("c",), pytest.approx(1)),
    ]


def test_copies_of_traffic_do_not_share_what_was_computed() -> None:
    found = sized(document(ONE_EACH, app("a", ("write", 3), bandwidth=3)), "dynamic")
    traffic: Traffic = found.traffic
    assert traffic.seconds.sum() == pytest.approx(1)
    other = traffic.behind(traffic.limits._replace(write=2.0))
    assert (traffic.limits.write, other.limits.write) == (1.0, 2.0)
    assert "seconds" not in vars(other)
