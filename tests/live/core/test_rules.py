"""Rules of the core that no other test would miss, each found by changing it: see `make mutate`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from live.core.talk import CAPACITY, Talk
from penstock.live.core import Resource, decide, records
from penstock.live.core.events import Frame
from penstock.policies.sharing.policy import sharing
from penstock.wire import messages as wire

TWO = (Resource("x", 60.0, target="x"), Resource("y", 20.0, target="y"))
Seen = dict[str, list[Any]]


def noting(seen: list[Seen]) -> Any:
    """Everyone an equal part; keeps what it was shown."""

    def decide(view: Any, rates: Any) -> None:
        names = ("application", "nodes", "limit", "remaining", "posted", "progress", "rate")
        seen.append({name: getattr(view, name).tolist() for name in names} | {"capacity": [view.capacity]})
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    return decide


# --- what a policy is shown, and what it may answer


def test_each_of_several_resources_is_shown_its_part_of_an_operation():
    seen: list[Seen] = []
    talk = Talk(noting(seen), resources=TWO)
    peer = talk.join("a")
    peer.post(1000.0, targets=("x", "y"))
    x, y = seen[:2]
    assert x["remaining"] == y["remaining"] == [500.0]
    assert x["limit"] == y["limit"] == [20.0]  # y cannot take more, so neither can x of this one
    assert (x["capacity"], y["capacity"]) == ([60.0], [20.0])


@pytest.mark.parametrize(
    "given", [(-1.0, 10.0), (10.0, -1.0), (45.0, 10.0), (10.0, 45.0), (np.nan, 10.0), (40.0, 39.9)]
)
def test_one_improper_rate_is_enough_for_fair_share(given: tuple[float, float]):
    """Each may use 40, and both together 70 of what there is."""

    def gives(view: Any, rates: Any) -> None:
        rates[:] = given[: rates.size]

    talk = Talk(gives, resources=(Resource("all", 70.0),))
    peers = [talk.join(job, cap=40.0) for job in "ab"]
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    assert talk.state.failures == 1
    assert [peer.rate for peer in peers] == [35.0, 35.0]


def test_rates_that_just_fit_are_proper():
    def gives(view: Any, rates: Any) -> None:
        rates[:] = (40.0, 30.0)[: rates.size]

    talk = Talk(gives, resources=(Resource("all", 70.0),))
    peers = [talk.join(job, cap=40.0) for job in "ab"]
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    assert talk.state.failures == 0 and [peer.rate for peer in peers] == [40.0, 30.0]


def test_the_digest_of_a_decision_knows_all_that_was_shown():
    """Who looks back compares it, to see that a policy is shown the same again."""
    talk = Talk("fair-share")
    peers = [talk.join(job) for job in "ab"]
    talk.step(*(peer.a_post() for peer in peers))
    talk.now += 1.0
    [shown] = decide.Decider(talk.core.decider.policy)._shown(talk.state, np.zeros(2))
    view = shown.view
    others = [view._replace(**{name: np.full_like(getattr(view, name), 7.0)}) for name in view._fields[:13]]
    digests = [decide._digest([decide.Shown(0, "all", shown.rows, each)]) for each in (view, *others)]
    moved = decide._digest([decide.Shown(1, "all", shown.rows, view)])
    loss = decide._digest([decide.Shown(0, "all", shown.rows, view._replace(mean_loss=0.5))])
    assert len({*digests, moved, loss}) == len(digests) + 2


def test_what_a_policy_remembers_follows_its_jobs_when_ranks_close():
    @sharing("counting", memory=1)
    def counting(view: Any, rates: Any) -> None:
        """Count decisions."""
        for row in range(rates.size):
            view.memory[view.application[row]] += 1.0
            rates[row] = view.capacity / rates.size

    talk = Talk(counting, forget=1e6)
    for number in range(1000, 1040):
        apply(talk, records.Registered(number, f"x{number}", 1, 0, 1.0, None, 0.0, 0.0, {}, {}))
    peer, other = talk.join("a"), talk.join("b")
    peer.post()
    other.post()
    numbers = [*range(1000, 1040), *range(2000, 3100)]
    for number in numbers[40:]:
        apply(talk, records.Registered(number, f"x{number}", 1, 0, 1.0, None, 0.0, 0.0, {}, {}))
    for number in numbers:
        apply(talk, records.Gone(number, 0, ""))
        apply(talk, records.Forgotten(number))
    places = [talk.state.apps[each.app].place for each in (peer, other)]
    assert places[0] < 40
    assert talk.state.memory.numbers["all"][places].tolist() == [2.0, 1.0]


def apply(talk: Talk, record: records.StateChange) -> None:
    for state in (talk.state, talk.twin):
        state.apply(talk.now, record)


# --- how increases are told


@pytest.mark.parametrize(("freed", "rate"), [(40.0, 50.0), (25.0, 35.0), (20.0, 30.0), (15.0, 10.0)])
def test_half_of_an_increase_is_worth_a_word(freed: float, rate: float):
    """One has 10 and is to have 50. Of two that make room one has: 20 are worth telling, less waits for more."""
    plan = {0: 45.0, 1: 45.0, 2: 10.0}

    def decide(view: Any, rates: Any) -> None:
        rates[:] = [plan[place] for place in view.application]

    talk = Talk(decide, pace=1.0)
    quick, slow, small = (talk.join(job) for job in "abc")
    talk.step(*(peer.a_post() for peer in (quick, slow, small)))
    talk.quiet()
    plan.update({0: 45.0 - freed, 1: 5.0 + freed, 2: 50.0, 3: 0.0})
    talk.join("d").post()
    talk.sleep(1.0)
    assert small.rate == 10.0
    quick.ack()
    assert small.rate == pytest.approx(rate)
    if slow.late:
        slow.ack()
    assert small.rate == pytest.approx(50.0)


# --- what is kept of a job


def test_all_that_was_announced_is_added_up():
    talk = Talk()
    peer = talk.join("a")
    peer.post(100.0)
    talk.quiet()
    peer.say(wire.Extend(peer.op, 50.0))
    peer.complete(150.0)
    peer.post(30.0)
    assert talk.state.apps[peer.app].announced == 180.0
    peer.cut()
    talk.now += 1.0
    peer.back(op=wire.OpenOp(peer.op, 30.0, 0.0, "write", (), 1.0))
    assert talk.state.apps[peer.app].announced == 180.0  # the operation is known
    peer.cut()
    talk.now += 1.0
    peer.back(op=wire.OpenOp(peer.op + 1, 7.0, 0.0, "write", (), 1.0))
    assert talk.state.apps[peer.app].announced == 187.0


def test_labels_of_all_members_are_the_labels_of_a_job():
    talk = Talk()
    talk.join("a", member=0, labels={"account": "x", "queue": "long"})
    talk.join("a", member=1, labels={"queue": "short"})
    assert talk.state.by_job["a", 1000].labels == {"account": "x", "queue": "short"}


def test_the_end_of_a_job_that_the_batch_system_knows():
    talk = Talk()
    hook = talk.connect(role="hook", uid=0)
    talk.now = 5.0
    talk.say(hook, wire.Hook(1, "job_start", "a", uid=1000, nodes=2, seconds_left=60.0))
    assert talk.state.jobs["a"].ends == 65.0
    talk.say(hook, wire.Hook(2, "job_end", "a", node="n1", uid=1000))
    assert "a" in talk.state.jobs  # one node of it is done
    talk.say(hook, wire.Hook(3, "job_end", "a", node="n2", uid=1000))
    assert "a" not in talk.state.jobs and not talk.state.apps


def test_a_strict_reserve_follows_who_comes_and_goes():
    talk = Talk(reserve="strict")
    assert talk.state.charges.reserved(0) == 0.0
    first, second = talk.join("a"), talk.join("b")
    assert talk.state.charges.reserved(0) == pytest.approx(2 * sum(first.fallback.values()))
    first.say(wire.Goodbye())
    assert talk.state.charges.reserved(0) == pytest.approx(sum(second.fallback.values()))


def test_what_a_job_reports_moves_what_it_has_left():
    """It was given 100 bytes/s and moved 40: 60 more are left than the rate says, and progress is less by as much."""
    seen: list[Seen] = []
    talk = Talk(noting(seen), lease=100.0)
    peer = talk.join("a", cap=CAPACITY)
    peer.post(1000.0)
    talk.quiet()
    talk.now += 1.0
    peer.beat(40.0)
    other = talk.join("b")
    talk.step(Frame(other.session, wire.Post(other.ask(), 1, 1, 10.0)))
    assert seen[-1]["remaining"] == pytest.approx([960.0, 10.0])
    assert seen[-1]["progress"][0] == pytest.approx(0.4)


def test_a_change_of_capacity_or_mode_does_not_change_what_was_moved_before():
    seen: list[Seen] = []
    talk = Talk(noting(seen), lease=100.0)
    peer = talk.join("a")
    peer.post(1000.0)
    talk.quiet()
    talk.now += 2.0
    talk.admin("capacity", resource="all", capacity=50.0)
    talk.quiet()
    assert seen[-1]["remaining"] == pytest.approx([800.0]) and peer.rate == 50.0
    assert seen[-1]["progress"] == pytest.approx([2.0])  # at full rate, by the capacity of that time
    talk.now += 2.0
    talk.admin("mode", mode="monitor")
    talk.now += 2.0
    talk.join("b").post(10.0)
    assert seen[-1]["remaining"][0] == pytest.approx(1000.0 - 200.0 - 100.0 - 100.0)


def test_a_job_on_a_route_has_the_nodes_of_all_its_members():
    seen: list[Seen] = []
    talk = Talk(noting(seen))
    first, second = talk.join("a", member=0, nodes=2), talk.join("a", member=1, nodes=3)
    first.post()
    second.post()
    assert seen[-1]["nodes"] == [5.0]


def test_a_second_route_begins_with_what_the_phase_has_moved():
    """The first has moved 60 of 60 bytes/s for a second on x when the other begins on y, of which 20 can be used."""
    seen: list[Seen] = []
    talk = Talk(noting(seen), resources=TWO, lease=100.0)
    first, second = talk.join("a", member=0), talk.join("a", member=1)
    first.post(600.0, targets=("x",))
    talk.quiet()
    talk.now += 1.0
    first.beat(60.0)
    second.post(100.0, targets=("y",))
    on_y = next(each for each in reversed(seen) if each["capacity"] == [20.0])
    assert on_y["progress"] == pytest.approx([60.0 / 20.0])


def test_who_plans_is_told_how_long_each_operation_takes_alone():
    told: list[Any] = []

    def plan(foresight: Any, settings: Any) -> Any:
        told.append(foresight.seconds.tolist())
        return np.zeros(1)

    def share(view: Any, rates: Any) -> None:
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    talk = Talk(sharing("planner", prepare=plan)(share))
    first, second = talk.join("a"), talk.join("b", cap=20.0)
    talk.step(first.a_post(1000.0), second.a_post(100.0))
    assert told[-1] == pytest.approx([1000.0 / CAPACITY, 100.0 / 20.0])
