"""A buffer with a bandwidth of its own: held to P5's literal program with four flows, and to cases by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.report.sizing.table import curve_lines, explanation_lines, impossible_lines, sizing_lines
from penstock.studies.buffers import buffer
from penstock.studies.sizing import PARTITIONS, Sizing, size_curve, verify
from penstock.studies.sizing.both_ways import LinearProgram
from reference.buffers import literal_lp
from strategies import buffer_documents
from studies.sizing.plans import (
    TOGETHER,
    Document,
    app,
    bursts,
    document,
    sized,
    traffic_of,
    volume,
    with_port,
)

FEW = settings(max_examples=20)
LEADS = [math.inf, 0.0, 0.5, 2.0]
# 9 wait after each burst of 4.5 s. In the 2 s between them the file system takes 6, the port lets out 4.
TWICE = app("a", ("write", 22.5), ("compute", 2), ("write", 22.5), bandwidth=5)
SLOW = {"read_bandwidth": 3, "write_bandwidth": 3}


def least_port(plain: Document, partition: str, lead: float = math.inf) -> float | None:
    """The smallest with which there is a size; None: with any, or with none."""
    late = sized(with_port(plain, 1e-6), partition, lead).infeasible
    return None if late is None else late.port


def assert_as_literal(plain: Document, partition: str, lead: float) -> Sizing:
    found, literal = sized(plain, partition, lead), literal_lp(plain, partition, lead)
    assert (found.infeasible is None) == (literal is not None)
    if literal is not None:
        assert found.size == pytest.approx(literal["size"], abs=1e-6 * volume(plain))
        shares = found.shares if partition == "static" else None
        assert partition == "isolated" or verify(found.schedule, found.traffic, found.size, shares) == []
    return found


@FEW
@given(buffer_documents(), st.sampled_from(PARTITIONS), st.sampled_from(LEADS), st.sampled_from([0.99, 1.01, 1.2, 2.0]))
def test_every_partition_matches_the_literal_program(
    plain: Document, partition: str, lead: float, factor: float
) -> None:
    least = least_port(plain, partition, lead)
    found = assert_as_literal(with_port(plain, factor * (least or 1.0)), partition, lead)
    # A hundredth less than the least is too little.
    assert least is None or (found.infeasible is None) == (factor > 1.0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("partition", PARTITIONS)
def test_where_the_port_is_often_full(seed: int, partition: str) -> None:
    plain = bursts(seed)
    lead = LEADS[seed % 4]
    least = least_port(plain, partition, lead)
    if least is not None:
        assert_as_literal(with_port(plain, 1.02 * least), partition, lead)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("partition", PARTITIONS)
def test_a_wider_port_never_needs_more(seed: int, partition: str) -> None:
    plain = bursts(seed)
    least = least_port(plain, partition) or 0.1
    sizes = [sized(with_port(plain, factor * least), partition).size for factor in (1.001, 1.1, 1.5, 3.0)]
    sizes.append(sized(plain, partition).size)
    assert all(np.diff(sizes) <= 1e-7 * volume(plain))


@FEW
@given(buffer_documents(), st.sampled_from(PARTITIONS))
def test_without_a_port_nothing_changes(plain: Document, partition: str) -> None:
    free, wide = sized(plain, partition), sized(with_port(plain, 1e9), partition)
    assert replace(wide, seconds=free.seconds) == free
    for name in ("application", "reading", "start", "end", "amount"):
        stated = getattr(sized(with_port(plain, None), partition).schedule, name)
        assert np.array_equal(stated, getattr(free.schedule, name))


@pytest.mark.parametrize("partition", PARTITIONS)
def test_what_cannot_leave_in_time_stays(partition: str) -> None:
    plain = document(SLOW, TWICE)
    assert sized(plain, partition).size == pytest.approx(9 - 6 + 9)
    found = sized(with_port(plain, 2), partition)
    assert found.size == pytest.approx(9 - 4 + 9)
    assert found.method.endswith("linear program")
    assert sized(with_port(plain, 3), partition).method != found.method


def test_input_is_output_in_reversed_time() -> None:
    plain = document(SLOW, app("a", ("read", 22.5), ("compute", 2), ("read", 22.5), bandwidth=5))
    assert [sized(with_port(plain, port), "dynamic").size for port in (2, 3)] == pytest.approx([14, 12])


def test_reads_and_writes_share_the_port() -> None:
    # At 2, 3 of what 'a' wrote wait; at 3, 3 of what 'c' reads must be there. The second between is enough for both.
    writes = app("a", ("write", 9), bandwidth=4.5)
    reads = app("c", ("compute", 3), ("read", 9), bandwidth=4.5)
    plain = document(SLOW, writes, reads)
    assert sized(plain, "dynamic").size == pytest.approx(3)
    # A port of 1.5 is full of writes before 2; then half of it drains and half fetches: 3 + (3 - 0.75) are held at 2.
    assert sized(with_port(plain, 1.5), "dynamic").size == pytest.approx(5.25)


def test_one_owner_for_all_is_enough() -> None:
    plain = with_port(bursts(2), 1.02 * (least_port(bursts(2), "dynamic") or math.nan))
    each = LinearProgram(traffic_of(plain, 1e6), True, through_port=True)
    one = LinearProgram(traffic_of(plain), True, through_port=True)
    assert (one.owners, each.owners) == (1, len(plain["applications"]))
    assert one.solve().size == pytest.approx(each.solve().size, abs=1e-8 * volume(plain))


def test_the_judge_sees_a_port_that_is_exceeded() -> None:
    plain = document(SLOW, TWICE)
    free, narrow = sized(plain, "dynamic"), sized(with_port(plain, 2), "dynamic")
    assert verify(narrow.schedule, narrow.traffic, narrow.size) == []
    broken = verify(free.schedule, narrow.traffic, narrow.size)
    assert [(each.rule, each.time, each.excess) for each in broken] == [("port limit", 4.5, pytest.approx(2))]


def test_no_buffer_for_a_port_that_is_too_narrow() -> None:
    found = sized(with_port(document(SLOW, TWICE), 1), "static")
    # Alone, 45 bytes at 4 a second instead of 5, and 2 s of compute.
    assert found.infeasible == ("a", 0.0, pytest.approx((45 / 4 + 2) / (45 / 5 + 2)), pytest.approx(2))
    assert found.to_dict()["size"] is None and found.shares is None
    assert impossible_lines(found) == [
        "No buffer is large enough with a bandwidth of its own of 1: from 0 s on, with 'a', more would have to go in "
        "and out of it. It takes 2.",
        "With the largest of buffers somebody still takes at least 1.2045 times as long as without contention.",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_no_strategy_is_faster_than_the_stretch_said_to_be_possible(seed: int) -> None:
    plain = with_port(bursts(seed), 0.3)
    late = sized(plain, "dynamic").infeasible
    assert late is not None and late.stretch > 1.0
    for strategy in ("fair", "blocked-first"):
        run = buffer(
            Scenario.from_document(plain), volume(plain), partition="dynamic", lead=math.inf, strategy=strategy
        )
        assert run.max_stretch >= late.stretch * (1 - 1e-9)


def test_fetching_late_needs_more_of_the_port() -> None:
    # 2 of the 4 must be fetched in the second before the release, through the port, and leave it in the one after.
    plain = document({"read_bandwidth": 2, "write_bandwidth": 2}, app("a", ("read", 4), bandwidth=4, release=5))
    assert [sized(with_port(plain, port), "static", 1.0).size for port in (2, 2.5)] == pytest.approx([2, 2])
    # In half a second no file system of that speed gives as much; half as long before, the port must be twice as wide.
    late = sized(with_port(plain, 2), "static", 0.5).infeasible
    assert late is not None and late.port is None
    fast = document({"read_bandwidth": 3, "write_bandwidth": 3}, app("a", ("read", 4), bandwidth=4, release=5))
    late = sized(with_port(fast, 1), "static", 0.5).infeasible
    assert late is not None and (late.application, late.port) == ("a", pytest.approx(2))
    assert literal_lp(with_port(fast, 1.99), "static", 0.5) is None
    assert sized(with_port(fast, 2), "static", 0.5).size == pytest.approx(1)


def test_the_proof_names_the_port() -> None:
    found = sized(with_port(document(SLOW, TWICE), 2), "dynamic")
    port = [burst for burst in found.proof.bursts if burst.direction == "port"]
    assert [(burst.begin, burst.end, burst.demand, burst.room) for burst in port] == [(4.5, 6.5, 0.0, pytest.approx(4))]
    assert explanation_lines(found)[-2:] == [
        "  From 4.5 s on, for 2 s, the buffer's own bandwidth does not let more than 4 in and out: less as much.",
        "Together: 14.",
    ]
    assert sizing_lines(found)[-1] == (
        "The buffer's own bandwidth of 2 is full at times; with more, a smaller buffer would do."
    )
    wide = sized(with_port(document(SLOW, TWICE), 3), "dynamic")
    assert sizing_lines(wide)[-1].endswith("of 3 is enough for that; with more, the size is the same.")


def test_proofs_add_up() -> None:
    for seed in range(8):
        plain = bursts(seed)
        for partition in PARTITIONS:
            found = sized(with_port(plain, 1.02 * (least_port(plain, partition) or 1.0)), partition)
            value = sum(burst.weight * (burst.demand - burst.room) for burst in found.proof.bursts)
            assert value - found.proof.rest == pytest.approx(found.proof.size, abs=1e-9 * volume(plain))
            assert found.proof.size == pytest.approx(found.size, abs=1e-7 * volume(plain))


def test_a_slower_file_system_may_have_no_size() -> None:
    scenario = Scenario.from_document(with_port(document(SLOW, TWICE), 2))
    curve = size_curve(scenario, "dynamic")
    assert [point.factor for point in curve.bandwidth if point.size is None] == [0.5, 0.6, 0.7, 0.8, 0.9]
    assert curve.now.size == pytest.approx(14)
    assert any("no size" in line for line in curve_lines(curve, traffic_of(with_port(document(SLOW, TWICE), 2)).limits))
    with pytest.raises(InvalidOption, match="bandwidth is too small for a buffer of any size"):
        size_curve(Scenario.from_document(with_port(document(TOGETHER, TWICE), 2)), "dynamic")


@pytest.mark.parametrize("seed", [0, 4, 5, 9, 14])
@pytest.mark.parametrize("partition", ["static", "dynamic"])
def test_the_planned_strategy_keeps_the_port_and_holds_nobody_up(seed: int, partition: str) -> None:
    plain = bursts(seed)
    for job in plain["applications"]:
        job["release"] += 200.0  # a run starts at 0 with nothing fetched
    plain = with_port(plain, 1.02 * (least_port(plain, partition) or 1.0))
    found = sized(plain, partition)
    scenario = Scenario.from_document(plain)
    # Full to the last byte, rounding decides who is held up.
    capacity = 1.0001 * found.size
    run = buffer(scenario, capacity, partition=partition, lead=math.inf, strategy="planned")
    assert run.max_stretch <= 1.01
    assert run.peak <= capacity * (1 + 1e-9)
    assert run.through_buffer < volume(plain)  # what is sent as it is written does not go through the buffer


def test_what_is_sent_as_it_is_written_passes_straight() -> None:
    # 5 a second are written, of which 3 are sent at once; with `fair` all 5 would go through a port of 2.
    scenario = Scenario.from_document(with_port(document(SLOW, TWICE), 2))
    planned, fair = (buffer(scenario, 14.0, partition="dynamic", strategy=name) for name in ("planned", "fair"))
    assert planned.max_stretch == pytest.approx(1)
    assert planned.through_buffer == pytest.approx(18)
    assert fair.max_stretch > 2
    assert fair.through_buffer == pytest.approx(45)
