"""Whatever happens in whatever order: no charge that nobody forced is above the capacity, none falls for no reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live.core.talk import CAPACITY, EPOCH, Peer, Talk, amounts, known
from penstock.live.core import ControllerState, Resource, Stage, charges, records
from penstock.live.core.events import ProcessDead
from penstock.live.core.members import App, Member, Op
from penstock.live.core.resources import Route, Routes
from penstock.live.core.snapshots import BadSnapshot
from penstock.wire import messages as wire

POLICIES = ("fair-share", "fcfs", "greedy-yield", "set-10", "list-shortest-io")
SITES = (
    (Resource("all", CAPACITY),),
    (Resource("x", 60.0, target="x"), Resource("y", 30.0, target="y"), Resource("all", 70.0)),
)
WAYS = (("write", ()), ("read", ("x",)), ("write", ("x", "y")), ("write", ("y",)))

_OFTEN = ("post", "ack", "beat", "complete", "cut", "back", "back-idle", "pass", "long")
_SELDOM = ("dead", "extend", "goodbye", "mode", "policy", "capacity", "exempt", "drain", "hook")
WORDS = (*_OFTEN, "post", "ack", "beat", *_SELDOM)
# A word of one of five members, or of an operator.
words = st.tuples(
    st.sampled_from(WORDS),
    st.integers(0, 4),
    st.integers(0, 7),
)


class Company:
    """Members that do what a list of words says, with a judge beside them."""

    def __init__(self, policy: str, site: int, reserve: str, epsilon: float) -> None:
        self.site = site
        self.talk = Talk(policy, resources=SITES[site], reserve=reserve, epsilon=epsilon, pace=0.01, forget=30.0)
        self.peers: list[Peer] = [self.talk.join(f"j{n // 2}", member=n % 2, cap=25.0 * (n + 1)) for n in range(5)]
        self._rates: dict[Member, float] = {}
        self._made, self._before = len(self.talk.records), {member: 0.0 for member in self.talk.state.members()}
        self.talk_check, self.talk.check = self.talk.check, self._judge  # type: ignore[method-assign]

    def do(self, word: str, who: int, how: int) -> None:
        self._act(word, self.peers[who], how)

    def _act(self, word: str, peer: Peer, how: int) -> None:
        talk = self.talk
        there = peer.session in talk.core.sessions and talk.state.find(peer.app, peer.number) is not None
        if word in ("pass", "long"):
            talk.sleep(how * (0.1 if word == "pass" else 2.0))
        elif word == "mode":
            talk.admin("mode", mode=("enforce", "enforce", "monitor", "pause")[how % 4])
        elif word == "policy":
            talk.admin("policy", name=POLICIES[how % len(POLICIES)])
        elif word == "capacity":
            talk.admin("capacity", resource="all", capacity=40.0 + 20.0 * how)
        elif word == "exempt":
            talk.admin("exempt", **{("add" if how % 2 else "del"): peer.job})
        elif word == "drain":
            talk.admin("drain", on=how == 0)
        elif word == "hook":
            session = talk.connect(role="hook", uid=0)
            talk.say(session, wire.Hook(1, "node_down", peer.job, uid=1000))
        elif word == "dead":
            talk.step(ProcessDead(peer.app, peer.number))
        elif word in ("back", "back-idle"):
            self._back(peer, word == "back-idle", how)
        elif there:
            self._speak(word, peer, how)

    def _back(self, peer: Peer, idle: bool, how: int) -> None:
        direction, targets = WAYS[how % 4 if self.site else 0]
        op = None if idle else wire.OpenOp(max(1, peer.op), 100.0 * (how + 1), 10.0, direction, targets, 1.0)
        peer.late = False
        peer.back(op=op, rate=11.0 * how, cap=25.0)

    def _speak(self, word: str, peer: Peer, how: int) -> None:
        if word == "post":
            direction, targets = WAYS[how % 4 if self.site else 0]
            peer.post(100.0 * (how + 1), direction=direction, targets=targets)
        elif word == "ack" and peer.told:
            told = peer.told[-1 - min(how // 3, len(peer.told) - 1)]  # an older one at times
            peer.say(wire.Ack(told.epoch, told.rev))
        elif word == "beat":
            peer.beat(20.0 * how)
        elif word == "complete":
            peer.complete(30.0 * how)
        elif word == "extend":
            peer.say(wire.Extend(peer.op, 50.0))
        elif word == "cut":
            peer.cut()
        elif word == "goodbye" and how == 0:
            peer.say(wire.Goodbye())

    def _judge(self) -> None:
        """After every turn: what has become of every charge?"""
        talk, state = self.talk, self.talk.state
        made, self._made = talk.records[self._made :], len(talk.records)
        before, self._before = self._before, {member: member.charge for member in state.members()}
        rates, self._rates = self._rates, {member: member.rate for member in state.members()}
        spoke = set()
        for record in made:
            if isinstance(record, records.Acked | records.Ended | records.Gone | records.Expired | records.Adrift):
                spoke.add((record.app, record.member))
            if isinstance(record, records.Resynced):
                member = state.find(record.app, record.member)
                assert member is not None
                rates[member] = record.rate
        for member, charge in before.items():
            after = member.charge if member.stage is not Stage.GONE else 0.0
            assert after >= charge * (1 - 1e-12) or member.key in spoke, f"{member.key} fell from {charge} to {after}"
        self._nobody_was_raised_beyond(rates, made)
        self.talk_check()

    def _nobody_was_raised_beyond(self, rates: dict[Member, float], made: list[records.StateChange]) -> None:
        """Whoever is told more than it uses: it fits."""
        state = self.talk.state
        for record in made:
            if isinstance(record, records.Granted) and record.flags == wire.PACED:
                member = state.find(record.app, record.member)
                assert member is not None
                if record.rate > rates.get(member, 0.0) * (1 + 1e-12):
                    for k, _ in amounts(state, member):
                        assert state.charges.used[k] <= state.grantable(k) * (1 + 1e-8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(POLICIES),
    st.integers(0, 1),
    st.sampled_from(["bounded", "strict"]),
    st.sampled_from([0.0, 0.02]),
    st.lists(words, min_size=5, max_size=40),
)
def test_charges_whatever_happens(policy, site, reserve, epsilon, said):
    company = Company(policy, site, reserve, epsilon)
    for word, who, how in said:
        company.do(word, who, how)
    data = company.talk.state.snapshot()
    again = ControllerState.restore(data, company.talk.settings)
    assert again.snapshot() == data
    assert known(again) == known(company.talk.state)
    assert again.charges.used == pytest.approx(company.talk.state.charges.used, abs=1e-9)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(POLICIES), st.integers(0, 1), st.lists(words, min_size=5, max_size=30), st.booleans())
def test_a_restart_anywhere_charges_no_less(policy, site, said, warm):
    company = Company(policy, site, "bounded", 0.0)
    for word, who, how in said:
        company.do(word, who, how)
    talk = company.talk
    charged = {member.key: member.charge for member in talk.state.members()}
    again = Talk(settings=talk.settings, state=talk.twin, warm=warm, now=talk.now, epoch=EPOCH + 1)
    assert {member.key: member.charge for member in again.state.members()} == charged
    assert not again.state.rows.rows
    for member in again.state.members():
        assert member.stage in (Stage.IDLE, Stage.RECOVERED, Stage.LOST)
    again.sleep(again.settings.waiting + 0.01)
    for member in again.state.members():
        assert member.stage is Stage.LOST or member.free is not None


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(words, min_size=5, max_size=30))
def test_records_after_a_snapshot_lead_to_the_same(said):
    """As recovery does: a snapshot in the middle, then the records after it."""
    company = Company("set-10", 1, "bounded", 0.02)
    talk = company.talk
    restored: ControllerState | None = None
    apply = talk.twin.apply

    def both(t: float, record: wire.Message) -> None:
        apply(t, record)
        if restored is not None:
            restored.apply(t, record)

    talk.twin.apply = both  # type: ignore[method-assign]
    for place, (word, who, how) in enumerate(said):
        if place == len(said) // 2:
            restored = ControllerState.restore(talk.state.snapshot(), talk.settings)
        company.do(word, who, how)
    assert restored is not None
    restored.now = talk.state.now
    assert known(restored) == known(talk.state)


# --- the rules themselves


def member() -> Member:
    return Member(App(1, "a", 0, 0, 0.0, 0.0, 0.0), 0, 1.0)


def test_charge_first_free_late():
    one = member()
    charges.grant(one, (1, 1), 50.0, False)
    charges.grant(one, (1, 2), 20.0, False)
    assert (one.rate, one.charge) == (20.0, 50.0)
    charges.ack(one, (1, 1), 50.0)
    assert one.charge == 50.0
    charges.ack(one, (1, 2), 20.0)
    assert one.charge == 20.0
    charges.grant(one, (1, 3), 30.0, False)
    charges.release(one)
    assert (one.rate, one.charge, one.revs) == (0.0, 0.0, {})


def test_an_ack_of_a_revision_that_was_not_recorded_leaves_its_rate():
    one = member()
    charges.grant(one, (1, 1), 50.0, False)
    charges.ack(one, (1, 5), 40.0)
    assert one.charge == 40.0


def test_what_is_held_goes_with_the_first_ack_of_something_newer():
    one = member()
    charges.grant(one, (1, 1), 50.0, True)
    charges.hold(one, (2, 1), 70.0)
    assert one.charge == 70.0 and one.free == (2, 1)
    charges.grant(one, (2, 2), 10.0, False)
    assert one.charge == 70.0
    charges.ack(one, (2, 2), 10.0)
    assert one.charge == 10.0 and one.free is None


def test_sums_do_not_drift():
    talk = Talk()
    peer = talk.join("a")
    peer.post(1e9)
    for n in range(1500):
        one = peer.member
        charges.grant(one, (EPOCH, 100 + n), 0.1 * (n % 7), False)
        charges.ack(one, (EPOCH, 100 + n), 0.1 * (n % 7))
        talk.state.charges.put(one)
    assert talk.state.charges.used == [peer.member.charge]
    peer.complete()
    assert talk.state.charges.used == [0.0]


def test_snapshots_of_nothing_or_of_another_version_are_refused():
    talk = Talk()
    for data, word in ((b"", "no snapshot"), (b"\x81\xa1a\x01", "no snapshot"), (b"\x81\xa7version\x09", "version 9")):
        with pytest.raises(BadSnapshot, match=word):
            ControllerState.restore(data, talk.settings)


def test_a_snapshot_keeps_everything():
    talk = Talk("set-10", resources=SITES[1])
    peers: list[Any] = [talk.join(f"j{n}", labels={"user": "u"}, cap=20.0) for n in range(4)]
    talk.step(*(peer.a_post(targets=("x",)) for peer in peers[:3]))
    talk.quiet()
    peers[0].cut()
    peers[1].complete()
    talk.now = 5.0
    peers[1].post()
    talk.admin("exempt", add="j2")
    talk.sleep(9.0)
    restored = ControllerState.restore(talk.state.snapshot(), talk.settings)
    assert known(restored) == known(talk.state)
    assert restored.snapshot() == talk.state.snapshot()


# --- one member, by hand


def one(**given: Any) -> Member:
    app = App(1, "a", 0, 0, release=0.0, progress=0.0, since=0.0)
    return Member(app, given.pop("number", 0), 1.0, **given)


def test_a_charge_is_the_most_that_may_be_in_use() -> None:
    member = one()
    charges.grant(member, (7, 1), 30.0, free=False)
    charges.grant(member, (7, 2), 10.0, free=False)
    assert (member.rev, member.rate, member.charge, member.free) == (2, 10.0, 30.0, None)
    charges.ack(member, (7, 2), 10.0)
    assert member.revs == {(7, 2): 10.0} and member.charge == 10.0
    charges.ack(member, (8, 1), 4.0)  # of another epoch, by its own word
    assert member.revs == {(8, 1): 4.0} and member.charge == 4.0


def test_one_that_goes_unpaced_is_charged_with_the_most_it_could_use_since() -> None:
    member = one()
    charges.grant(member, (7, 1), 30.0, free=False)
    charges.grant(member, (7, 2), 20.0, free=True)
    assert member.free == (7, 2) and member.charge == 30.0
    charges.unpaced(member, (7, 2), 25.0)
    assert member.revs[7, 2] == 25.0 and member.charge == 30.0
    charges.unpaced(member, (7, 2), 15.0)
    assert member.revs[7, 2] == 25.0
    other = one(revs={(7, 2): 20.0}, free=(7, 2), charge=20.0)
    charges.unpaced(other, (7, 2), 45.0)
    assert other.charge == 45.0
    charges.release(other)
    assert other.free is None
    charges.ack(member, (7, 2), 20.0)
    assert member.free == (7, 2) and member.charge == 25.0  # this is the one by which it goes unpaced
    charges.grant(member, (7, 3), 5.0, free=False)
    charges.ack(member, (7, 3), 5.0)
    assert member.free is None and member.charge == 5.0


def test_a_lapse_is_over_once_it_is_acked() -> None:
    for acked, lapse in [((7, 2), ((7, 3), 9.0)), ((7, 3), None), ((7, 4), None)]:
        member = one(revs={(7, 2): 30.0, (7, 3): 10.0}, lapse=((7, 3), 9.0))
        charges.ack(member, acked, 10.0)
        assert member.lapse == lapse


def test_what_one_may_be_using_is_held_until_it_acks() -> None:
    member = one(revs={(7, 1): 30.0, (7, 2): 10.0}, lapse=((7, 2), 9.0), rate=10.0, charge=30.0, free=(7, 1))
    charges.hold(member, (8, 3), 12.0)
    assert member.revs == {(8, 3): 12.0} and (member.rev, member.charge, member.free) == (3, 12.0, (8, 3))
    assert member.lapse is None and member.rate == 10.0
    member.free = None
    charges.hold(member, (8, 4), 12.0)
    assert member.free is None
    charges.release(member)
    assert (member.revs, member.rate, member.charge, member.free, member.lapse) == ({}, 0.0, 0.0, None, None)


def test_sums_have_the_last_digit_of_the_exact_sum() -> None:
    """0.1, 0.2 and 0.3 added one after the other are 0.6000000000000001."""
    routes = Routes((Resource("all", CAPACITY),))
    counted = charges.Charges(routes, strict=False, machine_nodes=10)
    for number, charge in enumerate((0.1, 0.2)):
        op = Op(1, 1.0, Route(("write", ()), ((0, 1.0),)), None, 0.0, 0.0)
        counted.put(one(number=number, op=op, stage=Stage.POSTED, charge=charge))
    counted.put(one(number=2, stage=Stage.LOST, fallback={"all": 0.3}))
    assert counted.used == counted.outside() == [0.6]
