"""From a site to advice: refusals, what days and draws say, and truth that is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest import approx

from advise import world
from penstock.advise import Advice, advise
from penstock.advise.runs import RunRequest, fates
from penstock.advise.sample import draws
from penstock.campaign.executor import Here, executor
from penstock.errors import InvalidOption
from penstock.model import Scenario
from penstock.studies.share import simulate
from penstock.traces import Options, import_slurm, import_table

KNOWN = Options(bandwidth=world.BANDWIDTH, node_bandwidth=world.NODE_BANDWIDTH)
FEW = ["fair-share", "fcfs", "greedy-com", "reserve-srpt"]
EXAMPLES = Path(__file__).parents[2] / "examples"
PROMISED = {
    "data": {"jobs", "days", "node_hour_coverage", "grade", "flags"},
    "lost": {"node_hours", "share"},
    "pressure": {"value", "low", "high"},
    "policy": {"against", "tied", "min_yield_gain", "node_hours_gain"},
}


def quick(source, options=None, **more) -> Advice:
    return advise(source, options, sharing=FEW, place=Here(), **{"buffer": False, **more})


@pytest.fixture(scope="module")
def seen():
    """A week at pressure 0.3, as a site sees it."""
    return world.watched(world.site(1, 0.3, per_day=20.0))


@pytest.fixture(scope="module")
def week(seen) -> Advice:
    return quick(seen.scenario, buffer=True)


def small(**platform: float) -> Scenario:
    """Four jobs of a morning that meet again and again."""
    jobs = [
        {"name": f"j{i}", "release": 10.0 * i, "phases": [{"compute": 60 + i}, {"write": 50}] * 5} for i in range(4)
    ]
    return Scenario.from_document({"version": 1, "platform": {"bandwidth": 1.0, **platform}, "applications": jobs})


def test_the_promised_keys(week):
    found = week.to_dict()
    assert set(found) >= {*PROMISED, "assumptions", "targets", "buffer", "why_not", "sensitivity", "not_seen", "next"}
    for key, names in PROMISED.items():
        assert set(found[key]) >= names
    assert {"name", "value", "origin"} == set(found["assumptions"][0])
    assert {"unknown", "from", "to", "changes_answer"} <= set(found["sensitivity"][0])


def test_a_week_has_seven_days(week):
    assert (week.data.days, week.data.by_days) == (7, True)
    assert week.contention.pressure.low < week.contention.pressure.value < week.contention.pressure.high


def test_what_is_lost_is_what_a_simulation_loses(seen, week):
    run = simulate(seen.scenario, "fair-share")
    assert week.contention.node_hours == approx(run.node_hours_lost)
    assert week.contention.share.value == approx(run.lost_share)
    names = [name for name, _ in week.contention.losers]
    lost = {each.name: (1 - each.yield_) for each in run.applications}
    assert all(lost[name] > 0 for name in names)


def test_gains_are_means_of_days(seen, week):
    """The slow way: run both policies, put jobs into days by hand."""
    first = min(job.release for job in seen.scenario.applications)
    span = max(job.release for job in seen.scenario.applications) - first
    worst = {}
    for name in ("fair-share", "greedy-com"):
        days: dict[int, list[float]] = {}
        for job, fared in zip(seen.scenario.applications, simulate(seen.scenario, name).applications, strict=True):
            days.setdefault(min(6, int((job.release - first) / span * 7)), []).append(fared.yield_)
        worst[name] = np.array([min(days[day]) for day in sorted(days)])
    (row,) = (each for each in week.tried.policies if each.name == "greedy-com")
    assert row.min_yield_gain.value == approx(np.mean(worst["greedy-com"] - worst["fair-share"]))


def test_a_buffer_gains_more_the_larger_it_is(week):
    assert week.buffer is not None
    gains = [size.node_hours_gain.value for size in week.buffer.sizes]
    assert gains == sorted(gains)
    chosen = week.buffer.chosen
    assert chosen.node_hours_gain.value >= 0.9 * gains[-1]
    assert week.to_dict()["buffer"]["capacity"] == chosen.capacity


@pytest.mark.parametrize("source", ["segments", "sacct + job_stats"])
def test_what_logs_show_agrees_with_the_truth(seen, week, source, tmp_path):
    """Bursts, caps and starts are found again: the gain of a policy is within the interval of the exact data."""
    found = world.SOURCES[source](seen, tmp_path, KNOWN)
    told = quick(found, KNOWN)
    assert told.data.node_hour_coverage == approx(1.0)
    (true,), (shown,) = (
        [each for each in advice.tried.policies if each.name == "greedy-com"] for advice in (week, told)
    )
    assert true.node_hours_gain.low < shown.node_hours_gain.value < true.node_hours_gain.high
    close = 1e-3 if source == "segments" else 0.03  # bins of five minutes blur where bursts end
    assert told.contention.share.value == approx(week.contention.share.value, abs=close)
    if source == "segments":
        assert shown.node_hours_gain == approx(true.node_hours_gain, rel=0.02)
        assert told.data.run_time_error < 1e-3
        assert [each.origin for each in told.assumptions if each.name == "slack"] == ["measured"]


def test_counters_are_refused(seen, tmp_path):
    told = quick(world.counters(seen, tmp_path, KNOWN), KNOWN)
    assert told.policy is None
    assert told.why_not["policy"].startswith("grade C")
    assert told.to_dict()["policy"] is None
    assert [each.unknown.name for each in told.sensitivity] == ["bandwidth", "slack", "bursts"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (replace(KNOWN, bandwidth=None), "the bandwidth is not given"),
        (replace(KNOWN, node_bandwidth=None), "lower bound; give --node-bandwidth"),
    ],
)
def test_what_is_not_told_is_not_advised_on(tmp_path, options, reason):
    crowded = world.watched(world.site(1, 0.9, days=3.0))  # so that hardly a job is ever alone
    told = quick(world.segments(crowded, tmp_path, options), options)
    assert told.policy is None
    assert reason in told.why_not["policy"]
    assert told.next


def test_a_model_is_no_evidence():
    options = Options(bandwidth=4e9, node_bandwidth=2e9)
    told = quick(import_slurm(EXAMPLES / "traces" / "sacct.txt", options, io="period=1h"), options)
    assert told.policy is None
    assert "a model, not a log" in told.why_not["policy"]


def test_jobs_that_never_meet_say_nothing(tmp_path):
    file = tmp_path / "apart.csv"
    rows = [f"a.{i},{1000 * i},{1000 * i + 10},1e9,write,2" for i in range(4)]
    file.write_text("job,start,end,bytes,direction,nodes\n" + "\n".join(rows) + "\n")
    options = Options(bandwidth=1e9, node_bandwidth=1e9)
    told = quick(import_table(file, options), options)
    assert "no two of the jobs" in told.why_not["policy"]


def test_one_day_is_drawn_anew():
    told = quick(small(), buffer=True)
    assert (told.data.days, told.data.by_days) == (1, False)
    assert told.policy is not None
    gain = told.policy.shown.min_yield_gain
    assert gain.low <= gain.value <= gain.high
    assert "three days" in told.why_not["buffer"]


def test_two_policies_that_do_the_same_tie():
    told = advise(small(), sharing=["best-effort"], place=Here())
    assert told.policy is not None
    assert told.policy.tied == ("fair-share", "best-effort")
    assert told.policy.gain == (0.0, 0.0, 0.0)


def test_draws_keep_the_jobs_and_shift_them():
    scenario = small()
    (drawn,) = draws(scenario, 1)
    assert len(drawn.applications) == 4
    known = {job.release for job in scenario.applications}
    assert all(job.release >= 0.0 for job in drawn.applications)
    assert not {job.release for job in drawn.applications} <= known
    assert [job.name for job in drawn.applications] == ["0", "1", "2", "3"]


def test_jobs_under_way_compute_a_little_longer():
    jobs = [{"name": "a", "release": 0, "phases": [{"repeat": "forever", "phases": [{"compute": 9}, {"write": 1}]}]}]
    window = {"version": 1, "platform": {"bandwidth": 1}, "window": {"begin": 5, "end": 100}, "applications": jobs}
    (drawn,) = draws(Scenario.from_document(window), 1)
    assert drawn.applications[0].release == 0.0
    phases: Any = drawn.applications[0].phases
    assert phases[0].compute > 0.0


def test_targets_are_compared_where_they_are_known():
    profile = {1: 0.4, 2: 0.7, 4: 0.8}
    jobs = [
        {
            "name": f"j{i}",
            "nodes": 1 + i % 3,
            "release": 3000.0 * i,
            "profile": profile,
            "phases": [{"compute": 2000}, {"write": 900}] * 3,
        }
        for i in range(90)
    ]
    site = Scenario.from_document(
        {"version": 1, "platform": {"bandwidth": 3.2, "targets": 4, "nodes": 8}, "applications": jobs}
    )
    told = quick(site)
    assert told.targets is not None
    assert told.targets.policies.against == "static"
    assert set(told.targets.counts.values()) <= {1, 2, 4}
    assert "targets" not in told.why_not


def test_workers_do_not_change_the_answer(seen):
    asked = [RunRequest(seen.scenario, ("fair-share", "greedy-com"))]
    one, two = fates(asked, Here()), fates(asked, executor("local", 2))
    for name in ("fair-share", "greedy-com"):
        assert np.array_equal(one[0][name].yields, two[0][name].yields)
        assert np.array_equal(one[0][name].lost, two[0][name].lost)


def test_cut_off_jobs_lose_all():
    jobs = [
        {"name": "a", "nodes": 2, "walltime": 10, "phases": [{"compute": 5}, {"write": 20}]},
        {"name": "b", "phases": [{"write": 4}]},
    ]
    scenario = Scenario.from_document({"version": 1, "platform": {"bandwidth": 1}, "applications": jobs})
    (found,) = fates([RunRequest(scenario, ("fair-share",))], Here())
    run = simulate(scenario, "fair-share")
    assert found["fair-share"].lost.sum() == approx(run.node_hours_lost)
    assert found["fair-share"].lost[0] == approx(2 * 10 / 3600)


def test_progress_counts_what_is_left():
    told: list[tuple[str, int, int]] = []
    quick(small(), progress=lambda what, done, total: told.append((what, done, total)))
    assert {what for what, _, _ in told} >= {"comparing policies", "sweeping what is unknown"}
    assert all(0 < done <= total for _, done, total in told)


def test_bad_options_are_refused():
    with pytest.raises(InvalidOption, match="goal is 'speed'; accepted: node-hours, min-yield"):
        advise(small(), goal="speed")
    with pytest.raises(InvalidOption, match="there is only fcfs to choose from"):
        advise(small(), sharing=["fcfs"], against="fcfs")
