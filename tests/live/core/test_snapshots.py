"""States as bytes and back: nothing is lost, no order changes, and a crowd is packed before anybody notices."""

from __future__ import annotations

import time

from penstock.live.core import ControllerSettings, ControllerState, Resource, Stage
from penstock.live.core import records as to
from penstock.wire.messages import FREE

SITES = (Resource("x", 1e12, "x"), Resource("y", 1e12, "y"))


def begun(resources: tuple[Resource, ...] = SITES) -> ControllerState:
    state = ControllerState(ControllerSettings(resources=resources, machine_nodes=20_000))
    state.apply(0.0, to.Started(1, 0.0, True, {each.name: each.capacity for each in resources}, "fair-share"))
    return state


def join(state: ControllerState, t: float, app: int, member: int) -> None:
    fallback = {resource.name: 5e7 for resource in state.settings.resources}
    state.apply(t, to.Registered(app, f"job {app}", 1000, member, 1.0, 1e9, 0.5, 0.0, {"user": "u"}, fallback))


def post(state: ControllerState, t: float, app: int, member: int, rate: float, *targets: str, flags: int = 0) -> None:
    rev = state.rev + 1
    state.apply(t, to.Posted(app, member, 1, 1e10, "write", targets, 1.0, None, 0.25, 0.0, rev))
    state.apply(t, to.Granted(app, member, 1, rev + 1, rate, flags))
    if not flags:
        state.apply(t, to.Acked(app, member, 1, rev + 1, rate))
        state.apply(t + 1.0, to.Progressed(app, member, 0.1 * rate))


def back(state: ControllerState) -> ControllerState:
    found = ControllerState.restore(state.snapshot(), state.settings)
    assert found.snapshot() == state.snapshot()
    return found


def test_members_stay_in_their_rows_in_the_order_they_came() -> None:
    state = begun()
    for app in (1, 2):
        for member in (1, 2, 3, 4):
            join(state, 0.1 * member, app, member)
    both = ("x", "y")
    for app, member, targets in ((2, 3, ("x",)), (1, 4, both), (2, 1, ("x",)), (2, 4, ("y",)), (1, 2, both)):
        post(state, 10.0 + member, app, member, 0.1 * member, *targets)
    found = back(state)
    rows = [(row.key, list(row.members)) for row in found.rows.rows]
    assert rows == [(row.key, list(row.members)) for row in state.rows.rows]
    assert [members for _, members in rows] == [[3, 1], [4, 2], [4]]
    assert found.charges.used == state.charges.used
    for row in found.rows.rows:
        assert all(member.row is row and member.app is row.app for member in row.members.values())


def test_whoever_is_not_in_a_row_is_kept_too() -> None:
    state = begun()
    for app in (1, 2, 3, 4):
        join(state, 0.5, app, 7)
    post(state, 10.0, 2, 7, 1e8)
    post(state, 10.0, 3, 7, 1e9, "y", flags=FREE)
    post(state, 10.0, 4, 7, 1e8)
    state.apply(12.0, to.Orphaned(2, 7))
    state.apply(20.0, to.Expired(4, 7))
    found = back(state)
    idle, orphan, free, lost = (found.apps[app].members[7] for app in (1, 2, 3, 4))
    assert (idle.stage, orphan.stage, free.stage, lost.stage) == (
        Stage.IDLE,
        Stage.ORPHAN,
        Stage.POSTED,
        Stage.LOST,
    )
    assert idle.op is None and orphan.op is not None and orphan.row is None
    assert free.free == (1, free.rev) and free.unpaced and list(free.revs) == list(state.apps[3].members[7].revs)
    assert lost.charge == 5e7 and lost.lost_at == 20.0
    assert found.charges.outside() == state.charges.outside()


def test_an_empty_state_is_packed() -> None:
    assert back(begun()).epoch == 1


def test_ten_thousand_leases_are_packed_in_a_moment() -> None:
    """Nobody is answered meanwhile: 15 ms, and four times that on a slow machine; a restart takes 0.25 s of its two."""
    state = begun(SITES[:1])
    for app in range(1, 10_001):
        join(state, 1e-4 * app, app, 1)
    for app in range(1, 10_001):
        post(state, 10.0 + 1e-4 * app, app, 1, 1e6 + app)

    def best(act: object) -> float:
        times = []
        for _ in range(5):
            began = time.thread_time()
            act()  # type: ignore[operator]
            times.append(time.thread_time() - began)
        return min(times)

    data = state.snapshot()
    assert best(state.snapshot) < 0.06
    assert best(lambda: ControllerState.restore(data, state.settings)) < 1.0
