"""What viewers are told: who is slowed down, by whom and why; and never a name that is nobody's business."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.looks import CAPACITY, FORESEEN, idle, job, seen
from penstock.dashboard.poll import Seen
from penstock.dashboard.recent import MOST_ROWS, Recent
from penstock.dashboard.view import held_back, view
from penstock.dashboard.viewers import NOBODY, Viewer

EVERYBODY = Viewer(0, all_names=True)


def told(*jobs, viewer=EVERYBODY, **changes):
    return view(seen(*jobs, **changes), viewer)


def test_who_waits_is_said_with_whom_it_waits_behind_and_the_policy_that_decides_so():
    shown = told(job(1, 100.0, "big"), job(2, 0.0, "small"), idle(3))
    assert shown["short"] == [
        "1 job waits: big of user 3000000001 has 100 % of fs.",
        "small waits behind big (100 B/s).",
        "The policy fcfs decides so: first come, first served.",
    ]
    assert shown["trouble"]
    big, small, other = shown["jobs"]
    assert (small["state"], small["behind"], small["part"]) == ("waiting", "big", 0.0)
    assert small["reason"] == "The policy fcfs decides so: first come, first served."
    assert small["why"] == "Waits behind big (100 B/s). The policy fcfs decides so: first come, first served."
    assert (big["state"], big["behind"], big["why"]) == ("moving", "", "Has all that it can use.")
    assert (other["state"], other["why"], other["progress"]) == ("idle", "Does no I/O now.", None)


def test_the_first_sentence_says_how_many_are_held_back_and_who_has_the_bandwidth():
    others = [job(number, 0.0, f"w{number}", granted={"all": 0.0}) for number in range(3, 8)]
    first, second = job(1, 70.0, "big", limit=70.0, granted={"all": 70.0}), job(2, 30.0, "next", granted={"all": 30.0})
    gone = job(9, 0.0, "gone", stages=["lost"], limit=0.0, granted={})
    resource = {"all": {"capacity": CAPACITY, "charged": CAPACITY, "granted": CAPACITY, "in_service": True}}
    assert told(first, second, *others, gone, capacity=resource)["short"] == [
        "5 jobs wait and 1 is slowed down: big of user 3000000001 has 70 % of the file system, "
        "next of user 3000000002 has 30 %.",
        "w3, w4, w5 and 2 more wait behind big (70 B/s), next (30 B/s).",
        "next gets 30 B/s of the 100 B/s it could use, beside big (70 B/s).",
        "The policy fcfs decides so: first come, first served.",
        "Not heard of any more: gone; it goes on at the fallback rate.",
    ]
    many = [job(number, 10.0 - 0.5 * number, f"m{number}") for number in range(10)]
    assert told(*many)["short"][0] == "10 jobs are slowed down: 10 jobs share fs, and none has more than 10 %."
    assert told(first, second, *others[:2], capacity=resource)["short"][1].startswith("w3 and w4 wait behind big")


def test_where_all_have_the_same_nobody_is_blamed_and_it_is_said_once():
    shown = told(*(job(number, 25.0) for number in range(1, 5)), policy="fair-share")["short"]
    assert shown[:2] == [
        "4 jobs are slowed down: 4 jobs share fs evenly, 25 % each.",
        "Each of these gets 25 B/s of the 100 B/s it could use.",
    ]
    assert len(shown) == 3 and shown[2].startswith("The policy fair-share decides so")


def test_of_more_jobs_than_are_told_of_the_counts_are_of_all():
    many = [job(number, 0.3) for number in range(1, 101)]
    shown = told(*many, active=400, applications=450, held_back=400, stopped=80)
    assert shown["short"][0] == "80 jobs wait and 320 are slowed down: 320 jobs share fs, and none has as much as 1 %."
    assert ["waiting or slowed", "400"] in shown["facts"] and shown["more_jobs"] == 350
    assert "name-1 <1 %" in shown["resources"][0]["words"]


def test_who_gets_a_part_is_slowed_beside_those_who_have_the_rest():
    _, slow = told(job(1, 75.0, "a"), job(2, 25.0, "b"))["jobs"]
    assert slow["state"] == "slowed"
    assert slow["why"].startswith("Gets 25 B/s of the 100 B/s it could use, beside a (75 B/s). The policy fcfs")


def test_a_job_on_another_resource_is_nobodys_reason():
    capacity = {name: {"capacity": 100.0, "charged": 0.0, "granted": 50.0, "in_service": True} for name in ("x", "y")}
    jobs = job(1, 100.0, "elsewhere", granted={"y": 100.0}), job(2, 0.0, "b", granted={"x": 0.0})
    _, waiting = told(*jobs, capacity=capacity)["jobs"]
    assert waiting["behind"] == "" and waiting["why"].startswith("Waits. ")


def test_operations_on_names_are_counted_not_weighed():
    names = {"capacity": 5000.0, "charged": 0.0, "granted": 4000.0, "in_service": True, "kind": "operations"}
    jobs = [job(n, r, granted={"names": r}, limit=5000.0, kind="operations") for n, r in ((1, 4000.0), (2, 0.0))]
    shown = told(*jobs, capacity={"names": names})
    everything = json.dumps(shown)
    assert "B/s" not in everything and "kB" not in everything
    assert not shown["resources"][0]["in_bytes"] and "operations" in shown["jobs"][0]["moved"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "grace"}, "has just started and raises no rate yet"),
        ({"frozen": True}, "cannot write its journal"),
        ({"policy": "my.py:rule"}, "The policy my.py:rule decides so."),
    ],
)
def test_what_holds_all_back_is_named(changes, words):
    assert words in told(job(1, 100.0), job(2, 0.0), **changes)["jobs"][1]["why"]


def test_room_that_is_on_its_way_is_told_apart_from_the_policys_choice():
    assert "as soon as others have confirmed" in told(job(1, 100.0), job(2, 0.0, wanted=50.0))["jobs"][1]["why"]


def test_a_job_that_is_slow_by_itself_is_not_slowed_down():
    look = seen(job(1, 7.5, "slow", usable=7.5, done=5.0, remaining=900.0))
    shown = view(look, EVERYBODY)
    assert shown["short"] == ["1 job does I/O, and has all the bandwidth it can use. Nobody is slowed down."]
    (slow,) = shown["jobs"]
    assert (slow["state"], slow["part"], slow["limit"], slow["moved"]) == ("moving", 1.0, "7.5 B/s", "5 B of 1 kB")
    assert slow["why"] == "Goes at its own pace: it could have up to 100 B/s, and was seen to use less."
    assert Recent().add(look)[2] == [[1, 1.0, 0, 8]]


def test_a_slow_job_is_slowed_down_if_it_gets_less_than_it_needs():
    (slow,) = told(job(1, 5.0, usable=10.0))["jobs"]
    assert (slow["state"], slow["part"]) == ("slowed", 0.5)
    assert slow["why"].startswith("Gets 5 B/s of the 10 B/s it could use.")


@pytest.mark.parametrize("mode", ["paused", "monitor"])
def test_in_these_modes_nobody_is_slowed_down(mode):
    shown = told(job(1, 50.0), job(2, 0.0), mode=mode)
    assert "each has all" in shown["short"][1] and not shown["trouble"]


def test_exempt_jobs_are_not_held_back():
    assert told(job(1, 5.0, "vip"), exempt=["vip"])["jobs"][0]["why"].startswith("Exempt")


def test_lost_connections_and_warnings_are_told():
    shown = told(job(1, 5.0, stages=["orphan"]), last_policy_failure="it broke", policy_failures=2)
    assert "connection is lost" in shown["jobs"][0]["why"]
    assert shown["warnings"] == ["The policy failed 2 times: it broke"]


def test_while_nobody_answers_the_last_look_stays_and_it_says_what_jobs_do_now():
    before = seen(job(1, 50.0), job(2, 50.0))
    gone = Seen(1012.0, "nobody listens", 1000.0, before.status, before.server, before.jobs)
    shown = view(gone, EVERYBODY)
    assert not shown["reachable"] and len(shown["jobs"]) == 2 and shown["jobs"][0]["expected"] is None
    assert (
        shown["short"][0] == "The controller has not answered for 12 s."
        and shown["since"] == 1000.0
        and "none of them stops" in shown["short"][1]
    )
    assert view(Seen(5.0, "nobody listens", 5.0), EVERYBODY)["short"][-1] == "The reason: nobody listens"


def test_that_nobody_stands_by_is_a_warning():
    look = seen(job(1))
    leader = {"term": 2, "folder": "/lease", "standbys": [], "since": 1e6, "problem": ""}
    alone = Seen(look.time, status=look.status, server={**look.server, "leader": leader}, jobs=look.jobs)
    assert view(alone, EVERYBODY)["warnings"] == ["nobody stands by; if this controller dies, nobody takes over"]


def test_bytes_past_pacers_are_warned_of_without_telling_whose_they_are():
    outside = [{"job": "sneaky", "uid": 7, "bytes": 2e9, "by": ["mmap"]}]
    assert "sneaky (2 GB)" in told(job(1), outside=outside)["warnings"][0]
    assert "a job of another user (2 GB)" in told(job(1), viewer=Viewer(5), outside=outside)["warnings"][0]


rates = st.floats(0.0, CAPACITY)
jobs = st.lists(st.tuples(rates, st.floats(0.0, 1e6), st.booleans()), min_size=1, max_size=8).map(
    lambda drawn: [
        job(number, rate, f"secret-{number}", remaining=remaining, uid=1000 + number % 3, wanted=rate) if active
        else idle(number) | {"job": f"secret-{number}", "uid": 1000 + number % 3}
        for number, (rate, remaining, active) in enumerate(drawn, start=1)
    ]
)  # fmt: skip


@given(jobs, st.sampled_from([NOBODY, 1000, 1001, 1002]))
def test_names_of_others_are_nowhere_in_what_a_user_is_told(drawn, uid):
    """Neither in tables nor in sentences, nor in samples; one's own are all there."""
    look, viewer, recent = seen(*drawn), Viewer(uid), Recent()
    everything = json.dumps([view(look, viewer), recent.add(look)])
    for each in drawn:
        assert (f'"{each["job"]}"' in everything) == (each["uid"] == uid)


MOVING = dict.fromkeys(("start", "start_earliest", "start_latest"), 0.0)


@pytest.mark.parametrize(
    ("foreseen", "words"),
    [
        ({}, {"start": "in 3 s to 5 s", "end": "in 6 s to 10 s", "sure": "fairly sure"}),
        (MOVING | {"sure": "rough"}, {"start": "now", "end": "in 6 s to 10 s", "sure": "roughly"}),
        (
            {"earliest": 0.2, "start_earliest": 5.0},
            {"start": "in about 5 s", "end": "within 10 s", "sure": "fairly sure"},
        ),
        (
            dict.fromkeys(FORESEEN) | {"sure": "none"},
            {"start": "cannot be foreseen", "end": "cannot be foreseen", "sure": "not at all"},
        ),
    ],
)
def test_times_are_those_of_the_controllers_forecast(foreseen, words):
    look = replace(seen(job(1), time=1000.0), foreseen={1: FORESEEN | foreseen}, foreseen_at=1000.0)
    assert view(look, EVERYBODY)["jobs"][0]["expected"] == words
    assert view(replace(look, foreseen={}), EVERYBODY)["jobs"][0]["expected"] is None


def test_a_forecast_of_a_while_ago_is_told_from_now():
    look = replace(seen(job(1), time=1003.0), foreseen={1: FORESEEN}, foreseen_at=1000.0)
    assert view(look, EVERYBODY)["jobs"][0]["expected"]["end"] == "in 3 s to 7 s"


@given(jobs)
def test_slowed_down_is_who_could_use_more(drawn):
    look = seen(*drawn)
    for each, shown in zip(drawn, view(look, EVERYBODY)["jobs"], strict=True):
        assert (shown["state"] in ("waiting", "slowed")) == held_back(each, look)


def test_samples_have_every_jobs_rate_on_every_resource_and_are_bounded():
    capacity = {name: {"capacity": 100.0, "charged": 0.0, "granted": 50.0, "in_service": True} for name in ("x", "y")}
    recent = Recent(kept=5)
    sample = recent.add(seen(job(7, 50.0, granted={"y": 30.0, "x": 20.0}), idle(8), capacity=capacity))
    assert sample == [1000.0, 0, [[7, 0.5, 1, 30, 0, 20]]]
    for number in range(40):
        many = [job(number * 100 + i) for i in range(60)]
        assert len(recent.add(seen(*many, time=number))[2]) == MOST_ROWS
    assert len(recent.samples) == 5 and len(recent.names) <= 20 * MOST_ROWS + 60
    assert recent.add(Seen(9.0, "away", 8.0)) == [9.0, 1, []]


def test_another_epoch_policy_or_mode_leaves_a_mark():
    recent = Recent()
    told_after: list[dict[str, Any]] = [{}, {}, {"policy": "set-10"}, {"policy": "set-10", "epoch": 4, "mode": "grace"}]
    for number, changes in enumerate(told_after):
        recent.add(seen(time=float(number), **changes))
        recent.add(Seen(number + 0.5, "away", 1.0))
    assert list(recent.marks) == [[2.0, "policy set-10"], [3.0, "a controller started, epoch 4"], [3.0, "mode grace"]]


def test_jobs_that_are_not_in_a_sample_are_in_what_others_are_granted():
    many = [job(number, 1.0) for number in range(1, 41)]
    resource = {"capacity": CAPACITY, "charged": 90.0, "granted": 90.0, "in_service": True}
    *_, rows, others = Recent().add(seen(*many, active=90, capacity={"fs": resource}))
    assert len(rows) == MOST_ROWS and others == [90 - MOST_ROWS]
    assert len(Recent().add(seen(*many[:5], capacity={"fs": resource}))) == 3, "all are there"


def test_a_changed_capacity_is_marked_and_the_past_keeps_its_own():
    recent = Recent()
    for at, capacity in ((1.0, 50e6), (2.0, 50e6), (3.0, 20e6)):
        resource = {"capacity": capacity, "charged": 0.0, "granted": 0.0, "in_service": True}
        recent.add(seen(job(1, granted={"all": 0.0}), time=at, capacity={"all": resource}))
    assert list(recent.capacities) == [[1.0, {"all": 50e6}], [3.0, {"all": 20e6}]]
    assert list(recent.marks) == [[3.0, "capacity of the file system: 20 MB/s"]]
