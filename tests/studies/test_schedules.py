"""Schedules as files and as plans."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Scenario, follow, simulate
from penstock.errors import InvalidOption, PolicyError
from penstock.policies.sharing import NAMES
from penstock.studies.schedules import COLUMNS, load_plan, save_schedule, schedule_of
from strategies import scenarios

EXCLUSIVE = [name for name in NAMES if name.startswith(("list-", "periodic-", "hier")) and "greedy" not in name]


def jobs(*counts: int, noise: float = 0.0, **more: object) -> Scenario:
    phases = [[{"repeat": n, "phases": [{"compute": 2}, {"write": 1}]}] for n in counts]
    applications = [{"name": name, "phases": each} for name, each in zip("abcdefg", phases, strict=False)]
    document = {"version": 1, "platform": {"bandwidth": 1}, "noise": noise, "applications": applications, **more}
    return Scenario.from_document(document)


def completions(result):
    return [application.completion for application in result.applications]


@given(scenarios(windowed=False), st.sampled_from(EXCLUSIVE))
def test_an_exclusive_run_is_its_own_plan(scenario, name):
    run = simulate(scenario, name, timeline=True)
    again = simulate(scenario, follow(schedule_of(run.timeline)))
    assert completions(again) == completions(run)


@given(scenarios(), st.sampled_from(NAMES))
def test_a_schedule_lists_every_operation_once_and_in_order(scenario, name):
    result = simulate(scenario, name, timeline=True)
    schedule = schedule_of(result.timeline)
    rows = list(zip(schedule.application.tolist(), schedule.operation.tolist(), strict=True))
    assert len(set(rows)) == len(rows)
    started = schedule.start[~np.isnan(schedule.start)]
    assert (np.diff(started) >= 0).all()
    assert not np.isnan(schedule.start[: started.size]).any()
    for index in range(len(schedule.names)):
        own = np.flatnonzero(schedule.application == index)
        own = own[np.argsort(schedule.operation[own])]
        assert schedule.operation[own].tolist() == list(range(own.size))
        known = own[~np.isnan(schedule.end[own])]
        assert (schedule.posted[known] <= schedule.start[known]).all()
        assert (schedule.start[known] <= schedule.end[known]).all()
        assert (schedule.end[known[:-1]] <= schedule.posted[known[1:]] + 1e-12).all()


def test_what_the_window_cuts_off_has_no_end():
    scenario = jobs(2, 2, window={"end": 3.5})
    schedule = schedule_of(simulate(scenario, "list-fifo", timeline=True).timeline)
    assert schedule.order == ("a", "b")
    assert schedule.start.tolist() == [2.0, 3.0]
    assert schedule.end[0] == 3.0
    assert np.isnan(schedule.end[1])


def test_whoever_never_starts_is_listed_but_no_part_of_the_plan(tmp_path):
    scenario = jobs(1, 1, window={"end": 2.5})
    schedule = schedule_of(simulate(scenario, "list-fifo", timeline=True).timeline)
    assert schedule.posted.tolist() == [2.0, 2.0]
    assert schedule.order == ("a",)
    for name in ("plan.csv", "plan.parquet"):
        save_schedule(tmp_path / name, schedule)
        assert load_plan(tmp_path / name) == ("a",)


@pytest.mark.parametrize("name", ["plan.csv", "plan.parquet"])
def test_a_file_gives_the_same_plan(tmp_path, name):
    scenario = jobs(4, 4, 2, 2, 1)
    run = simulate(scenario, "hierarchical-round-robin", timeline=True)
    schedule = schedule_of(run.timeline)
    save_schedule(tmp_path / name, schedule)
    assert load_plan(tmp_path / name) == schedule.order
    assert completions(simulate(scenario, follow(tmp_path / name))) == completions(run)
    assert simulate(scenario, follow(tmp_path / name)).sharing == f"follow({name})"


def test_the_csv_is_what_a_person_expects(tmp_path):
    path = tmp_path / "plan.csv"
    save_schedule(path, schedule_of(simulate(jobs(1, 1), "list-fifo", timeline=True).timeline))
    rows = list(csv.reader(path.open()))
    assert rows == [list(COLUMNS), ["1", "a", "1", "2.0", "2.0", "3.0"], ["2", "b", "1", "2.0", "3.0", "4.0"]]


def test_a_plan_is_kept_under_noise():
    plan = schedule_of(simulate(jobs(4, 4, 2, 2, 1), "hierarchical-round-robin", timeline=True).timeline).order
    noisy = jobs(4, 4, 2, 2, 1, noise=0.5)
    assert schedule_of(simulate(noisy, follow(plan), timeline=True).timeline).order == plan
    assert schedule_of(simulate(noisy, "list-fifo", timeline=True).timeline).order != plan


def test_what_a_plan_does_not_reach_goes_by_posting():
    assert completions(simulate(jobs(2, 1), follow(["b"]))) == completions(
        simulate(jobs(2, 1), follow(["b", "a", "a"]))
    )


def test_the_order_column_counts_more_than_the_rows(tmp_path):
    path = tmp_path / "plan.csv"
    path.write_text("application,order\na,2\nb,1\n")
    assert load_plan(path) == ("b", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name\na\n", "no column 'application'"),
        ("", "no column 'application'"),
        ("application\n", "no operation in it"),
        ("order,application\nx,a\n", "row 1: order is 'x'"),
        ("order,application\n1,\n", "row 1: application is ''"),
        ("order,application\nnan,a\n", "row 1: order is 'nan'"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path, text, words):
    path = tmp_path / "plan.csv"
    path.write_text(text)
    with pytest.raises(InvalidOption, match=words):
        load_plan(path)


def test_other_kinds_of_files_are_refused(tmp_path):
    with pytest.raises(InvalidOption, match=r"\.csv or \.parquet"):
        load_plan(tmp_path / "plan.txt")
    for name in ("none.csv", "none.parquet"):
        with pytest.raises(InvalidOption, match="no such file"):
            load_plan(tmp_path / name)
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InvalidOption, match="cannot be read as Parquet"):
        load_plan(tmp_path / "bad.parquet")
    (tmp_path / "bad.csv").write_bytes(b"application\n\xff\xfe\n")
    with pytest.raises(InvalidOption, match="cannot be read as CSV"):
        load_plan(tmp_path / "bad.csv")


def test_a_plan_of_other_jobs_is_refused():
    with pytest.raises(PolicyError, match="'z', which is no application"):
        simulate(jobs(1), follow(["a", "z"]))
    with pytest.raises(PolicyError, match="3 operations of 'a'; the scenario has 2"):
        simulate(jobs(2), follow(["a"] * 3))


def test_operations_too_short_to_have_a_length_are_there():
    phases = [{"compute": 86400}, {"write": 1e-12}, {"compute": 86400}, {"write": 1}]
    document = {"version": 1, "platform": {"bandwidth": 1}, "applications": [{"name": "a", "phases": phases}]}
    schedule = schedule_of(simulate(Scenario.from_document(document), "list-fifo", timeline=True).timeline)
    assert schedule.operation.tolist() == [0, 1]
    assert schedule.start.tolist() == [86400.0, 172800.0]


def test_a_plan_by_name_is_pointed_to_the_option():
    with pytest.raises(PolicyError, match="--follow FILE"):
        simulate(jobs(1), "follow(plan.csv)")
