"""Jobs that come while others run: packs, backfilling and the queue of a batch system, against the slow reference."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario, pack, simulate
from penstock.policies.mapping import NAMES, mapping
from penstock.policies.mapping.easy import Easy
from reference.packs_in_time import Backfill, Packs, run_queue
from reference.packs_in_time import Easy as ReferenceEasy
from strategies import documents
from studies.packs.test_packing import PLANNED, on_one_node

MAPPINGS = {
    "make-pack": lambda: Packs(1.0),
    "make-pack(sensitivity=0.5)": lambda: Packs(0.5),
    "first-fit": lambda: Packs(math.inf),
    "backfill": lambda: Backfill(1.5),
    "backfill(sensitivity=inf)": lambda: Backfill(math.inf),
    "easy": lambda: ReferenceEasy(2.0),
    "easy(factor=1)": lambda: ReferenceEasy(1.0),
}
SHARING = st.sampled_from(["list-fifo", "fair-share", "fcfs", "list-most-remaining"])


def test_every_policy_has_a_witness():
    assert {name.partition("(")[0] for name in MAPPINGS} == set(NAMES)


@st.composite
def weeks(draw, most=9):
    """Jobs of up to 4 nodes that come at a few instants, on up to three I/O nodes of 4 to 8; some have a walltime."""
    document = draw(documents(windowed=False, forever=False, max_applications=most))
    document.pop("noise", None)
    rate = document["platform"].pop("bandwidth")
    nodes = {"count": draw(st.integers(1, 3)), "bandwidth": rate, "nodes": draw(st.integers(4, 8))}
    document["platform"]["io_nodes"] = nodes
    for job in document["applications"]:
        job["release"] = draw(st.sampled_from([0, 0, 0.5, 1, 2, 3, 5, 8, 13]))
        if draw(st.booleans()):
            job["walltime"] = draw(st.sampled_from([0.5, 1, 3, 8, 20, 50]))
    return document


@given(weeks(), st.sampled_from(list(MAPPINGS)), SHARING)
def test_the_rules(document, name, sharing):
    packing = pack(Scenario.from_document(document), mapping=name, sharing=sharing)
    expected = run_queue(document, MAPPINGS[name](), sharing)
    begin = min(job["release"] for job in document["applications"])
    assert [job.io_node for job in packing.jobs] == [job.node for job in expected]
    assert [job.start for job in packing.jobs] == pytest.approx([begin + job.start for job in expected], rel=1e-8)
    assert [job.end for job in packing.jobs] == pytest.approx([begin + job.end for job in expected], rel=1e-8)


@given(weeks(), st.sampled_from(list(MAPPINGS)), SHARING)
def test_nobody_is_early_and_nothing_is_overfull(document, name, sharing):
    packing = pack(Scenario.from_document(document), mapping=name, sharing=sharing)
    assert [job.release for job in packing.jobs] == [job["release"] for job in document["applications"]]
    assert all(job.start >= job.release for job in packing.jobs)
    # The wait is taken on the run's own clock; on the scenario's, both instants were rounded.
    assert [job.wait for job in packing.jobs] == pytest.approx(
        [job.start - job.release for job in packing.jobs], rel=1e-9, abs=1e-12
    )
    for moment in {job.start for job in packing.jobs}:
        for node in range(packing.io_nodes):
            there = [job for job in packing.jobs if job.io_node == node and job.start <= moment < job.end * (1 - 1e-9)]
            assert sum(job.nodes for job in there) <= packing.processors
    assert packing.makespan >= packing.bound * (1 - 1e-9)
    assert all(job.stretch >= 1 - 1e-9 for job in packing.jobs)
    assert packing.exec + packing.delay + packing.idle == pytest.approx(1)


@given(weeks(), st.sampled_from(list(MAPPINGS)), SHARING, st.sampled_from([0.5, 7.25, 1.6e9]))
def test_if_all_come_at_once_it_does_not_matter_when(document, name, sharing, release):
    for job in document["applications"]:
        job["release"] = 0
    early = pack(Scenario.from_document(document), mapping=name, sharing=sharing)
    for job in document["applications"]:
        job["release"] = release
    late = pack(Scenario.from_document(document), mapping=name, sharing=sharing)
    assert [job.io_node for job in late.jobs] == [job.io_node for job in early.jobs]
    assert [(job.start, job.end) for job in late.jobs] == [
        (release + job.start, release + job.end) for job in early.jobs
    ]
    assert [(job.wait, job.stretch) for job in late.jobs] == [(job.wait, job.stretch) for job in early.jobs]
    assert (late.delay, late.idle, late.node_hours_lost) == (early.delay, early.idle, early.node_hours_lost)


@given(weeks())
def test_the_first_that_waits_is_not_delayed_if_walltimes_hold(document):
    # With equal shares nobody takes longer than its time alone, times the number of jobs.
    document["platform"].pop("node_bandwidth", None)
    for job in document["applications"]:
        for key in ("bandwidth", "read_bandwidth", "write_bandwidth", "walltime"):
            job.pop(key, None)
    promised: dict[int, list[float]] = {}

    @mapping("watched", factor=float(len(document["applications"])))
    def watched(view):
        plan = Easy(view, view.settings["factor"])
        started = plan.start_all()
        if plan.reservation is not None:
            head = next(row for row in view.waiting if row not in [row for row, _ in started])
            promised.setdefault(int(view.job[head]), []).append(plan.reservation.time)
        return started

    packing = pack(Scenario.from_document(document), mapping=watched, sharing="fair-share")
    for job, times in promised.items():
        # Later promises are never worse, and all are kept.
        assert packing.jobs[job].start - packing.begin <= times[-1] * (1 + 1e-9)
        assert all(after <= before * (1 + 1e-9) for before, after in pairwise(times))


@pytest.mark.parametrize("name", ["list-fifo", "list-stretch", "list-shortest-remaining", "fair-share"])
@given(document=weeks(most=6))
def test_jobs_that_find_room_at_once_are_a_simulation(document, name):
    document["platform"]["io_nodes"] |= {"count": 1, "nodes": 4 * len(document["applications"])}
    for job in document["applications"]:
        job.pop("walltime", None)
    packing = pack(Scenario.from_document(document), "inf", sharing=name, backfill=True)
    everyone = simulate(on_one_node(document, [job.name for job in packing.jobs]), name)
    assert packing.max_wait == 0
    completions = [job.completion for job in everyone.applications]
    assert [job.end for job in packing.jobs] == pytest.approx(completions, rel=1e-9)


def plain_fair(view, rates):
    rates[:] = view.limit * min(1.0, view.capacity / view.limit.sum())


@pytest.mark.parametrize("sharing", ["list-fifo", "best-next-event", "periodic-greedy-yield(delta=0.3)", plain_fair])
def test_an_io_node_is_not_disturbed_by_jobs_that_come_elsewhere(sharing):
    """Bit by bit: it stops before every release and goes on as if it had not."""
    here = [
        {"name": f"h{i}", "phases": [{"repeat": 7, "phases": [{"compute": 0.7 + 0.13 * i}, {"write": 0.31}]}]}
        for i in range(4)
    ]
    there = [{"name": f"t{i}", "release": 0.17 * i, "phases": [{"compute": 0.1}]} for i in range(1, 30)]

    def apart(view):
        return [(row, 0 if view.job[row] < 4 else 1) for row in view.waiting]

    ends = []
    for jobs in (here, here + there):
        platform = {"io_nodes": {"count": 2, "bandwidth": 0.7, "nodes": 40}}
        scenario = Scenario.from_document({"version": 1, "platform": platform, "applications": jobs})
        ends.append([job.end for job in pack(scenario, mapping=apart, sharing=sharing).jobs[:4]])
    assert ends[0] == ends[1]


def two(late=1, **more):
    jobs = [
        {"name": "long", "nodes": 2, "phases": [{"compute": 2}, {"write": 4}]},
        {"name": "late", "nodes": 2, "release": late, "phases": [{"compute": 2}, {"write": 1}], **more},
    ]
    return Scenario.from_document(
        {"version": 1, "platform": {"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}, "applications": jobs}
    )


@pytest.mark.parametrize("name", ["make-pack", "first-fit"])
def test_one_late_job_waits_for_the_pack_to_end(name):
    packing = pack(two(), mapping=name)
    assert [(job.start, job.end, job.wait, job.pack) for job in packing.jobs] == [(0, 6, 0, 0), (6, 9, 5, 1)]
    assert (packing.mean_wait, packing.max_wait, packing.makespan) == (2.5, 5, 9)
    # Waiting in the queue holds no nodes.
    assert (packing.max_stretch, packing.node_hours_lost, packing.delay) == (1, 0, 0)
    assert packing.node_hours_used == pytest.approx((2 * 6 + 2 * 3) / 3600)


@pytest.mark.parametrize("name", ["backfill", "easy"])
def test_one_late_job_starts_beside_the_other(name):
    packing = pack(two(), mapping=name, sharing="fair-share")
    # `long` writes from 2 on, `late` from 3 on: from then until 5 both at half the bandwidth.
    assert [(job.start, job.end, job.wait) for job in packing.jobs] == [(0, 7, 0), (1, 5, 0)]
    assert packing.worst == "late" and packing.max_stretch == pytest.approx(4 / 3)
    assert packing.node_hours_lost == pytest.approx((2 * 1 + 2 * 1) / 3600)
    assert packing.lost_share == pytest.approx(4 / (2 * 7 + 2 * 4))
    assert packing.bound == 6


def test_new_jobs_join_a_pack_that_waits():
    """`first` runs until 4; `a` waits from 1 on, `b` joins it at 2, `c` finds no processors left there."""
    sizes = {"first": (4, 0, 4), "a": (2, 1, 2), "b": (2, 2, 1), "c": (1, 3, 3)}
    jobs = [
        {"name": name, "nodes": nodes, "release": release, "phases": [{"compute": seconds}]}
        for name, (nodes, release, seconds) in sizes.items()
    ]
    platform = {"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}
    packing = pack(Scenario.from_document({"version": 1, "platform": platform, "applications": jobs}))
    # Packs are listed as they were opened; of those that wait at 4 the longest, that of `c`, starts first.
    assert [(each.jobs, each.start, each.end) for each in packing.packs] == [
        (("first",), 0, 4),
        (("a", "b"), 7, 9),
        (("c",), 4, 7),
    ]


def queue(*jobs, **platform):
    """Jobs that only compute, as (name, nodes, release, seconds, walltime)."""
    keys = ("name", "nodes", "release", "seconds", "walltime")
    rows = [dict(zip(keys, job, strict=False)) for job in jobs]
    applications = [{"phases": [{"compute": row.pop("seconds")}], **row} for row in rows]
    machine = {"count": 1, "bandwidth": 1, "nodes": 4, **platform}
    return Scenario.from_document({"version": 1, "platform": {"io_nodes": machine}, "applications": applications})


def starts(scenario, name="easy"):
    return {job.name: job.start for job in pack(scenario, mapping=name).jobs}


def test_easy_lets_a_short_job_pass_and_a_long_one_only_beside():
    running, wide = ("running", 2, 0, 10, 10), ("wide", 3, 1, 5, 5)
    # `wide` is promised 10. Who is over by then may pass; a longer one only on the processor that `wide` leaves.
    assert starts(queue(running, wide, ("short", 2, 2, 8, 8)))["short"] == 2
    assert starts(queue(running, wide, ("too-long", 2, 2, 9, 9)))["too-long"] == 15
    assert starts(queue(running, wide, ("narrow", 1, 2, 9, 9), ("other", 1, 2, 9, 9))) == {
        "running": 0,
        "wide": 10,
        "narrow": 2,
        "other": 11,
    }


def test_easy_goes_by_what_is_announced_not_by_what_happens():
    # `running` ends at 4 but has asked for 10; what was promised is a latest time.
    scenario = queue(("running", 2, 0, 4, 10), ("wide", 4, 1, 5, 5), ("short", 2, 2, 8, 8))
    assert starts(scenario) == {"running": 0, "wide": 10, "short": 2}
    scenario = queue(("running", 2, 0, 4, 10), ("wide", 4, 1, 5, 5), ("too-long", 2, 2, 8, 8.5))
    assert starts(scenario) == {"running": 0, "wide": 4, "too-long": 9}


def test_without_a_walltime_easy_expects_twice_the_time_alone():
    # `running` is expected until 8, so that a job of 3 seconds, expected to take 6, may pass; one of 3.5 may not.
    wide = ("wide", 4, 1, 5)
    assert starts(queue(("running", 2, 0, 4), wide, ("passes", 2, 2, 3))) == {"running": 0, "wide": 5, "passes": 2}
    assert starts(queue(("running", 2, 0, 4), wide, ("waits", 2, 2, 3.5))) == {"running": 0, "wide": 4, "waits": 9}
    scenario = queue(("running", 2, 0, 4), wide, ("waits", 2, 2, 3.5))
    assert starts(scenario, "easy(factor=4)")["waits"] == 2


def test_easy_uses_a_node_on_which_nothing_has_changed():
    """`b` may not start beside the reservation of `a`; as soon as `a` has started elsewhere, it may."""
    scenario = queue(("x", 3, 0, 10, 20), ("y", 2, 0, 12, 15), ("a", 4, 1, 5, 5), ("b", 2, 2, 30, 30), count=2)
    # `a` is promised node 1 at 15; `x` ends at 10 already and `a` starts on node 0; then `b` starts beside `y`.
    packing = pack(scenario, mapping="easy")
    assert [(job.start, job.io_node) for job in packing.jobs] == [(0, 0), (0, 1), (10, 0), (10, 1)]


def test_a_job_takes_the_node_that_it_fills_best():
    packing = pack(queue(("x", 2, 0, 9), ("y", 3, 0, 9), ("z", 2, 1, 1), ("w", 1, 1, 1), count=3), mapping="easy")
    assert [job.io_node for job in packing.jobs] == [0, 1, 0, 1]


@pytest.mark.parametrize("name", sorted(PLANNED))
def test_orders_that_are_fixed_ahead_work_in_packs_that_come_later(name):
    job = {"nodes": 2, "phases": [{"repeat": 3, "phases": [{"compute": 3}, {"write": 1}]}]}
    jobs = [{"name": f"j{i}", "release": 2 * (i // 2), **job} for i in range(6)]
    platform = {"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}}
    packing = pack(
        Scenario.from_document({"version": 1, "platform": platform, "applications": jobs}), "inf", sharing=name
    )
    assert [each.jobs for each in packing.packs] == [("j0", "j1"), ("j2", "j3"), ("j4", "j5")]


def test_the_bound_counts_what_comes_late():
    late = queue(("a", 4, 0, 1), ("b", 4, 10, 3), ("c", 4, 12, 3))
    assert pack(late).bound == 16 == pack(late).makespan
    assert np.isclose(pack(late).idle, 1 - 7 / 16)


def test_with_several_instants_no_pack_is_planned_ahead():
    """Dealt by announced times at 1, `d` would have to wait for node 1; it starts where it is free first."""
    jobs = queue(("a", 4, 0, 10), ("b", 4, 0, 3), ("c", 4, 1, 8), ("d", 4, 1, 7), count=2)
    found = [(job.start, job.io_node) for job in pack(jobs, mapping="first-fit").jobs]
    assert found == [(0, 0), (0, 1), (3, 1), (10, 0)]


def test_ends_come_before_releases_of_the_same_instant():
    """At 4 `x` leaves three processors on node 0, which `y` fills better than the empty node 1."""
    jobs = queue(("x", 2, 0, 4), ("v", 1, 0, 9), ("y", 2, 4, 1), count=2)
    assert [(job.start, job.io_node) for job in pack(jobs, mapping="easy").jobs] == [(0, 0), (0, 0), (4, 0)]


def test_two_ends_at_one_instant_have_a_turn_each():
    """A job that is started on node 1 while it is the turn of node 0 does not hide the end there."""
    asked = []

    def elsewhere(view):
        asked.append((view.now, view.open.tolist(), view.free.tolist()))
        if view.now == 0:
            return [(0, 0), (1, 1)]
        return [(2, 1)] if view.node[2] < 0 else [(3, 1)] if view.free[1] >= 3 else []

    jobs = queue(("x", 1, 0, 4), ("y", 1, 0, 4), ("z", 1, 0, 4), ("last", 3, 0, 1), count=2)
    assert [job.start for job in pack(jobs, mapping=elsewhere).jobs] == [0, 0, 4, 4]
    assert asked == [(0, [0, 1], [4, 4]), (4, [0], [4, 3]), (4, [1], [4, 3])]
