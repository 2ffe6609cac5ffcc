"""The smallest size, held to the literal linear programs of P5, to closed forms and to what cannot matter."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidOption, InvalidScenario
from penstock.model import Scenario
from penstock.studies.sizing import PARTITIONS, size_buffer, verify
from penstock.studies.sizing.both_ways import LinearProgram
from penstock.studies.sizing.one_way import way_of
from penstock.studies.sizing.static import smallest
from reference.buffers import fairest_shares, literal_lp
from strategies import buffer_documents
from studies.sizing.plans import ONE_EACH, TOGETHER, Document, app, document, sized, traffic_of, volume

FEW = settings(max_examples=20)


@FEW
@given(buffer_documents(), st.sampled_from(PARTITIONS))
def test_every_partition_matches_the_literal_program(plain: Document, partition: str) -> None:
    assert sized(plain, partition).size == pytest.approx(literal_lp(plain, partition)["size"], abs=1e-8 * volume(plain))


@FEW
@given(buffer_documents(), st.sampled_from(PARTITIONS), st.sampled_from([0.0, 0.5, 2.0, 5.0]))
def test_a_lead_matches_the_literal_program(plain: Document, partition: str, lead: float) -> None:
    found, literal = sized(plain, partition, lead), literal_lp(plain, partition, lead)
    assert (found.infeasible is None) == (literal is not None)
    if literal is not None:
        assert found.size == pytest.approx(literal["size"], abs=1e-8 * volume(plain))
        shares = found.shares if partition == "static" else None
        if partition != "isolated":
            assert verify(found.schedule, found.traffic, found.size, shares) == []
            # Nothing is fetched before its application enters.
            entry = np.array([job["release"] - lead for job in plain["applications"]])[found.schedule.application]
            early = found.schedule.reading & (found.schedule.start < entry - 1e-9)
            assert found.schedule.amount[early].sum() <= 1e-7 * volume(plain)


@FEW
@given(buffer_documents(joint=False))
def test_the_sweep_matches_the_aggregated_program(plain: Document) -> None:
    traffic, found = traffic_of(plain), sized(plain, "dynamic")
    assert found.method == "sweep"
    assume(found.size > 0.0)  # without anything to hold the program has no columns
    assert found.size == pytest.approx(LinearProgram(traffic, True).solve().size, abs=1e-8 * volume(plain))


@FEW
@given(st.sampled_from(["read", "write"]), st.data())
def test_cutting_planes_match_both_programs(kind: str, data: st.DataObject) -> None:
    one_way = data.draw(buffer_documents(kinds=("compute", kind), joint=False))
    traffic = traffic_of(one_way)
    found = smallest(way_of(traffic, kind == "read"))
    slack = 1e-8 * volume(one_way)
    assert found.size == pytest.approx(literal_lp(one_way, "static")["size"], abs=slack)
    assume(found.size > slack)
    assert sized(one_way, "static").method == "cutting planes"
    assert found.size == pytest.approx(LinearProgram(traffic, False).solve().size, abs=slack)


@FEW
@given(buffer_documents())
def test_fixed_shares_need_most_and_one_alone_least(plain: Document) -> None:
    static, dynamic, isolated = (sized(plain, partition) for partition in ("static", "dynamic", "isolated"))
    slack = 1e-8 * volume(plain)
    assert static.size >= dynamic.size - slack >= isolated.size - 2 * slack >= -2 * slack
    assert isolated.shares is not None and static.shares is not None
    assert isolated.size == max(isolated.shares.values())


@FEW
@given(buffer_documents())
def test_the_shares_are_the_most_even_ones(plain: Document) -> None:
    found = sized(plain, "static")
    fairest = fairest_shares(plain, literal_lp(plain, "static")["size"])
    assert found.shares is not None
    # The reference lets rows give way by 1e-10 of the volume; where shares trade against each other that shows.
    assert sum(share**2 for share in found.shares.values()) == pytest.approx(
        sum(share**2 for share in fairest.values()), rel=1e-5, abs=1e-5 * volume(plain) ** 2
    )
    assert found.shares == pytest.approx(fairest, abs=1e-3 * volume(plain))


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("kind", ["read", "write"])
@pytest.mark.parametrize("platform", [ONE_EACH, TOGETHER])
def test_one_burst_needs_what_the_file_system_cannot_take(kind: str, platform: Document, partition: str) -> None:
    plain = document(platform, app("a", ("compute", 1), (kind, 12), ("compute", 1), bandwidth=4, release=2))
    assert sized(plain, partition).size == pytest.approx(12 * (1 - 1 / 4), rel=1e-12)


def test_a_direction_that_the_file_system_keeps_up_with_needs_no_program() -> None:
    slow = app("a", ("read", 2), ("write", 8), read_bandwidth=0.5, write_bandwidth=4)
    fast = app("c", ("compute", 3), ("write", 4), bandwidth=2)
    plain = document(ONE_EACH, slow, fast)
    found = sized(plain, "static")
    assert found.method == "cutting planes"
    assert found.size == pytest.approx(literal_lp(plain, "static")["size"])


@FEW
@given(buffer_documents(most=4), st.sampled_from(PARTITIONS), st.randoms(use_true_random=False))
def test_the_order_of_applications_does_not_matter(plain: Document, partition: str, chance: object) -> None:
    mixed = list(plain["applications"])
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = sized(plain, partition), sized(plain | {"applications": mixed}, partition)
    assert second.size == pytest.approx(first.size, abs=1e-8 * volume(plain))
    if first.shares is not None:
        assert second.shares == pytest.approx(first.shares, abs=1e-4 * volume(plain))


def scaled(plain: Document, space: float, time: float) -> Document:
    def phase(one: Document) -> Document:
        return {kind: amount * (time if kind == "compute" else space) for kind, amount in one.items()}

    def speeds(one: Document) -> Document:
        return {key: value * space / time if "bandwidth" in key else value for key, value in one.items()}

    apps = [
        speeds(each) | {"release": each["release"] * time, "phases": list(map(phase, each["phases"]))}
        for each in plain["applications"]
    ]
    return document(speeds(plain["platform"]), *apps)


@FEW
@given(
    buffer_documents(), st.sampled_from(PARTITIONS), st.sampled_from([1e-3, 8.0, 3e12]), st.sampled_from([0.01, 3600.0])
)
def test_units_do_not_matter(plain: Document, partition: str, space: float, time: float) -> None:
    other = sized(scaled(plain, space, time), partition).size / space
    assert other == pytest.approx(sized(plain, partition).size, abs=1e-8 * volume(plain))


def test_one_alone_keeps_its_noise() -> None:
    jobs = [app(name, ("compute", 3), ("write", 5), ("compute", 1), ("read", 4), bandwidth=3) for name in "abc"]
    traffic = traffic_of(document(ONE_EACH, *jobs) | {"noise": 0.3, "seed": 5})
    alone = traffic.alone(2)
    own = slice(traffic.first[2], traffic.first[3])
    assert alone.names == ("c",)
    assert np.array_equal(alone.volume, traffic.volume[own])
    assert np.array_equal(alone.events[alone.start], traffic.events[traffic.start[own]])
    assert alone.seconds.sum() == pytest.approx(traffic.completion[2] - traffic.release[2])


def test_no_limits_and_no_traffic_need_no_buffer() -> None:
    free = document({"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}, app("a", ("write", 5), bandwidth=1))
    still = document(ONE_EACH, app("a", ("compute", 5)), app("b", ("compute", 2), release=1))
    for plain in (free, still):
        for partition in PARTITIONS:
            found = sized(plain, partition)
            assert found.size == 0.0
            assert found.proof.bursts == ()
            assert found.shares is None or not any(found.shares.values())


def test_what_cannot_be_sized_is_refused() -> None:
    with pytest.raises(InvalidOption, match="partition is 'even'; accepted: isolated, static, dynamic"):
        sized(document(ONE_EACH, app("a", ("write", 1))), "even")
    with pytest.raises(InvalidScenario, match="'a' has no limit to how fast it reads or writes; give it a bandwidth"):
        sized(document({"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}, app("a", ("write", 1))), "dynamic")
    watched = document(ONE_EACH, app("a", ("write", 1))) | {"window": {"end": 9}}
    with pytest.raises(InvalidScenario, match="the scenario has a window; a buffer is sized for applications that run"):
        size_buffer(Scenario.from_document(watched))


def test_the_result_says_what_the_contract_promises() -> None:
    jobs = [app(name, ("compute", 1), ("write", 6), bandwidth=4) for name in "ab"]
    found = sized(document(TOGETHER, *jobs), "static").to_dict()
    assert list(found)[:5] == ["partition", "size", "shares", "method", "seconds"]
    assert found["size"] == pytest.approx(12 - 1.5)
    assert found["shares"] == pytest.approx({"a": 5.25, "b": 5.25})
    assert found["limits"] == {"read": 1.0, "write": 1.0, "joint": 1.0, "port": None}
    assert 0.0 < found["seconds"] < math.inf
    assert sized(document(TOGETHER, *jobs), "dynamic").to_dict()["shares"] is None
