"""What a policy is shown of the losses of all: of those that compute, too, and of a job with several routes once."""

from __future__ import annotations

import numpy as np
import pytest

from live.core.talk import Talk
from penstock.live.core import Resource, records
from penstock.live.core.losses import Losses
from penstock.live.core.members import App
from penstock.policies.sharing.policy import Sharing
from penstock.wire import messages as wire

BOTH = (Resource("x", 60.0, target="x"), Resource("y", 60.0, target="y"))


def watching(seen: list[float]) -> Sharing:
    def decide(view, rates):
        seen.append(view.mean_loss)
        rates[:] = view.limit * min(1.0, view.capacity / view.limit.sum())

    return Sharing("watching", decide, decide, False, "", "test", {})


def test_the_mean_is_over_those_that_compute_and_those_that_wait():
    seen: list[float] = []
    talk = Talk(watching(seen), lease=100.0)
    one, two, three = (talk.join(job) for job in "abc")
    one.post(500.0)
    talk.quiet()
    two.post(5000.0)
    talk.quiet()
    talk.sleep(10.0)
    # Both move 50 bytes/s of the 100 that each could: after 10 s, 5 of them are lost.
    one.complete(500.0)
    talk.quiet()
    assert seen[-1] == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    talk.sleep(10.0)
    three.post(100.0)
    talk.quiet()
    assert seen[-1] == pytest.approx((5.0 / 20.0 + 5.0 / 20.0 + 0.0) / 3)
    two.complete(1500.0)
    two.say(wire.Goodbye())
    talk.quiet()
    assert seen[-1] == pytest.approx((5.0 / 20.0 + 0.0) / 2)


def test_a_job_on_two_routes_counts_once():
    seen: list[float] = []
    talk = Talk(watching(seen), resources=BOTH)
    peers = [talk.join("a", member=member) for member in range(2)]
    peers[0].post(600.0, targets=("x",))
    peers[1].post(600.0, targets=("y",))
    talk.quiet()
    idle = talk.join("b")
    talk.sleep(5.0)
    idle.post(60.0, targets=("x",))
    assert seen[-1] == pytest.approx(0.0)
    assert all(np.isfinite(seen))


def test_places_that_change_and_grow():
    losses = Losses()
    apps = [App(n, f"j{n}", 0, n, release=0.0, progress=float(n), since=100.0) for n in range(40)]
    for app in apps:
        app.members[0] = None
        losses.put(app)
    none = np.zeros(0)
    everybody = losses.mean(200.0, none.astype(np.int64), none, none)
    assert everybody == pytest.approx(sum(100.0 - n for n in range(40)) / 200.0 / 40)
    for app in apps[:20]:
        losses.remove(app)
    for place, app in enumerate(apps[20:]):
        app.place = place
    losses.renew(apps[20:])
    rest = losses.mean(200.0, none.astype(np.int64), none, none)
    assert rest == pytest.approx(sum(100.0 - n for n in range(20, 40)) / 200.0 / 20)
    assert losses.mean(0.0, none.astype(np.int64), none, none) == 0.0


def noted(losses):
    """Lost seconds by place, of those that compute."""
    return {int(place): float(losses._lost[place]) for place in np.flatnonzero(~np.isnan(losses._lost))}


def one_that_computes(place, lost):
    app = App(place, f"j{place}", 0, place, release=10.0, progress=90.0 - lost, since=100.0)
    app.members[0] = None
    return app


def test_nothing_is_left_at_the_places_that_others_had():
    losses = Losses()
    apps = [one_that_computes(place, lost=float(place)) for place in range(40)]
    losses.renew(apps)
    for place, app in enumerate(apps[30:]):
        app.place = place
    losses.renew(apps[30:])
    assert noted(losses) == {place: 30.0 + place for place in range(10)}


def test_who_is_known_no_more_counts_no_more():
    losses = Losses()
    apps = [one_that_computes(place, lost=float(place)) for place in range(3)]
    losses.renew(apps)
    losses.remove(apps[1])
    assert noted(losses) == {0: 0.0, 2: 2.0}
    losses.remove(one_that_computes(1000, lost=1.0))  # never noted: it has not computed yet
    assert noted(losses) == {0: 0.0, 2: 2.0}


def test_the_mean_goes_by_each_age():
    """The one was released at 10 and lost 3 s, the other at 50 and lost 5 s, and that one is shown."""
    losses = Losses()
    losses.put(one_that_computes(0, lost=3.0))
    shown = np.array([1]), np.array([50.0]), np.array([145.0])
    assert losses.mean(200.0, *shown) == pytest.approx((3.0 / 190.0 + 5.0 / 150.0) / 2)
    assert losses.mean(50.5, *shown[:2], np.array([0.0])) == pytest.approx((3.0 / 40.5 + 1.0) / 2)


def test_of_several_routes_only_those_of_the_same_job_are_one():
    losses = Losses()
    jobs, release = np.array([0, 1, 1]), np.array([0.0, 10.0, 10.0])
    assert losses.mean(20.0, jobs, release, np.array([15.0, 4.0, 8.0])) == pytest.approx((5.0 / 20 + 2.0 / 10) / 2)
    alone = losses.mean(20.0, jobs[:2], release[:2], np.array([15.0, 4.0]))
    assert alone == pytest.approx((5.0 / 20 + 6.0 / 10) / 2)


def test_one_that_computes_alone_is_the_mean():
    losses = Losses()
    losses.put(one_that_computes(0, lost=9.0))
    none = np.zeros(0)
    assert losses.mean(100.0, none.astype(np.int64), none, none) == pytest.approx(9.0 / 90.0)


def test_losses_follow_their_jobs_when_ranks_close():
    """More than a thousand jobs come and go; those that stay get other places, and keep what they have lost."""
    seen: list[float] = []
    talk = Talk(watching(seen), lease=1e6, forget=1e6)
    early, late = range(1000, 1040), range(2000, 3160)
    come(talk, early)
    loser, other = talk.join("loser"), talk.join("other")
    talk.step(loser.a_post(500.0), other.a_post(500.0))
    talk.quiet()
    talk.sleep(10.0)
    loser.complete(500.0)
    other.complete(500.0)
    before = talk.state.apps[loser.app].place
    come(talk, late)
    for number in (*early, *late):
        apply(talk, records.Gone(number, 0, ""))
        apply(talk, records.Forgotten(number))
    assert talk.state.apps[loser.app].place < before
    talk.step()  # which checks that each place has the loss of the job that is there now, and no other place has one
    talk.sleep(10.0)
    other.post(100.0)
    assert seen[-1] == pytest.approx((5.0 / 20.0 + 5.0 / 20.0) / 2)


def come(talk: Talk, numbers: range) -> None:
    for number in numbers:
        apply(talk, records.Registered(number, f"x{number}", 1, 0, 1.0, None, 0.0, 0.0, {}, {}))


def apply(talk: Talk, record: records.StateChange) -> None:
    for state in (talk.state, talk.twin):
        state.apply(talk.now, record)


@pytest.mark.parametrize("place", [15, 16, 17])
def test_one_that_was_never_noted_is_removed_all_the_same(place: int) -> None:
    Losses().remove(App(place, "a", 0, place, release=0.0, progress=0.0, since=0.0))
