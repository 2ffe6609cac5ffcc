"""Packs and backfilling end to end: what the engine makes of them, and that nothing is lost."""

import math
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario, generate, pack, simulate
from penstock.errors import InvalidOption, InvalidScenario, PolicyError
from penstock.policies.sharing import NAMES
from penstock.studies.packs import compare_packings
from strategies import documents

PLANNED = {name for name in NAMES if name.startswith("periodic-") and name != "periodic-greedy-yield"}
PLANNED |= {"hierarchical-round-robin"}
SENSITIVITIES = st.sampled_from([0.5, 1, "alpha", "inf"])


@st.composite
def nights(draw, noise=True):
    """A few jobs of up to 4 nodes on up to three I/O nodes of 4 to 8."""
    document = draw(documents(windowed=False, forever=False))
    for job in document["applications"]:
        job.pop("release", None)
    if not noise:
        document.pop("noise", None)
    rate = document["platform"].pop("bandwidth")
    nodes = {"count": draw(st.integers(1, 3)), "bandwidth": rate, "nodes": draw(st.integers(4, 8))}
    document["platform"]["io_nodes"] = nodes
    return document


def on_one_node(document, names):
    """The scenario of some of the jobs alone on an I/O node."""
    platform = {**document["platform"], "bandwidth": document["platform"]["io_nodes"]["bandwidth"]}
    jobs = [job for job in document["applications"] if job["name"] in names]
    return Scenario.from_document({**document, "platform": platform, "applications": jobs})


@given(
    nights(noise=False), SENSITIVITIES, st.sampled_from(["list-fifo", "list-most-remaining", "fair-share", "set-10"])
)
def test_a_pack_is_a_simulation_of_its_jobs(document, sensitivity, sharing):
    packing = pack(Scenario.from_document(document), sensitivity, sharing=sharing)
    ends = {job.name: job.end for job in packing.jobs}
    for each in packing.packs:
        alone = simulate(on_one_node(document, each.jobs), sharing)
        assert [each.start + job.completion for job in alone.applications] == [ends[name] for name in each.jobs]
        assert each.max_stretch == pytest.approx(alone.max_stretch)


@given(nights(), SENSITIVITIES)
def test_packs_follow_each_other_without_a_gap(document, sensitivity):
    packing = pack(Scenario.from_document(document), sensitivity)
    for node in range(packing.io_nodes):
        queue = sorted((each for each in packing.packs if each.io_node == node), key=lambda each: each.start)
        assert not queue or queue[0].start == 0
        assert all(before.end == pytest.approx(after.start, rel=1e-12) for before, after in pairwise(queue))
    for place, each in enumerate(packing.packs):
        own = [job for job in packing.jobs if job.pack == place]
        assert tuple(job.name for job in own) == each.jobs
        assert {(job.io_node, job.start) for job in own} == {(each.io_node, each.start)}
        assert max(job.end for job in own) == each.end
        assert sum(job.nodes for job in own) == each.processors <= packing.processors
        number = {"alpha": packing.alpha, "inf": math.inf}.get(sensitivity, sensitivity)
        assert each.load <= number * (1 + 1e-8) or len(own) == 1
    assert packing.mean_pack_max_stretch == pytest.approx(
        sum(each.max_stretch for each in packing.packs) / len(packing.packs)
    )


@given(nights(), SENSITIVITIES, st.booleans())
def test_the_totals_add_up(document, sensitivity, backfill):
    scenario = Scenario.from_document(document)
    packing = pack(scenario, sensitivity, backfill=backfill)
    alone = simulate(on_one_node(document, [job.name for job in packing.jobs])).applications
    whole = packing.io_nodes * packing.processors * packing.makespan
    assert packing.exec + packing.delay + packing.idle == pytest.approx(1)
    assert min(packing.exec, packing.delay, packing.idle) >= 0
    # Time alone, from what the engine transferred and computed for another purpose.
    times = {job.name: job.completion / job.stretch for job in alone}
    assert packing.exec * whole == pytest.approx(sum(job.nodes * times[job.name] for job in packing.jobs))
    held = sum(job.nodes * (job.end - job.start) for job in packing.jobs)
    assert (packing.exec + packing.delay) * whole == pytest.approx(held)
    assert packing.makespan == max(job.end for job in packing.jobs) >= packing.bound * (1 - 1e-9)
    assert packing.max_stretch == max(job.stretch for job in packing.jobs)
    assert packing.mean_stretch == pytest.approx(sum(job.stretch for job in packing.jobs) / len(packing.jobs))
    assert all(job.stretch >= 1 - 1e-9 for job in packing.jobs)


@given(
    nights(), st.sampled_from([0.5, 1, 1.5, "inf"]), st.sampled_from(["list-fifo", "list-most-remaining", "fair-share"])
)
def test_backfilling_keeps_its_limits(document, sensitivity, sharing):
    packing = pack(Scenario.from_document(document), sensitivity, sharing=sharing, backfill=True)
    assert [job.name for job in packing.jobs] == [job["name"] for job in document["applications"]]
    assert packing.packs == () and packing.mean_pack_max_stretch is None
    for node in range(packing.io_nodes):
        own = [job for job in packing.jobs if job.io_node == node]
        for moment in {job.start for job in own}:
            together = [job for job in own if job.start <= moment < job.end * (1 - 1e-9)]
            assert sum(job.nodes for job in together) <= packing.processors
            demand = sum(job.io_share for job in together)
            assert demand <= float(sensitivity) * (1 + 1e-8) or len(together) == 1


@given(nights(), st.sampled_from(["list-fifo", "list-stretch", "list-shortest-remaining", "fair-share"]))
def test_backfilling_what_fits_at_once_is_a_simulation(document, sharing):
    nodes = document["platform"]["io_nodes"]
    nodes |= {"count": 1, "nodes": 4 * len(document["applications"])}
    packing = pack(Scenario.from_document(document), "inf", sharing=sharing, backfill=True)
    everyone = simulate(on_one_node(document, [job.name for job in packing.jobs]), sharing)
    # The end of a last compute is an event here, so that sums may round differently.
    completions = [job.completion for job in everyone.applications]
    assert [job.end for job in packing.jobs] == pytest.approx(completions, rel=1e-12)


@given(nights(), SENSITIVITIES, st.booleans())
def test_noise_changes_the_run_and_not_the_packs(document, sensitivity, backfill):
    calm = {key: value for key, value in document.items() if key not in ("noise", "seed")}
    disturbed = pack(Scenario.from_document({**calm, "noise": 0.3, "seed": 5}), sensitivity, backfill=backfill)
    nominal = pack(Scenario.from_document(calm), sensitivity, backfill=backfill)
    assert [each.jobs for each in disturbed.packs] == [each.jobs for each in nominal.packs]
    assert disturbed.alpha == pytest.approx(nominal.alpha)
    assert disturbed.makespan != nominal.makespan


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("backfill", [False, True])
def test_any_policy_divides_the_bandwidth_of_a_node(name, backfill):
    job = {"nodes": 2, "phases": [{"repeat": 3, "phases": [{"compute": 3}, {"write": 1}]}]}
    jobs = [{"name": f"j{i}", **job} for i in range(6)]
    nodes = {"count": 2, "bandwidth": 1, "nodes": 4}
    scenario = Scenario.from_document({"version": 1, "platform": {"io_nodes": nodes}, "applications": jobs})
    if backfill and name in PLANNED:
        with pytest.raises(PolicyError, match="is decided during it"):
            pack(scenario, sharing=name, backfill=True)
        return
    packing = pack(scenario, sharing=name, backfill=backfill)
    assert packing.sharing == name
    assert 24 <= packing.makespan <= 36


def scenario(**changes):
    job = {"name": "a", "nodes": 2, "phases": [{"compute": 1}, {"write": 1}]}
    document = {
        "version": 1,
        "platform": {"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}},
        "applications": [job, {**job, "name": "b"}],
    }
    return Scenario.from_document({**document, **changes})


def test_caps():
    jobs = [{"name": "a", "nodes": 2, "bandwidth": 0.25, "phases": [{"compute": 1}, {"write": 1}]}]
    assert pack(scenario(applications=jobs)).makespan == 5
    jobs = [{"name": "a", "nodes": 2, "bandwidth": 9, "phases": [{"compute": 1}, {"write": 1}]}]
    assert pack(scenario(applications=jobs)).makespan == 2
    platform = {"io_nodes": {"count": 1, "bandwidth": 1, "nodes": 4}, "node_bandwidth": 0.125, "bandwidth": 7}
    assert [job.end for job in pack(scenario(platform=platform)).jobs] == [5, 9]
    # L counts what the volume takes of the whole I/O node.
    assert pack(scenario(platform=platform)).packs[0].load == pytest.approx(2 / 5)


def test_a_plain_platform_is_one_io_node():
    packing = pack(scenario(platform={"bandwidth": 1, "nodes": 2}))
    assert (packing.io_nodes, packing.processors, len(packing.packs)) == (1, 2, 2)
    assert pack(scenario(platform={"bandwidth": 1, "nodes": 2}), io_nodes=2).makespan == 2


def test_where_an_application_was_sent_before_does_not_matter():
    jobs = [{"name": name, "nodes": 4, "io_node": 1, "phases": [{"compute": 1}]} for name in "ab"]
    platform = {"io_nodes": {"count": 2, "bandwidth": 1, "nodes": 4}}
    assert {job.io_node for job in pack(scenario(applications=jobs, platform=platform)).jobs} == {0, 1}


@pytest.mark.parametrize(
    ("given", "shown"),
    [(None, 1.0), (1, 1.0), ("1", 1.0), ("1.50", 1.5), ("inf", "inf"), (math.inf, "inf"), ("alpha", "alpha")],
)
def test_sensitivity_is_shown_as_asked(given, shown):
    assert pack(scenario(), given).sensitivity == shown


def test_backfilling_has_its_own_default():
    assert pack(scenario(), backfill=True).sensitivity == 1.5


@pytest.mark.parametrize("given", ["0", "-1", "nan", "beta", "", 0, -math.inf])
def test_other_sensitivities_are_refused(given):
    with pytest.raises(InvalidOption, match="accepted is a number above 0, inf \\(first-fit\\) or alpha"):
        pack(scenario(), given)


@pytest.mark.parametrize("given", [0, -1, 10_001, 1.5, True])
def test_other_numbers_of_io_nodes_are_refused(given):
    with pytest.raises(InvalidOption, match="accepted is a whole number from 1 to 10,000"):
        pack(scenario(), io_nodes=given)


def test_scenarios_that_cannot_be_packed():
    with pytest.raises(InvalidScenario, match="has a window"):
        pack(scenario(window={"end": 9}))
    with pytest.raises(InvalidScenario, match=r"platform\.io_nodes is missing"):
        pack(scenario(platform={"bandwidth": 1}))
    with pytest.raises(InvalidScenario, match="application 'a' needs 2 nodes; an I/O node has 1"):
        pack(scenario(platform={"io_nodes": {"count": 9, "bandwidth": 1, "nodes": 1}}))


def test_a_job_that_only_computes():
    jobs = [
        {"name": "a", "nodes": 3, "phases": [{"compute": 4}]},
        {"name": "b", "nodes": 3, "phases": [{"compute": 2}]},
    ]
    for backfill in (False, True):
        packing = pack(scenario(applications=jobs), backfill=backfill)
        assert [(job.start, job.end, job.stretch) for job in packing.jobs] == [(0, 4, 1), (4, 6, 1)]
        assert (packing.alpha, packing.delay) == (0, 0)


def test_progress_counts_the_jobs():
    for backfill in (False, True):
        seen: list[Any] = []
        pack(scenario(), "inf", backfill=backfill, progress=seen.append)
        assert seen == sorted(seen) and seen[-1] == 2


def test_a_comparison_is_refused_before_anything_has_run():
    seen: list[Any] = []
    with pytest.raises(PolicyError, match="is decided during it"):
        compare_packings(scenario(), sharing="periodic-fifo", progress=seen.append)
    assert seen == []


@pytest.mark.parametrize("seed", range(2))
def test_what_the_page_says_of_p3_workloads(seed):
    """With several I/O nodes S = 1 is quicker and calmer than first-fit, and backfilling quicker still."""
    found = compare_packings(generate("packs", seed, alpha=6, jobs=60, n_min=25, n_max=100), io_nodes=3)
    assert list(found) == ["first-fit", "S = 1", "S = alpha", "backfill"]
    first_fit, one, _, backfill = found.values()
    assert backfill.makespan < one.makespan < first_fit.makespan
    assert max(one.max_stretch, backfill.max_stretch) < first_fit.max_stretch


@pytest.mark.timing
@pytest.mark.parametrize("backfill", [False, True])
def test_the_largest_workload_of_p3_in_half_a_second(backfill):
    largest = generate("packs", 1, jobs=100, n_min=1000, n_max=1000, io_nodes=5, alpha=5)
    assert min(pack(largest, backfill=backfill).seconds for _ in range(3)) <= 0.5


@pytest.mark.timing
def test_backfilling_a_thousand_jobs_takes_little_more_than_running_them():
    many = generate("packs", 1, jobs=1000, n_min=5, n_max=5, io_nodes=5, alpha=2)

    def beyond_the_engine():
        before = process_time()
        packing = pack(many, backfill=True)
        return process_time() - before - packing.seconds

    assert min(beyond_the_engine() for _ in range(3)) <= 0.6
