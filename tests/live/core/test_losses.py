"""What a policy is shown of the losses of all: of those that compute, too, and of a job with several routes once."""

from __future__ import annotations

import numpy as np
import pytest

from live.core.talk import Talk
from penstock.live.core import Resource
from penstock.live.core.losses import Losses
from penstock.live.core.members import App
from penstock.policies.sharing.policy import Sharing
from penstock.wire import messages as wire

BOTH = (Resource("x", 60.0, target="x"), Resource("y", 60.0, target="y"))


def watching(seen: list[float]) -> Sharing:
    def decide(view, rates):  # type: ignore[no-untyped-def]
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
        app.members[0] = None  # type: ignore[assignment]
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
