"""Small machines behind a burst buffer, worked out by hand from models §9: the loop and the reference against numbers.

Each of these was once wrong, or in doubt, in the loop or in the reference of the tests.
"""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Scenario, simulate
from penstock.model import Plan
from reference import machine

Document = dict[str, Any]


def job(name: str, *phases: Document, **more: Any) -> Document:
    return {"name": name, "phases": list(phases), **more}


def ends(platform: Document, jobs: list[Document], parts: dict[str, float], sharing: Any, **more: Any) -> Document:
    """Completions by name, the same from both."""
    plan = {"sharing": sharing} | ({"buffering": {"shares": parts, "lead": 0}} if parts else {})
    plan |= {key: more.pop(key) for key in ("mapping", "placement") if key in more}
    document = {"version": 1, "platform": platform, "applications": jobs, **more}
    known = machine.simulate(document, plan)["applications"]
    found = simulate(Scenario.from_document(document), plan=Plan.model_validate(plan)).to_dict()["applications"]
    for key in ("completion", "transferred"):
        one, other = ([-1.0 if row[key] is None else row[key] for row in rows] for rows in (found, known))
        assert one == pytest.approx(other, rel=1e-9), key
    return {row["name"]: row["transferred" if "window" in more else "completion"] for row in found}


def test_a_read_without_input_in_the_buffer_does_not_cross_its_port() -> None:
    # Nothing was fetched ahead, so 4 bytes come straight at 2/s, though the port takes 1/s.
    platform = {"read_bandwidth": 2, "burst_buffer": {"capacity": 4, "bandwidth": 1}}
    assert ends(platform, [job("a", {"read": 4}, bandwidth=4)], {"a": 0.25}, "fair-share")["a"] == pytest.approx(2)


def test_what_drains_was_posted_when_the_part_was_last_empty() -> None:
    # a's part of 1 is never empty from 0 on, so its drain (1/s) stays before b, which posts at 0.3. Its second write,
    # posted at 0.5 with 0.5 held, fills the part at 3/s by 0.6667, has 1.3333 left then, and ends at 2. The part drains
    # until 3; only then does b move.
    platform = {"write_bandwidth": 1, "burst_buffer": {"capacity": 4}}
    a = job("a", {"write": 1}, {"compute": 0.25}, {"write": 2}, bandwidth=4)
    b = job("b", {"compute": 0.3}, {"write": 1}, bandwidth=1)
    found = ends(platform, [a, b], {"a": 0.25}, "fcfs")
    assert found == pytest.approx({"a": 2.0, "b": 4.0})


def test_what_drains_after_the_end_has_the_last_yield() -> None:
    # a ends at 1 with yield 1 and 3 bytes held, which drain first (tie with b, posted before). At 2, when c posts, b
    # has 1/2, a and c have 1: b moves its 2 bytes until 4, then c (1/2 against a's 1) until 4.1.
    platform = {"write_bandwidth": 1, "burst_buffer": {"capacity": 8}}
    a = job("a", {"write": 4}, bandwidth=4)
    b = job("b", {"compute": 1}, {"write": 2}, bandwidth=1)
    c = job("c", {"compute": 2}, {"write": 0.1}, bandwidth=1)
    found = ends(platform, [a, b, c], {"a": 0.5}, "greedy-yield")
    assert found == pytest.approx({"a": 1.0, "b": 4.0, "c": 4.1})


def test_the_end_of_a_last_compute_is_no_event_though_bytes_drain() -> None:
    # All have yield 0 at first: b moves. At 0.125 a has written; c has yield 0 and moves, until it ends at 4.125: that
    # a ends its compute at 2, while it holds bytes, asks nobody. Then b, with the lowest yield, moves its other 3.875.
    platform = {"write_bandwidth": 1, "burst_buffer": {"capacity": 2}}
    b, c = (job(name, {"write": 4}, bandwidth=1) for name in "bc")
    a = job("a", {"write": 0.5}, {"compute": 1.875}, bandwidth=4)
    found = ends(platform, [b, c, a], {"a": 0.5}, "greedy-yield")
    assert found == pytest.approx({"b": 8.0, "c": 4.125, "a": 2.0})


def test_a_cut_is_an_event() -> None:
    # b moves from 0. At 2 a's walltime ends its compute: b has yield 1, c has 0 and moves until 6, then b again.
    platform = {"write_bandwidth": 1, "io_nodes": {"count": 1, "bandwidth": 1, "nodes": 8}}
    jobs = [job(name, {"write": 4}, bandwidth=1) for name in "bc"]
    jobs.append(job("a", {"compute": 10}, bandwidth=1, walltime=2))
    found = ends(platform, jobs, {}, "greedy-yield", mapping=dict.fromkeys("bca", 0))
    assert (found["b"], found["c"], found["a"]) == (pytest.approx(8), pytest.approx(6), None)


def test_input_is_fetched_ahead_for_a_read_that_the_window_cuts_off() -> None:
    # a's drain, its fetch and b have 1/3 each; a writes at 1, so that its part of 1 is full after 1 s. Then drain and b
    # have 1/2: in 4 s a writes 1 + 3/2 and b 1/3 + 3/2.
    platform = {"bandwidth": 1, "burst_buffer": {"capacity": 4}}
    jobs = [job("a", {"write": 8}, {"read": 1}, bandwidth=1), job("b", {"write": 4}, bandwidth=1)]
    moved = ends(platform, jobs, {"a": 0.25}, "fair-share", window={"begin": 0, "end": 4})
    assert moved == pytest.approx({"a": 2.5, "b": 11 / 6})


def test_as_much_is_fetched_for_a_full_part_as_drains_meanwhile() -> None:
    # Part 2. The fetch (posted 0) goes before the drain (posted 1): 1 byte ahead at 1, then 5/s into the part, full at
    # 1.2 with 0.8 written. 0.2 more pass through until 1.4. Then fetch and drain share 1/s: a fetch alone would
    # overfill the part, a drain alone leave room; both have 1/2 until all has drained at 3. Then nothing moves. The
    # read, from 11.4 on, takes 4/s with 1/s coming in for 2/3 s, and the last 4/3 bytes come straight at 1/s.
    platform = {"bandwidth": 1, "burst_buffer": {"capacity": 4}}
    a = job("a", {"compute": 1}, {"write": 1}, {"compute": 10}, {"read": 4}, bandwidth=4)
    assert ends(platform, [a], {"a": 0.5}, "fcfs")["a"] == pytest.approx(13.4)


def test_no_more_is_fetched_for_a_full_part_than_is_read_from_it() -> None:
    # The part of 1 is full of input at 0.5. From 1 on it is read, over a port of 2/s on which the fetch goes first: at
    # 1/s each, or it would hold more than there is room for. All is fetched at 5; the last byte is read at 2/s.
    platform = {"read_bandwidth": 3, "burst_buffer": {"capacity": 4, "bandwidth": 2}}
    a = job("a", {"compute": 1}, {"read": 5}, bandwidth=4)
    assert ends(platform, [a], {"a": 0.25}, "fcfs")["a"] == pytest.approx(5.5)


def test_an_application_that_drains_and_fetches_does_not_disturb_itself() -> None:
    # One application, so all of the I/O node: 1/s out and 1/s in until 2, then 2/s in. At 3 all 4 bytes are there.
    nodes = {"count": 1, "bandwidth": 2, "nodes": 8, "interference": [1, 0.5]}
    a = job("a", {"write": 2}, {"compute": 2.5}, {"read": 4}, bandwidth=4)
    found = ends({"io_nodes": nodes, "burst_buffer": {"capacity": 8}}, [a], {"a": 0.75}, "fair-share", mapping={"a": 0})
    assert found["a"] == pytest.approx(4)


def test_what_is_left_to_drain_is_what_is_held_and_what_is_being_written() -> None:
    # Fetching 4 takes less time than draining 7: the fetch moves, and the part of 0.1 is full after 1/30 s. Then 6.9333
    # pass through. The read starts with 1/15 held, which is less than the 3.9667 to fetch: it drains first, while the
    # 1/30 fetched is read at 2/s; at 7.0333 the rest, 3.9667, begins to come straight at 1/s.
    platform = {"targets": [{"name": "t", "capacity": 1}], "burst_buffer": {"capacity": 2}}
    a = job("a", {"write": 7}, {"read": 4}, bandwidth=2)
    assert ends(platform, [a], {"a": 0.05}, "greedy-com", placement={"a": [0]})["a"] == pytest.approx(11)


def test_what_is_fetched_was_posted_when_there_was_first_something_to_fetch() -> None:
    # a's part is full of input from 0.5 on, but more is missing since 0. Its read at 2 goes before b's, posted at 1:
    # 0.5 held and 1/s coming in last 1/6 s at 4/s, then 1.3333 come straight. b has moved 1, and 3 more from 3.5 on.
    platform = {"read_bandwidth": 1, "burst_buffer": {"capacity": 2}}
    a, b = job("a", {"compute": 2}, {"read": 2}, bandwidth=4), job("b", {"compute": 1}, {"read": 4}, bandwidth=1)
    assert ends(platform, [a, b], {"a": 0.25}, "fcfs") == pytest.approx({"a": 3.5, "b": 6.5})


def test_writes_in_a_row_leave_no_rounding_in_the_part() -> None:
    # a writes and drains at 1/s, three times in a row, and holds nothing: its third write is posted after b's read,
    # which takes the target first. 0.25 go into the part; b ends at 4, and 0.85 are left to a, at 1/s.
    platform = {"targets": [{"name": "t"}], "burst_buffer": {"capacity": 1}}
    a = job("a", *[{"write": 1.1}] * 3, bandwidth=1)
    b = job("b", {"compute": 1.2}, {"read": 7.2}, bandwidth=4)
    found = ends(platform, [a, b], {"a": 0.25}, "fcfs", placement={"a": [0], "b": [0]})
    assert found == pytest.approx({"a": 4.85, "b": 4.0})


def test_what_drains_ties_with_the_post_that_made_its_part_fill() -> None:
    # r's part is full of input from 0.2 on; w writes through its own, at 1/s, from 1 on. At 2 r reads, and its fetch,
    # posted at 0, goes before w's drain on their target: 0.2/s come in and are read, all that is left of a port of
    # 2.2/s, and w's part of 0.04 begins to fill. At 2.2 it is full. Now w's drain and r's read are both posted at 2, so
    # the order in the scenario decides who goes first on what the fetch, at 0.5/s, leaves of the port. w: it drains
    # 0.5/s, crossing twice, and 0.7/s are left to r. r: it reads 1/s, and 0.7/s are left to w, for 0.35/s.
    platform = {
        "targets": [{"name": "both", "capacity": 0.5}, {"name": "own", "capacity": 0.5}],
        "burst_buffer": {"capacity": 1, "bandwidth": 2.2},
    }
    w = job("w", {"compute": 1}, {"write": 4}, bandwidth=1)
    r = job("r", {"compute": 2}, {"read": 4}, bandwidth=1)
    more = {"placement": {"w": [0, 1], "r": [0]}, "window": {"begin": 0, "end": 2.4}}
    moved = ends(platform, [w, r], {"w": 0.04, "r": 0.1}, "fcfs", **more)
    assert moved == pytest.approx({"w": 1.2 + 0.2 * 0.5, "r": 0.04 + 0.2 * 0.7})
    moved = ends(platform, [r, w], {"w": 0.04, "r": 0.1}, "fcfs", **more)
    assert moved == pytest.approx({"w": 1.2 + 0.2 * 0.35, "r": 0.04 + 0.2 * 1.0})
