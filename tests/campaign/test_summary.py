"""Tables: pairs are by workload and seed, groups are by what varies, and bounds are the tightest."""

import numpy as np
import pytest

from campaign.small import SMALL, small
from penstock import generate, simulate
from penstock.campaign import read_results, run_campaign, summarise
from penstock.campaign.statistics import mean_intervals
from penstock.errors import InvalidOption


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign") / "out"
    synthetic = {"generate": "synthetic", "set": {"horizon": 20000, "pressure": 1.2}, "seeds": "1-5"}
    plans = ["fair-share", "fcfs", "greedy-yield"]
    run_campaign(small(workloads=[*SMALL["workloads"], synthetic], plans=plans, metrics=[]), folder, workers=1)
    return read_results(folder)


def test_groups_are_by_what_varies(found):
    assert found.varying[:2] == ("workload", "m")
    assert found.metrics == ("min_yield", "node_hours_lost", "efficiency", "utilization", "makespan", "max_stretch")
    entries = summarise(found, ["min_yield"])
    assert [entry.plan for entry in entries] == list(found.plans) * 3
    assert [entry.runs for entry in entries] == [3] * 6 + [5] * 3
    by_workload = summarise(found, ["min_yield"], by=["workload"])
    assert [(entry.group, entry.runs) for entry in by_workload[::3]] == [
        ({"workload": "chains"}, 6),
        ({"workload": "synthetic"}, 5),
    ]


def test_plans_are_paired_by_seed(found):
    scenarios = [generate("synthetic", seed=seed, horizon=20000, pressure=1.2) for seed in range(1, 6)]
    one, other = (np.array([simulate(each, name).min_yield for each in scenarios]) for name in ("greedy-yield", "fcfs"))
    entries = summarise(found, ["min_yield"], against="fcfs", by=["workload"])
    [entry] = [each for each in entries if each.plan == "greedy-yield" and each.group["workload"] == "synthetic"]
    assert entry.mean == pytest.approx(mean_intervals(one[:, None])[0], rel=1e-12)
    assert entry.against.difference == pytest.approx(mean_intervals((one - other)[:, None])[0], rel=1e-9)
    assert entry.against.ratio == pytest.approx(mean_intervals((one / other)[:, None])[0], rel=1e-9)
    assert entry.against.tally == ((one > other).sum(), 0, (one < other).sum())
    [same] = [each for each in entries if each.plan == "fcfs" and each.group["workload"] == "synthetic"]
    assert same.against is None


def test_several_references_give_what_each_gives_alone(found):
    both = summarise(found, ["min_yield", "efficiency"], ["fcfs", "greedy-yield"], ["workload"])
    alone = [summarise(found, ["min_yield", "efficiency"], each, ["workload"]) for each in ("fcfs", "greedy-yield")]
    assert [entry.metric for entry in both] == ["min_yield"] * 12 + ["efficiency"] * 12
    for reference, entries in zip(("fcfs", "greedy-yield"), alone, strict=True):
        own = [entry.to_dict() for entry in both if entry.reference == reference]
        assert list(map(repr, own)) == [repr(entry.to_dict()) for entry in entries]


def test_only_seeds_are_a_sample(found):
    """Two settings averaged over: three seeds, not six runs."""
    [entry, *_] = summarise(found, ["makespan"], by=["workload"])
    makespan = [[simulate(generate("chains", seed, m=m, n_max=20)).makespan for m in (2, 3)] for seed in (1, 2, 3)]
    assert entry.runs == 6
    assert entry.mean == pytest.approx(mean_intervals(np.mean(makespan, axis=1)[:, None])[0], rel=1e-12)


def test_distance_to_the_tightest_bound(found):
    entries = summarise(found, ["min_yield", "distance_to_bound"], by=["workload"])
    share = {entry.plan: entry.of_bound.mean for entry in entries if entry.metric == "min_yield"}
    distance = {entry.plan: entry.mean.mean for entry in entries if entry.metric == "distance_to_bound"}
    for plan in found.plans:
        assert share[plan] == pytest.approx(1 - distance[plan], rel=1e-9)


def test_a_metric_that_does_not_apply_has_no_runs(found):
    entries = summarise(found, ["makespan"], by=["workload"])
    assert [entry.runs for entry in entries] == [6, 6, 6, 0, 0, 0]
    assert np.isnan(entries[-1].mean.mean)


def test_seconds_can_be_asked_for(found):
    assert all(entry.mean.mean > 0.0 for entry in summarise(found, ["seconds"]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"metrics": ["min_yeld"]}, r"no metric 'min_yeld'; did you mean 'min_yield'\? known: min_yield"),
        ({"against": "fcfz"}, r"no plan 'fcfz'; did you mean 'fcfs'\? known: fair-share, fcfs, greedy-yield"),
        ({"by": ["presure"]}, r"no setting 'presure'; did you mean 'pressure'\? known: workload, "),
    ],
)
def test_what_is_refused(found, given, words):
    with pytest.raises(InvalidOption, match=words):
        summarise(found, **given)
