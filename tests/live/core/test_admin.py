"""What operators ask for, and what comes of it."""

from __future__ import annotations

import json

import pytest

from live.core.talk import CAPACITY, Talk
from penstock.live.core import Stage, records
from penstock.wire import messages as wire


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    peers = [talk.join(job, cap=cap) for job, cap in (("a", 60.0), ("b", 90.0))]
    talk.join("idle")
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    return talk


def test_status(talk):
    status = talk.admin("status")
    assert json.loads(json.dumps(status)) == status
    assert (status["epoch"], status["mode"], status["policy"]) == (7, "run", "fair-share")
    assert (status["applications"], status["active"], status["members"]) == (3, 2, {"posted": 2, "idle": 1})
    assert status["capacity"]["all"]["charged"] == pytest.approx(CAPACITY)
    assert status["capacity"]["all"]["granted"] == pytest.approx(CAPACITY)


def test_top_shows_who_uses_most_first(talk):
    talk.sleep(2.0)
    top = talk.admin("top")
    assert json.loads(json.dumps(top)) == top
    assert [each["job"] for each in top] == ["b", "a"]
    assert top[0]["rate"] == pytest.approx(60.0) and top[1]["rate"] == pytest.approx(40.0)
    assert top[0]["remaining"] == pytest.approx(1000.0 - 120.0)
    assert (top[0]["direction"], top[0]["lease"]) == ("write", pytest.approx(talk.settings.waiting - 2.0))
    assert [each["job"] for each in talk.admin("top", count=1)] == ["b"]
    assert [each["job"] for each in talk.admin("top", idle=True)] == ["b", "a", "idle"]


def test_top_does_not_take_the_lost_for_done(talk):
    talk.peers[1].beat(70.0)
    talk.sleep(20.0)
    (lost,) = (each for each in talk.admin("top") if each["job"] == "a")
    assert (lost["stages"], lost["lease"], lost["volume"]) == (["lost"], None, 1000.0)
    assert 0.0 < lost["remaining"] <= 930.0


def test_snapshot_shows_everyone(talk):
    everything = talk.admin("snapshot")
    assert json.loads(json.dumps(everything)) == everything
    assert [each["job"] for each in everything["applications"]] == ["a", "b", "idle"]
    assert everything["applications"][0]["of"][0]["stage"] == "posted"


def test_policy_changes_while_everyone_goes_on(talk):
    assert talk.admin("policy") == {"policy": "fair-share"}
    assert talk.admin("policy", name="fcfs") == {"policy": "fcfs"}
    talk.quiet()
    assert [talk.peers[session].rate for session in (1, 2)] == [60.0, 40.0]
    assert talk.made(records.Commanded)[-1] == records.Commanded(0, "policy", {"name": "fcfs"})


@pytest.mark.parametrize(
    ("verb", "args", "word"),
    [
        ("policy", {"name": "fcsf"}, "Did you mean 'fcfs'?"),
        ("policy", {"name": 3}, "text is expected"),
        ("policy", {"name": "fcfs", "shadow": True}, "does not take 'shadow'"),
        ("policy", {"name": "periodic-greedy-yield(delta=1e-9)"}, "asks for decisions every"),
        ("capacity", {"resource": "all", "capacity": 0}, "a bandwidth is a number > 0"),
        ("capacity", {"resource": "all", "capacity": "10 Gb/s"}, "penstock takes bytes"),
        ("capacity", {"resource": "all", "capacity": float("nan")}, "a bandwidth is a number > 0"),
        ("capacity", {"resource": "all"}, "a bandwidth is a number > 0"),
        ("capacity", {"resource": "none", "capacity": 1}, "known: all"),
        ("capacity", {"resource": "all", "capacity": 1e30}, "at most 1e+18"),
        ("mode", {"mode": "off"}, "accepted are enforce, monitor, pause"),
        ("drain", {"on": "yes"}, "accepted are true and false"),
        ("exempt", {"add": ""}, "text is expected"),
        ("exempt", {"add": "a", "del": "b"}, "either add or del"),
        ("evict", {"app": 99}, "no application 99"),
        ("evict", {"job": "nobody"}, "no job 'nobody'"),
        ("top", {"count": 0}, "a whole number"),
        ("top", {"count": True}, "a whole number"),
        ("top", {"idle": 1}, "accepted are true and false"),
        ("reboot", {}, "known: status, top"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(talk, verb, args, word):
    written = len(talk.records)
    error = talk.admin(verb, **args)
    assert isinstance(error, wire.Error) and error.code == "value" and word in error.text
    assert len(talk.records) == written


def test_a_lower_capacity_holds_when_everyone_has_acked(talk):
    talk.admin("capacity", resource="all", capacity="50 B/s")
    assert talk.state.capacity == [50.0]
    assert talk.state.charges.used[0] == pytest.approx(CAPACITY)
    talk.quiet()
    assert talk.state.charges.used[0] == pytest.approx(50.0)
    assert talk.admin("capacity")["capacity"]["all"]["capacity"] == 50.0


def test_a_higher_capacity_is_handed_out(talk):
    talk.admin("capacity", capacity=1000)
    assert [talk.peers[session].rate for session in (1, 2)] == [60.0, 90.0]


def test_the_exempt_go_unpaced_and_the_others_share_the_rest(talk):
    assert talk.admin("exempt", add="a") == {"exempt": ["a"]}
    first, second = talk.peers[1], talk.peers[2]
    assert (first.rate, first.told[-1].flags, first.member.charge) == (60.0, wire.FREE, 60.0)
    assert second.rate == 40.0
    talk.quiet()
    first.complete()
    first.post()
    assert first.told[-1].flags == wire.FREE
    talk.quiet()
    assert talk.admin("exempt", **{"del": "a"}) == {"exempt": []}
    assert first.told[-1].flags == wire.PACED
    talk.quiet()
    assert first.rate + second.rate == pytest.approx(CAPACITY)
    assert first.member.free is None


def test_the_evicted_are_forgotten_when_their_leases_are_over(talk):
    first, second = talk.peers[1], talk.peers[2]
    first.late = False
    assert talk.admin("evict", job="a") == {"evicted": first.app, "job": "a"}
    assert talk.closed[first.session] == "forbidden"
    assert first.stage is Stage.ORPHAN and first.member.charge == pytest.approx(40.0)
    first.back()
    assert first.errors[-1].code == "forbidden"
    second.beat()
    talk.sleep(talk.settings.waiting - 0.1)
    second.beat()
    assert second.rate == pytest.approx(60.0)
    talk.sleep(0.2)
    assert first.app not in talk.state.apps and second.rate == 90.0
    assert talk.join("a").app > first.app


def test_an_evicted_application_without_members_is_gone_at_once(talk):
    hook = talk.connect(role="hook", uid=0)
    talk.say(hook, wire.Hook(1, "job_start", "x", uid=5))
    app = talk.state.by_job["x", 5].number
    talk.admin("evict", app=app)
    assert app not in talk.state.apps


def test_what_operators_chose_outlives_a_restart_unless_the_configuration_changes(talk):
    talk.admin("policy", name="fcfs")
    talk.admin("capacity", capacity=70)
    again = Talk(settings=talk.settings, state=talk.twin, now=talk.now, epoch=8)
    assert again.core.decider.policy.name == "fcfs" and again.state.capacity == [70.0]
    changed = Talk("greedy-yield", sharing="greedy-yield", state=again.twin, now=talk.now, epoch=9)
    assert changed.core.decider.policy.name == "greedy-yield" and changed.state.capacity == [70.0]


def test_a_policy_that_cannot_be_had_again_is_said_and_the_configured_one_decides(talk):
    talk.admin("policy", name="fcfs")
    talk.twin.sharing = "gone.py"
    again = Talk(settings=talk.settings, state=talk.twin, now=talk.now, epoch=8)
    assert again.core.decider.policy.name == "fair-share"
    assert "gone.py" in again.admin("status")["last_policy_failure"]


def test_a_user_sees_its_own_jobs_and_the_totals_and_nothing_else():
    talk = Talk()
    for job, uid in (("mine", 1000), ("theirs", 1001)):
        talk.join(job, uid=uid).post(1e6)
    talk.quiet()
    session = talk.connect(uid=1000)
    (answer,) = talk.say(session, wire.Admin(1, "mine"))
    assert isinstance(answer, wire.Answer)
    assert [job["job"] for job in answer.body["jobs"]] == ["mine"]
    assert answer.body["capacity"]["all"]["charged"] == 100.0
    (refused,) = (word for word in talk.say(session, wire.Admin(2, "top")) if isinstance(word, wire.Error))
    assert refused.code == "forbidden"
