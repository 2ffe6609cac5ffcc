"""What is refused, by which code, and that it leaves everyone else as they were."""

from __future__ import annotations

import math

import pytest

from live.core.talk import CAPACITY, EPOCH, Peer, Talk, known
from penstock.live.core import Stage
from penstock.live.core import handlers as frames
from penstock.live.core.events import Closed, Frame, ProcessDead
from penstock.wire import messages as wire


def refused(talk: Talk, session: int, message: wire.Message) -> wire.Error:
    """The error that this is answered with; nothing has changed by it."""
    before = known(talk.state)
    (error,) = talk.say(session, message)
    assert isinstance(error, wire.Error) and error.code in wire.CODES
    assert error.fatal == (error.code not in wire.NOT_FATAL) == (session in talk.closed)
    if not error.fatal:
        assert known(talk.state) == before
    return error


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.fixture
def peer(talk: Talk) -> Peer:
    return talk.join()


@pytest.mark.parametrize("volume", [0.0, -1.0, math.nan, math.inf, 1e30])
def test_volumes(talk, peer, volume):
    error = refused(talk, peer.session, wire.Post(5, 1, 1, volume))
    assert (error.code, error.req) == ("value", 5)
    assert f"{volume:g}" in error.text


@pytest.mark.parametrize(
    "message",
    [
        wire.Post(1, 1, 1, 1.0, direction="sideways"),
        wire.Post(1, 1, 1, 1.0, targets=("scratch",)),
        wire.Post(1, 1, 1, 1.0, confidence=0.0),
        wire.Post(1, 1, 1, 1.0, confidence=math.nan),
        wire.Post(1, 1, 1, 1.0, cap=0.0),
        wire.Post(1, -1, 1, 1.0),
        wire.Post(1, 1, -1, 1.0),
        wire.Post(1, 2**64, 1, 1.0),
        wire.Beat(-1, EPOCH, 0),
        wire.Beat(1, EPOCH, 0, math.nan),
        wire.Beat(1, EPOCH, 0, -1.0),
        wire.Complete(1, math.inf),
        wire.Register(1, "a", 0, nodes=0),
        wire.Register(1, "a", -1),
        wire.Register(1, "a", 2**32),
        wire.Register(1, "a", 0, cap=math.nan),
        wire.Register(1, "a", 0, cap=-1.0),
        wire.Register(1, "a", 0, release=-1.0),
        wire.Register(1, "a", 0, progress=math.nan),
        wire.Register(1, "", 0),
        wire.Register(1, "a\nb", 0),
        wire.Register(1, "a" * 257, 0),
        wire.Register(1, "a", 0, labels={"x": "a\tb"}),
        wire.Register(1, "a", 0, labels={str(i): "x" for i in range(17)}),
        wire.Resync(1, 1, 0, EPOCH, 0, math.nan, 0.0, 1),
        wire.Resync(1, 1, 0, EPOCH, 0, 0.0, 0.0, -1),
        wire.Resync(1, 1, 0, EPOCH, 0, 0.0, 0.0, 1, wire.OpenOp(1, 0.0, 0.0, "write", (), 0.0)),
        wire.Resync(1, 1, 0, EPOCH, 0, 0.0, 0.0, 1, wire.OpenOp(1, 1.0, math.nan, "write", (), 0.0)),
        wire.Resync(1, 1, 0, EPOCH, 0, 0.0, 0.0, 1, wire.OpenOp(1, 1.0, 0.0, "up", (), 0.0)),
        wire.Resync(1, 1, 0, EPOCH, 0, 0.0, 0.0, 1, wire.OpenOp(1, 1.0, 0.0, "write", (), math.inf)),
    ],
)
def test_values(talk, peer, message):
    assert refused(talk, peer.session, message).code == "value"


def test_operations_that_are_not_open(talk, peer):
    assert refused(talk, peer.session, wire.Complete(1, 0.0)).code == "unknown_op"
    assert refused(talk, peer.session, wire.Cancel(1, 0.0)).code == "unknown_op"
    assert refused(talk, peer.session, wire.Extend(1, 1.0)).code == "unknown_op"
    peer.post()
    assert refused(talk, peer.session, wire.Complete(2, 0.0)).code == "unknown_op"
    assert refused(talk, peer.session, wire.Extend(1, 0.0)).code == "value"
    assert refused(talk, peer.session, wire.Extend(1, 1e18)).code == "value"
    peer.complete()
    assert refused(talk, peer.session, wire.Complete(1, 0.0)).code == "unknown_op"


def test_a_second_post(talk, peer):
    peer.post()
    talk.quiet()
    assert refused(talk, peer.session, wire.Post(2, 2, 2, 1.0)).code == "busy"
    (again,) = talk.say(peer.session, wire.Post(3, 1, 1, 1000.0))
    assert isinstance(again, wire.Rate)  # the same one again is answered again


def test_numbers_of_operations_rise(talk, peer):
    peer.post()
    peer.complete()
    assert refused(talk, peer.session, wire.Post(2, 1, 2, 1.0)).code == "value"


def test_words_before_registering(talk):
    for message in (wire.Post(1, 1, 1, 1.0), wire.Beat(1, 0, 0), wire.Ack(EPOCH, 1), wire.Goodbye()):
        assert refused(talk, talk.connect(), message).code == "unknown_app"


def test_words_that_belong_before_the_welcome(talk):
    assert refused(talk, talk.connect(), wire.Auth(b"x")).code == "decode"


def test_two_members_on_one_connection(talk, peer):
    assert refused(talk, peer.session, wire.Register(2, "b", 0)).code == "busy"
    other = talk.join("c")
    assert refused(talk, peer.session, wire.Resync(2, other.app, 0, 0, 0, 0.0, 0.0, 0, job="c")).code == "busy"


def test_registering_in_the_middle_of_an_operation(talk, peer):
    peer.post()
    assert refused(talk, peer.session, wire.Register(2, "a", 0)).code == "busy"


@pytest.mark.parametrize("kind", ["peer", "munge", "hmac"])
def test_nobody_speaks_for_another_job(talk, kind):
    talk.join("other", uid=1001)
    session = talk.connect(kind=kind, job="mine")
    assert refused(talk, session, wire.Register(1, "other", 0)).code == "forbidden"


def test_nobody_speaks_for_a_job_of_another_user(talk):
    hook = talk.connect(role="hook", uid=0)
    talk.say(hook, wire.Hook(1, "job_start", "theirs", uid=1001))
    assert refused(talk, talk.connect(), wire.Register(1, "theirs", 0)).code == "forbidden"
    root = Peer(talk, talk.connect(uid=0), "theirs")
    root.say(wire.Register(1, "theirs", 0))
    assert root.member.app.uid == 1001


@pytest.mark.parametrize("identity", [{"uid": 1000}, {"uid": 1000, "job": "mine"}])
def test_nobody_takes_over_an_application_by_its_number(talk, identity):
    victim = talk.join("theirs", uid=1001)
    victim.post()
    talk.quiet()
    charge = victim.member.charge
    asks = wire.Resync(1, victim.app, 0, EPOCH, 99, 0.0, 0.0, 99)
    assert refused(talk, talk.connect(**identity), asks).code == "forbidden"
    mine = Peer(talk, talk.connect(**identity), "mine")
    mine.say(wire.Resync(1, victim.app, 0, EPOCH, 99, 0.0, 0.0, 99, job="mine"))
    assert mine.app != victim.app and victim.member.charge == charge and victim.stage is Stage.POSTED


def test_applications_that_are_not_there(talk, peer):
    asks = wire.Resync(1, 99, 0, 0, 0, 0.0, 0.0, 1)
    assert refused(talk, talk.connect(), asks).code == "unknown_app"
    asks = wire.Resync(1, peer.app, 9, 0, 0, 0.0, 0.0, 1)
    assert refused(talk, talk.connect(), asks).code == "unknown_app"


def test_roles(talk):
    assert refused(talk, talk.connect(), wire.Admin(1, "status")).code == "forbidden"
    assert refused(talk, talk.connect(role="hook"), wire.Admin(1, "status")).code == "forbidden"
    assert refused(talk, talk.connect(), wire.Hook(1, "job_end", "a")).code == "forbidden"
    assert refused(talk, talk.connect(role="admin"), wire.Register(1, "a", 0)).code == "forbidden"
    assert refused(talk, talk.connect(role="standby"), wire.Resync(1, 1, 0, 0, 0, 0.0, 0.0, 1)).code == "forbidden"


def test_hooks(talk):
    session = talk.connect(role="hook", uid=0)
    assert refused(talk, session, wire.Hook(1, "job_pause", "a")).code == "value"
    assert refused(talk, session, wire.Hook(1, "job_start", "")).code == "value"
    assert refused(talk, session, wire.Hook(1, "job_start", "a", nodes=0)).code == "value"
    assert refused(talk, session, wire.Hook(1, "job_start", "a", seconds_left=math.nan)).code == "value"


def test_too_many_members(talk):
    few = Talk(members_per_job=2)
    few.join("a", member=0)
    few.join("a", member=1)
    assert refused(few, few.connect(), wire.Register(1, "a", 2)).code == "quota"
    assert few.join("b").app > 0


def test_a_refused_word_ends_its_connection_and_no_other():
    talk = Talk()
    good, bad = talk.join("a"), talk.join("b")
    talk.step(good.a_post(), bad.a_post())
    talk.quiet()
    talk.step(Frame(bad.session, wire.Admin(1, "mode", {"mode": "pause"})))
    assert talk.closed == {bad.session: "forbidden"}
    assert bad.stage is Stage.ORPHAN and bad.member.charge == CAPACITY / 2
    assert good.rate == CAPACITY / 2 and good.stage is Stage.POSTED


def test_inputs_about_nobody(talk):
    before = known(talk.state)
    talk.step(Closed(99), ProcessDead(9, 9), Frame(99, wire.Goodbye()))
    assert known(talk.state) == before


def test_an_operation_that_has_ended_does_not_come_back():
    talk = Talk()
    peer = talk.join()
    peer.post()
    talk.quiet()
    peer.complete()
    peer.back(rate=50.0)
    assert peer.stage is Stage.IDLE and talk.state.charges.used == [0.0]


def test_an_old_resync_says_nothing():
    talk = Talk()
    peer = talk.join()
    peer.post()
    peer.beat(100.0)
    before = known(talk.state)
    peer.say(wire.Resync(9, peer.app, 0, EPOCH, 1, 100.0, 1.0, 1, wire.OpenOp(1, 1000.0, 0.0, "write", (), 0.0)))
    assert known(talk.state) == before


def test_liars_who_vanish_leave_half_to_the_others():
    """Each says that it has all nodes; what is lost is counted for the nodes that there are, and no more."""
    talk = Talk(machine_nodes=10)
    for number in range(4):
        liar = talk.join(f"liar {number}", nodes=10)
        liar.post(1.0)
        liar.complete(1.0)
        liar.cut()
    talk.sleep(talk.settings.waiting + 0.01)
    assert [member.stage for member in talk.state.members()] == [Stage.LOST] * 4
    assert talk.state.charges.used == [talk.settings.phi * CAPACITY]
    good = talk.join("good")
    good.post(1e9)
    talk.quiet()
    assert good.member.rate == pytest.approx((1.0 - talk.settings.phi) * CAPACITY)


def test_the_successor_of_a_lost_process_has_its_nodes():
    talk = Talk(machine_nodes=10)
    session = talk.connect(role="hook", uid=0)
    talk.say(session, wire.Hook(1, "job_start", "a", uid=1000, nodes=4))
    first = talk.join("a", member=0, nodes=4)
    first.post(1.0)
    first.complete(1.0)
    first.cut()
    talk.sleep(talk.settings.waiting + 0.01)
    second = talk.join("a", member=1, nodes=4)
    assert (first.member.stage, second.member.nodes) == (Stage.LOST, 4.0)


def test_who_never_had_an_operation_is_soon_forgotten():
    talk = Talk(forget=3600.0)
    idle, busy = talk.join("idle"), talk.join("busy")
    busy.post()
    busy.complete()
    for peer in (idle, busy):
        peer.say(wire.Goodbye())
    talk.sleep(talk.settings.waiting + 0.01)
    assert [app.job for app in talk.state.apps.values()] == ["busy"]
    assert talk.state.jobs_of[1000] == 1


def test_jobs_of_one_user_are_limited():
    talk = Talk(jobs_per_user=2)
    for job in "ab":
        talk.join(job)
    error = refused(talk, talk.connect(), wire.Register(1, "c", 0))
    assert (error.code, "user 1000 has 2 jobs already" in error.text) == ("quota", True)
    assert talk.join("c", uid=1001).stage is Stage.IDLE


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("mode", {"mode": [1]}),
        ("evict", {"app": [1]}),
        ("evict", {"app": {}}),
        ("exempt", {"add": "x" * 50_000}),
        ("exempt", {"add": "a\x1b[2J"}),
        ("policy", {"name": "x" * 60_000}),
    ],
)
def test_odd_words_of_operators_are_refused(verb, args):
    talk = Talk()
    session = talk.connect(role="admin", uid=0)
    error = refused(talk, session, wire.Admin(1, verb, args))
    assert error.code == "value" and len(error.text) < 300


def test_a_fault_of_ours_hits_the_guilty_only(monkeypatch):
    talk = Talk()
    good, bad = talk.join("good"), talk.join("bad")
    monkeypatch.setitem(frames._HANDLERS, wire.Extend, lambda *_: 1 / 0)
    talk.step(Frame(bad.session, wire.Extend(1, 1.0)), good.a_post())
    assert bad.session not in talk.core.sessions
    assert good.told[-1].rate == CAPACITY
