"""When the policy is asked, what it is shown, and how its rates reach the members."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from live.core.talk import CAPACITY, EPOCH, Talk
from penstock.errors import PolicyError
from penstock.live.core import Core, Decider, Resource, records
from penstock.live.core.events import Frame
from penstock.live.core.filling import water_filled
from penstock.policies.sharing import NAMES, find
from penstock.policies.sharing.policy import sharing
from penstock.wire import messages as wire

seen: list[tuple[Any, ...]] = []


def nosy(view, rates):
    """Everyone the same fraction; remembers what it was shown."""
    seen.append((view.now, view.capacity, *(column.tolist() for column in view[4:13])))
    rates[:] = np.minimum(view.limit, view.capacity / rates.size)


@pytest.fixture(autouse=True)
def forget():
    seen.clear()


# --- what is shown


def test_the_view_is_that_of_the_simulator():
    talk = Talk(nosy)
    first = talk.join("a", nodes=3, cap=40.0, release=2.0, progress=1.5)
    second = talk.join("b", cap=1e9)
    talk.now = 4.0
    first.post(400.0)
    talk.now = 6.0
    second.post(900.0)
    now, capacity, places, nodes, limit, remaining, posted, release, progress, omega, rate = seen[-1]
    assert (now, capacity, places, nodes) == (6.0, CAPACITY, [0, 1], [3.0, 1.0])
    assert limit == [40.0, CAPACITY]
    assert remaining == [400.0 - 40.0 * 2.0, 900.0]
    assert (posted, release) == ([4.0, 6.0], [-2.0, 0.0])
    assert progress == [1.5 + 4.0 + 40.0 * 2.0 / 40.0, 6.0]
    assert all(map(math.isnan, omega)) and rate == [40.0, 0.0]


def test_iterations_are_counted_as_in_the_simulator():
    talk = Talk(nosy)
    peer = talk.join("a", cap=50.0)
    for n, (work, volume) in enumerate([(0.0, 100.0), (3.0, 100.0), (5.0, 50.0)], start=1):
        talk.now += work
        peer.post(volume)
        talk.quiet()
        talk.now += volume / 50.0
        peer.complete(volume)
        assert peer.member.app.operations == n
    # The first had no compute before it: it is no iteration.
    assert peer.member.app.omega == ((3.0 + 2.0) + (5.0 + 1.0)) / 2
    assert peer.member.app.progress == pytest.approx(8.0 + 5.0)


def test_a_job_knows_its_work_to_more_digits_but_cannot_make_it_up():
    talk = Talk(nosy)
    first, second, third = (talk.join(job) for job in "abc")
    talk.now = 3.0
    talk.step(first.a_post(work=3.0 - 1e-10), second.a_post(work=1.0), third.a_post(work=-1.0))
    assert [talk.state.apps[peer.app].work for peer in (first, second, third)] == [3.0 - 1e-10, 3.0, 3.0]


def test_those_that_cannot_be_told_are_not_shown_and_their_charge_is_not_given_out():
    talk = Talk(nosy)
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(), second.a_post())
    talk.quiet()
    first.cut()
    _, capacity, places, *_ = seen[-1]
    assert (capacity, places) == (50.0, [1])


def test_one_that_should_have_ended_still_has_something_left():
    talk = Talk(nosy)
    first, second = talk.join("a"), talk.join("b")
    first.post(10.0)
    talk.now = 5.0
    second.post()
    remaining, progress = seen[-1][5], seen[-1][8]
    assert 0.0 < remaining[0] < 1.0
    assert progress[0] == 10.0 / CAPACITY


def test_the_place_is_the_order_of_registration_and_ranks_close_up():
    talk = Talk(nosy, forget=1.0)
    last = talk.join("last")
    for n in range(1100):
        talk.core.step(0.0, [])
        gone = records.Registered(n + 10, f"x{n}", 1, 0, 1.0, None, 0.0, 0.0, {}, {})
        for state in (talk.state, talk.twin):
            state.apply(talk.now, gone)
            state.apply(talk.now, records.Gone(n + 10, 0, ""))
            state.apply(talk.now, records.Forgotten(n + 10))
    assert talk.state.next_place < 1100
    newest = talk.join("newest")
    talk.step(newest.a_post(), last.a_post())
    assert seen[-1][2] == [talk.state.apps[newest.app].place, 0]


# --- when


def test_decisions_are_at_least_a_pace_apart():
    talk = Talk(pace=0.5)
    first, second = talk.join("a"), talk.join("b")
    first.post()
    talk.quiet()
    assert talk.state.decisions == 1
    talk.now += 0.1
    second.post()
    assert talk.state.decisions == 1 and second.told == [] and talk.wake == 0.5
    talk.sleep(0.5)
    assert talk.state.decisions == 2 and second.told


def test_ticks():
    talk = Talk("periodic-greedy-yield(delta=3)", lease=1000.0)
    peer = talk.join()
    talk.now = 1.0
    peer.post(1e6)
    assert talk.wake == 3.0
    talk.sleep(11.0)
    assert talk.state.decisions == 1 + 4
    assert talk.wake == 15.0


def test_a_window_gives_ticks_to_nobody_without_operations():
    assert Talk("periodic-greedy-yield", window_end=100.0).core._tick is None


def test_nobody_waits_for_ever():
    def starve(view, rates):
        rates[view.application == 0] = np.minimum(view.limit, view.capacity)[view.application == 0]

    talk = Talk(starve, max_wait=5.0)
    first, second = talk.join("a"), talk.join("b", nodes=2)
    talk.step(first.a_post(1e6), second.a_post(1e6))
    talk.quiet()
    assert second.rate == 0.0
    for _ in range(3):
        talk.sleep(1.5)
        first.beat()
        second.beat()
    assert second.rate == 0.0
    talk.sleep(1.0)
    talk.quiet()
    floor = 0.5 * 2 / 10 * CAPACITY
    assert (first.rate, second.rate) == (CAPACITY - floor, floor)
    first.complete()
    assert second.rate == floor  # this policy would still give it nothing
    third = talk.join("c")
    third.post()
    talk.quiet()
    assert (second.rate, third.rate) == (floor, 0.0)


def test_a_floor_of_ones_own():
    def none(view, rates):
        pass

    talk = Talk(none, max_wait=2.0, floor=7.0)
    peer = talk.join()
    peer.post()
    talk.sleep(3.0)
    assert peer.rate == 7.0


# --- how


def test_small_changes_wait_for_a_renewal():
    talk = Talk("fair-share", epsilon=0.1)
    peers = [talk.join(f"j{n}") for n in range(30)]
    talk.step(*(peer.a_post(1e6) for peer in peers))
    talk.quiet()
    told = [len(peer.told) for peer in peers]
    late = talk.join("late")
    late.post(1e6)
    talk.quiet()
    # 1/31 instead of 1/30 is a small change: as few as make room for the newcomer hear of it.
    assert late.rate == pytest.approx(CAPACITY / 31)
    heard = sum(len(peer.told) > before for peer, before in zip(peers, told, strict=True))
    assert heard == 30  # the surplus of all is what the newcomer gets
    late.complete()
    talk.sleep(0.1)
    before = [peer.rate for peer in peers]
    peers[0].beat()
    assert before[0] == pytest.approx(CAPACITY / 31) and peers[0].rate == pytest.approx(CAPACITY / 30)
    assert peers[1].rate == before[1]


def test_only_as_many_small_decreases_go_out_as_are_needed():
    weights: dict[int, float] = {}

    def weighted(view, rates):
        part = np.array([weights[place] for place in view.application.tolist()])
        rates[:] = view.capacity * part / part.sum()

    talk = Talk(weighted, epsilon=0.1)
    peers = [talk.join(f"j{n}") for n in range(4)]
    weights |= {0: 40.0, 1: 30.0, 2: 20.0, 3: 10.0}
    talk.step(*(peer.a_post(1e6) for peer in peers))
    talk.quiet()
    weights |= {0: 36.5, 1: 29.5, 2: 20.9, 3: 13.1}
    talk.admin("capacity", capacity=CAPACITY)
    talk.quiet()
    assert [peer.rate for peer in peers] == pytest.approx([36.5, 30.0, 20.0, 13.1])


def test_what_one_leaves_goes_to_the_next():
    talk = Talk("fcfs")
    first, second, third = talk.join("a", cap=50.0), talk.join("b", cap=20.0), talk.join("c")
    talk.step(first.a_post(), second.a_post(), third.a_post())
    assert (first.rate, second.rate, third.rate) == (50.0, 20.0, 30.0)
    talk.quiet()
    talk.step(Frame(first.session, wire.Complete(1, 1.0)))
    assert third.rate == 80.0
    talk.quiet()
    talk.now = 1.0
    first.post()  # behind the others now
    assert first.rate == 0.0
    second.complete()
    assert third.rate == 100.0


@pytest.mark.parametrize(("had", "at_once"), [(70.0, 30.0), (80.0, 0.0)])
def test_a_part_is_told_at_once_if_it_is_half_of_the_step(had, at_once):
    rates_of = {0: had}

    def as_listed(view, rates):
        rates[:] = [rates_of[place] for place in view.application.tolist()]

    talk = Talk(as_listed)
    first, second = talk.join("a"), talk.join("b")
    first.post(1e6)
    talk.quiet()
    rates_of |= {0: 50.0, 1: 50.0}
    second.post(1e6)
    assert (first.rate, second.rate) == (50.0, at_once)
    second.ack()
    assert second.rate == at_once
    first.ack()
    assert second.rate == 50.0


def test_members_share_by_what_they_have_left():
    talk = Talk()
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    talk.step(first.a_post(300.0), second.a_post(100.0))
    talk.quiet()
    assert (first.rate, second.rate) == pytest.approx((75.0, 25.0))
    talk.sleep(2.0)
    second.beat(1.0)  # it has hardly moved
    talk.quiet()
    first.beat(150.0)
    talk.quiet()
    second.beat(1.0)
    talk.quiet()
    assert second.rate > 30.0 and first.rate + second.rate <= CAPACITY * (1 + 1e-9)


def test_when_a_member_ends_the_others_get_its_part():
    talk = Talk(epsilon=0.02)
    peers = [talk.join("a", member=n) for n in range(3)]
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    peers[0].complete()
    talk.quiet()
    assert peers[1].rate + peers[2].rate == pytest.approx(CAPACITY)


def test_what_a_renewal_takes_from_a_member_goes_to_its_siblings():
    talk = Talk()
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    talk.step(first.a_post(500.0), second.a_post(500.0))
    talk.quiet()
    talk.sleep(2.0)
    first.beat(450.0)
    assert first.rate < 30.0
    talk.quiet()
    assert first.rate + second.rate == pytest.approx(CAPACITY)


def test_a_member_that_should_be_done_still_gets_what_nobody_else_can_use():
    talk = Talk()
    first, second = talk.join("a", member=0), talk.join("a", member=1, cap=60.0)
    talk.step(first.a_post(100.0), second.a_post(5000.0))
    talk.quiet()
    talk.sleep(1.0)
    first.beat(100.0)
    talk.quiet()
    second.beat(60.0)
    talk.quiet()
    assert (first.rate, second.rate) == pytest.approx((40.0, 60.0))


def test_a_floor_that_is_not_needed_is_not_set_aside():
    talk = Talk("fcfs", max_wait=3.0)
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(1e6), second.a_post(1e6))
    talk.quiet()
    talk.sleep(2.9)
    first.beat()
    second.beat()
    talk.now += 0.2
    first.complete()  # in the same turn in which the other has waited long enough
    assert second.rate == CAPACITY


def test_water_filling():
    assert water_filled(10.0, [1.0, 3.0], [100.0, 100.0]) == [2.5, 7.5]
    assert water_filled(10.0, [1.0, 3.0], [100.0, 4.0]) == [6.0, 4.0]
    assert water_filled(10.0, [1.0, 3.0], [1.0, 4.0]) == [1.0, 4.0]
    assert water_filled(0.0, [1.0], [1.0]) == [0.0]
    assert sum(water_filled(7.0, [1e-9, 5.0, 2.0], [3.0, 3.0, 3.0])) == pytest.approx(7.0)


# --- policies


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_works(name):
    talk = Talk(name)
    peers = [talk.join(f"j{n}", cap=cap) for n, cap in enumerate((30.0, 60.0, 90.0, None))]
    for n, peer in enumerate(peers):
        talk.now = float(n)
        peer.post(100.0 * (n + 1))
        talk.quiet()
    assert talk.state.failures == 0, talk.state.last_failure
    assert 0.0 < talk.state.charges.used[0] <= CAPACITY * (1 + 1e-9)
    served = []
    while any(peer.member.op for peer in peers):
        peer = next(peer for peer in peers if peer.member.op and peer.rate > 0.0)
        talk.now += 0.1
        peer.complete(1.0)
        served.append(peer.job)
        talk.quiet()
    assert sorted(served) == ["j0", "j1", "j2", "j3"] and talk.state.failures == 0


@pytest.mark.parametrize("order", ["list-shortest-io", "list-longest-io", "list-shortest-remaining"])
def test_policies_that_plan_go_by_what_is_posted(order):
    talk = Talk(order)
    busy, short, long = talk.join("busy"), talk.join("short"), talk.join("long")
    busy.post()
    talk.quiet()
    talk.step(short.a_post(10.0), long.a_post(500.0))
    talk.quiet()
    assert (busy.rate, short.rate, long.rate) == (CAPACITY, 0.0, 0.0)
    busy.complete()
    talk.quiet()
    assert (long.rate if order == "list-longest-io" else short.rate) == CAPACITY


def test_a_policy_that_needs_the_future_is_refused():
    def plan(foresight, settings):
        raise PolicyError("the plan names 'x', which is no application of the scenario")

    clairvoyant = sharing("clairvoyant", prepare=plan)(find("fcfs").plain)
    with pytest.raises(PolicyError, match=r"'clairvoyant' plans with phases still to come.*the plan names 'x'"):
        Talk(clairvoyant)


def boom(view, rates):
    if view.application.size > 1:
        raise ValueError("no idea")
    rates[:] = view.limit


def greedy(view, rates):
    rates[:] = view.limit


def negative(view, rates):
    rates[:] = -1.0


def nothing_written(view, rates):
    return rates


@pytest.mark.parametrize(
    ("policy", "word"),
    [
        (boom, "raised ValueError: no idea"),
        (greedy, "gave out 200 bytes/s in all"),
        (negative, "gave 'a' a rate of -1"),
        (nothing_written, "returned a ndarray"),
    ],
)
def test_a_policy_that_fails_does_not_stop_the_controller(policy, word):
    talk = Talk(policy)
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(), second.a_post())
    talk.quiet()
    assert (first.rate, second.rate) == (50.0, 50.0)
    failed = talk.made(records.PolicyFailed)[-1]
    assert word in failed.text and failed.policy == find(policy).label
    assert talk.made(records.RatesDecided)[-1].policy == "fair-share"
    assert word in talk.admin("status")["last_policy_failure"]


def test_a_policy_whose_plan_fails_later_does_not_stop_the_controller():
    def plan(foresight, settings):
        if len(foresight.names) > 1:
            raise KeyError("lost")
        return np.zeros(1)

    talk = Talk(sharing("planner", prepare=plan)(find("fcfs").plain))
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(), second.a_post())
    assert "KeyError" in talk.state.last_failure and first.rate == 50.0


def test_what_a_policy_remembers_comes_back_with_the_records():
    @sharing("counting", memory=1)
    def counting(view, rates):
        """Count decisions."""
        for row in range(rates.size):
            view.memory[view.application[row]] += 1.0
            rates[row] = view.capacity / rates.size

    talk = Talk(counting)
    first, second = talk.join("a"), talk.join("b")
    first.post()
    second.post()
    assert talk.state.memory.numbers["all"][:2].tolist() == [2.0, 1.0]
    talk.admin("policy", name="fcfs")
    assert talk.state.memory.numbers == {}


def test_a_decision_is_taken_again_bit_for_bit():
    talk = Talk("best-next-event", epsilon=0.02)
    states: list[tuple[records.RatesDecided, records.RatesDecided]] = []
    record = talk.twin.apply
    decider = Decider(find("best-next-event"))

    def watching(t: float, each: wire.Message) -> None:
        if isinstance(each, records.RatesDecided):
            talk.twin.now = t - talk.twin.origin
            states.append((each, decider.decide(talk.twin).decision))
        record(t, each)

    talk.twin.apply = watching  # type: ignore[method-assign,assignment]
    peers = [talk.join(f"j{n}", cap=30.0 + 7 * n) for n in range(6)]
    for n, peer in enumerate(peers):
        talk.now += 0.37 * n
        peer.post(100.0 + 13.7 * n)
        talk.quiet()
        peers[0].beat(11.0 * talk.now / 3)
        talk.quiet()
    assert len(states) >= 6
    assert all(live == again for live, again in states)


def test_the_same_inputs_give_the_same_outputs():
    def run() -> list[object]:
        talk = Talk("greedy-yield", epsilon=0.02, pace=0.01)
        peers = [talk.join(f"j{n}", cap=20.0 + n) for n in range(8)]
        for n, peer in enumerate(peers):
            talk.now += 0.1 * n
            peer.post(100.0 + n)
            talk.sleep(0.05)
            talk.quiet()
        return [talk.records, talk.said]

    assert run() == run()


# --- whose turn it is


def as_planned(plan):
    """A policy that gives to every place what the plan says."""

    def decide(view, rates):
        rates[:] = [plan[place] for place in view.application]

    return decide


def holders(plan, each=50.0):
    """Two that have most of the capacity, or all of it, and a core that decides once a second."""
    plan |= {0: each, 1: each}
    talk = Talk(as_planned(plan), pace=1.0)
    both = talk.join("h0"), talk.join("h1")
    talk.step(*(holder.a_post() for holder in both))
    talk.quiet()
    return talk, *both


def raised_first(talk, plan, holder, *waiting):
    """Who gets more when one holder has made room for one of them."""
    plan |= {0: 25.0, 1: 25.0}
    talk.sleep(1.0)
    before = [peer.rate for peer in waiting]
    holder.ack()
    return [peer for peer, rate in zip(waiting, before, strict=True) if peer.rate > rate]


def test_who_has_nothing_is_raised_before_who_has_something():
    plan = {2: 10.0, 3: 25.0}
    talk, holder, _ = holders(plan, 45.0)
    some = talk.join("some")
    some.post()
    talk.sleep(1.0)
    talk.quiet()
    assert some.rate == 10.0
    nothing = talk.join("nothing")
    nothing.post()
    plan[2] = 25.0
    assert raised_first(talk, plan, holder, some, nothing) == [nothing]


def test_who_posted_first_is_raised_first():
    plan = {2: 20.0, 3: 20.0}
    talk, holder, _ = holders(plan)
    late, early = talk.join("late"), talk.join("early")
    talk.now += 0.1
    early.post()
    talk.now += 0.1
    late.post()
    assert raised_first(talk, plan, holder, late, early) == [early]


def test_of_those_that_posted_together_who_registered_first_is_raised_first():
    plan = {2: 20.0, 3: 20.0}
    talk, holder, _ = holders(plan)
    first, second = talk.join("first"), talk.join("second")
    talk.step(second.a_post(), first.a_post(), after=0.1)
    assert raised_first(talk, plan, holder, first, second) == [first]


def test_of_one_application_the_member_with_the_lower_number_is_raised_first():
    plan = {2: 40.0}
    talk, holder, _ = holders(plan)
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    talk.step(second.a_post(), first.a_post(), after=0.1)
    assert raised_first(talk, plan, holder, first, second) == [first]


# --- several resources


def site(**given):
    resources = (
        Resource("fast", 60.0, target="fast"),
        Resource("slow-w", 20.0, target="slow", direction="write"),
        Resource("slow-r", 40.0, target="slow", direction="read"),
        Resource("net", 70.0),
    )
    return Talk(resources=resources, **given)


def test_an_operation_puts_its_part_on_each_of_its_targets():
    talk = site()
    peer = talk.join("a", nodes=1)
    assert talk.said[peer.session][0].targets == ("fast", "slow")
    assert peer.fallback == pytest.approx({"fast": 0.05 * 60, "slow": 0.05 * 20, "": 0.05 * 20})
    peer.post(targets=("fast", "slow"))
    assert peer.rate == 40.0  # 20 on each; more the slow one cannot write
    assert talk.state.charges.used == [20.0, 20.0, 0.0, 40.0, 0.0]


def test_directions_have_their_own_resources():
    talk = site()
    peer = talk.join("a")
    peer.post(direction="read", targets=("slow",))
    assert peer.rate == 40.0 and talk.state.charges.used == [0.0, 0.0, 40.0, 40.0, 0.0]


def three_of(x: float, y: float, jobs: dict[str, tuple[str, ...]]) -> dict[str, float]:
    """The rates of jobs on two targets, of which some write to one and some to both."""
    talk = Talk(resources=(Resource("x", x, target="x"), Resource("y", y, target="y")))
    peers = {job: talk.join(job) for job in jobs}
    talk.step(*(peers[job].a_post(targets=targets) for job, targets in jobs.items()))
    talk.quiet()
    used = talk.state.charges.used
    assert all(amount <= capacity * (1 + 1e-9) for amount, capacity in zip(used, talk.state.capacity, strict=True))
    return {job: peer.rate for job, peer in peers.items()}


def test_what_one_cannot_use_here_is_offered_to_others():
    """Of x, fair-share gives a 15 and b 45, and of y, a and c 10 each: a leaves 5 on x, which only b can use."""
    rates = three_of(60.0, 20.0, {"a": ("x", "y"), "b": ("x",), "c": ("y",)})
    assert rates == pytest.approx({"a": 20.0, "b": 50.0, "c": 10.0})


def test_offering_again_takes_from_nobody():
    """Both are content after one round: a has as much of x as y lets it use, and x is full."""
    rates = three_of(100.0, 20.0, {"a": ("x", "y"), "b": ("x",)})
    assert rates == pytest.approx({"a": 100.0 / 3, "b": 250.0 / 3})


def test_what_is_left_over_passes_from_hand_to_hand():
    """c is held back on z, so that b gets more of y, and still more when a, held back on x, leaves its part as well."""
    resources = tuple(Resource(name, size, target=name) for name, size in zip("xyz", (12.0, 60.0, 10.0), strict=True))
    talk = Talk(resources=resources)
    a, b, c, other = (talk.join(job) for job in "abcd")
    on_z = [c.a_post(targets=("y", "z")), other.a_post(targets=("z",))]
    talk.step(a.a_post(targets=("x", "y")), b.a_post(targets=("y",)), *on_z)
    talk.quiet()
    assert talk.state.charges.used == pytest.approx([a.rate / 2, 60.0, 10.0, 0.0])
    assert c.rate == pytest.approx(10.0) and other.rate == pytest.approx(5.0)
    assert a.rate / 2 + b.rate + c.rate / 2 == pytest.approx(60.0)


def test_a_policy_that_leaves_bandwidth_unused_is_not_asked_to_give_it_away():
    def half(view, rates):
        rates[:] = np.minimum(view.limit, 0.5 * view.capacity / rates.size)

    talk = Talk(half, resources=(Resource("x", 60.0, target="x"), Resource("y", 20.0, target="y")))
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(targets=("x",)), second.a_post(targets=("x",)))
    talk.quiet()
    assert (first.rate, second.rate) == (15.0, 15.0)


def test_members_of_one_application_on_different_targets():
    talk = site()
    reader, writer = talk.join("a", member=0), talk.join("a", member=1)
    talk.step(reader.a_post(direction="read", targets=("slow",)), writer.a_post(targets=("slow",)))
    talk.quiet()
    assert len(talk.state.rows.rows) == 2
    assert reader.rate + writer.rate == pytest.approx(60.0)
    writer.complete()
    assert reader.member.app.active
    reader.complete()
    assert not reader.member.app.active


def test_one_that_is_cut_off_may_use_any_target():
    talk = site()
    peer = talk.join("a", nodes=2)
    peer.post(targets=("fast",))
    talk.sleep(10.0)
    assert talk.state.charges.used == pytest.approx([0.1 * each for each in (60.0, 20.0, 40.0, 70.0, 20.0)])


def test_strict_keeps_the_fallback_of_all_nodes_free():
    talk = Talk(reserve="strict")
    first, second = talk.join("a"), talk.join("b")
    talk.step(first.a_post(), second.a_post())
    talk.quiet()
    assert first.rate + second.rate == CAPACITY / 2
    talk.sleep(1.0)
    second.beat()
    talk.sleep(7.5)
    assert str(first.stage) == "lost" and talk.state.charges.used == [second.rate]
    assert second.rate == CAPACITY / 2


def test_a_resource_that_nobody_uses_limits_nobody():
    talk = Talk(resources=(Resource("w", 10.0, direction="write"),))
    peer = talk.join("a", cap=500.0)
    peer.post(direction="read")
    assert peer.rate == 500.0 and talk.state.charges.used == [0.0]


def test_a_core_does_not_wake_a_digit_too_early():
    talk = Talk(now=0.1, lease=0.7, beat=0.1)
    peer = talk.join()
    talk.now = 123.4567
    peer.post()
    talk.now = talk.wake
    talk.step()
    assert str(peer.stage) == "lost"


def test_settings_come_with_the_core():
    talk = Talk()
    assert isinstance(talk.core, Core) and talk.state.epoch == EPOCH
