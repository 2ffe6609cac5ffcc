"""What a policy is asked, and what of its answer is worth telling, by hand: one rule at a time."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from live.core.talk import CAPACITY, Talk
from penstock.errors import PolicyError
from penstock.kernels.arrays import SAME
from penstock.live.core import Resource, decide, records
from penstock.live.core.shares import Share
from penstock.policies.sharing import find
from penstock.policies.sharing.policy import Sharing
from penstock.policies.sharing.view import empty_view

Seen = dict[str, list[float]]
XY = (Resource("x", 60.0, target="x"), Resource("y", 20.0, target="y"))


def alike(seen: list[Seen]) -> Any:
    """Everyone an equal part; keeps what it was shown."""

    def policy(view: Any, rates: Any) -> None:
        names = ("limit", "remaining", "rate", "omega", "posted", "release")
        seen.append({name: getattr(view, name).tolist() for name in names} | {"capacity": [view.capacity]})
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    return policy


# --- what is shown


def test_who_uses_a_part_of_a_resource_is_shown_with_that_part() -> None:
    seen: list[Seen] = []
    talk = Talk(alike(seen), resources=XY)
    both, one = talk.join("a"), talk.join("b")
    talk.step(both.a_post(1000.0, targets=("x", "y")), one.a_post(1000.0, targets=("x",)))
    [on_x] = [each for each in seen if each["capacity"] == [60.0]][:1]
    assert on_x["remaining"] == [500.0, 1000.0] and on_x["limit"] == [20.0, 60.0]


def test_less_than_a_byte_is_shown_as_what_it_is() -> None:
    seen: list[Seen] = []
    Talk(alike(seen)).join("a").post(0.5)
    assert seen[-1]["remaining"] == [0.5]


def test_nobody_is_asked_about_a_resource_that_has_nothing_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Talk()
    talk.join("a").post()
    for left, shown in [(0.5, 1), (0.0, 0), (-1.0, 0)]:
        monkeypatch.setattr(type(talk.state), "grantable", lambda state, k, left=left: left)
        assert len(talk.core.decider._shown(talk.state, np.zeros(1))) == shown


def test_one_that_should_be_done_is_shown_with_a_millisecond_to_go() -> None:
    seen: list[Seen] = []
    talk = Talk(alike(seen), lease=100.0)
    peer = talk.join("a")
    peer.post(100.0)
    talk.quiet()
    talk.now += 5.0
    talk.join("b").post(10.0)
    assert seen[-1]["remaining"] == pytest.approx([1e-3 * CAPACITY, 10.0])


def test_in_later_rounds_all_that_one_could_use_is_shown_or_what_is_left_if_that_is_too_much() -> None:
    asked: list[list[float]] = []

    def greedy(view: Any, rates: Any) -> None:
        asked.append(view.limit.tolist())
        rates[0] = view.limit[0]

    talk = Talk(greedy)
    talk.step(talk.join("a").a_post(), talk.join("b").a_post())
    decider, state = talk.core.decider, talk.state
    [shown] = decider._shown(state, np.zeros(2))

    def granted(limit: list[float], room: float) -> list[float]:
        asked.clear()
        rates = decider._granted(decider.policy, state, shown, np.array([0, 1]), np.array(limit), room, np.zeros(2), [])
        return rates.tolist()

    assert granted([30.0, 40.0], 50.0) == [30.0, 0.0] and asked == [[30.0, 40.0]]
    assert granted([30.0, 60.0], 50.0) == [30.0, 0.0] and asked == [[30.0, 60.0]]
    assert granted([70.0, 60.0], 50.0) == [50.0, 0.0] and asked == [[70.0, 60.0], [50.0, 50.0]]


def test_what_is_known_of_operations_that_were_announced() -> None:
    view = empty_view(3, np.zeros(0), np.zeros(0))
    view.limit[:], view.remaining[:], view.posted[:], view.omega[:] = 10.0, [50, 20, 30], [1, 2, 3], [8.0, 1.0, nan]
    told = decide.announced(view)
    assert told.names == ("0", "1", "2") and told.first.tolist() == [0, 1, 2, 3]
    assert told.start.tolist() == [1.0, 2.0, 3.0] and told.operations.tolist() == [1.0] * 3
    assert told.seconds.tolist() == told.mean_seconds.tolist() == [5.0, 2.0, 3.0]
    assert told.mean_work.tolist() == [3.0, 0.0, 0.0]  # ω without the operation itself
    assert not told.work.any() and not told.rest.any()


def test_a_digest_knows_volumes_that_were_predicted() -> None:
    view = empty_view(2, np.zeros(0), np.zeros(0))

    def digest(*confidence: float) -> int:
        shown = view._replace(confidence=np.array(confidence))
        return decide._digest([decide.Shown(0, "all", np.arange(2), shown)])

    assert len({digest(1.0, 1.0), digest(0.5, 1.0), digest(1.0, 0.5), digest(0.5, 0.5)}) == 4
    assert digest(1.0, 1.0) == 44249112821240701  # as before there were any, so that old records can be compared


# --- what may be answered


def test_an_answer_fits_but_for_rounding() -> None:
    view = empty_view(2, np.zeros(0), np.zeros(0))._replace(capacity=4.0)
    view.limit[:] = [3.0, 2.0]
    for given, fits in [
        ((3.0 * (1 + SAME), 1.0), True),
        ((3.0 * (1 + 3 * SAME), 0.0), False),
        ((2.0 * (1 + SAME), 2.0 * (1 + SAME)), True),
        ((2.0 * (1 + 3 * SAME), 2.0), False),
        ((0.0, 0.0), True),
        ((-1e-300, 1.0), False),
        ((nan, 1.0), False),
    ]:
        assert decide._proper(view, np.array(given)) == fits, given


@pytest.mark.parametrize(
    ("every", "accepted"), [(None, True), (1e-3, True), (0.9e-3, False), (inf, False), (nan, False)]
)
def test_how_often_a_policy_may_be_asked(every: float | None, accepted: bool) -> None:
    outlooks: list[Any] = []

    def ticks(outlook: Any, settings: Any) -> float | None:
        outlooks.append(outlook)
        return every

    policy = replace(find("fair-share"), ticks=ticks)
    settings: Any = SimpleNamespace(window_end=None)
    if accepted:
        assert decide.tick_of(policy, settings) == every
    else:
        with pytest.raises(PolicyError, match="or more is accepted"):
            decide.tick_of(policy, settings)
    assert tuple(outlooks[0]) == (0.0, inf, 0)


def test_a_policy_that_cannot_say_how_often_is_named() -> None:
    def ticks(outlook: Any, settings: Any) -> float | None:
        raise ValueError("no idea")

    with pytest.raises(PolicyError, match=r"sharing policy 'fair-share' raised ValueError: no idea \(line \d+\)"):
        decide.tick_of(replace(find("fair-share"), ticks=ticks), SimpleNamespace(window_end=None))  # type: ignore[arg-type]


def test_users_may_have_less_than_a_byte_each() -> None:
    talk = Talk(resources=(Resource("all", 1.0),), shares=(Share("", 1000, 1.0),))
    peers = [talk.join(job, uid=uid) for job, uid in (("a", 1000), ("b", 1001))]
    talk.step(*(peer.a_post() for peer in peers))
    talk.quiet()
    assert [peer.rate for peer in peers] == [0.5, 0.5]


def test_a_policy_remembers_what_it_noted_in_the_first_round() -> None:
    """On x it is asked again once y has settled what the first job gets."""
    asked: list[float] = []

    def noting(view: Any, rates: Any) -> None:
        asked.append(view.capacity)
        view.memory[view.application] = view.capacity
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    talk = Talk(Sharing("noting", noting, noting, False, "", "test", {}, memory=1), resources=XY)
    uses = [("x", "y"), ("x",), ("y",)]
    talk.step(*(talk.join(name).a_post(1000.0, targets=each) for name, each in zip("abc", uses, strict=True)))
    assert asked == [60.0, 20.0, 50.0]
    [decision] = talk.made(records.RatesDecided)
    assert decision.memory == [("x", 0, 60.0), ("x", 1, 60.0), ("y", 0, 20.0), ("y", 2, 20.0)]


def test_what_is_remembered_may_be_no_number_at_times() -> None:
    notes = [0.0] * 3

    def noting(view: Any, rates: Any) -> None:
        view.memory[:] = notes[: view.memory.size]
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    talk = Talk(Sharing("noting", noting, noting, False, "", "test", {}, memory=1))
    talk.step(*(talk.join(name).a_post() for name in "abc"))
    decider, state = talk.core.decider, talk.state
    state.memory.width, state.memory.numbers = 1, {"all": np.array([nan, nan, 1.0])}
    notes[:] = [nan, 5.0, nan]
    [shown] = decider._shown(state, np.zeros(3))
    changes: list[decide.Change] = []
    decider._answer(decider.policy, state, "all", shown.view, changes)
    assert [index for _, index, _ in changes] == [1, 2] and changes[0] == ("all", 1, 5.0)


def test_how_many_numbers_a_policy_remembers_of_each_job() -> None:
    assert decide.Decider(find("set-10"))._width == 2
    assert decide.Decider(find("fcfs"))._width == 0
    assert decide.Decider(find("list-shortest-io"))._width == 0  # it plans anew at each decision


def test_a_policy_without_a_memory_is_shown_none() -> None:
    sizes: list[int] = []

    def forgetful(view: Any, rates: Any) -> None:
        sizes.append(view.memory.size)
        rates[:] = np.minimum(view.limit, view.capacity / rates.size)

    Talk(forgetful).join("a").post()
    assert set(sizes) == {0}


def test_within_the_part_of_a_user_nobody_can_use_more_than_before() -> None:
    talk = Talk(shares=())
    peers = [talk.join(job, uid=uid, cap=cap) for job, uid, cap in (("a", 1, 10.0), ("b", 1, 100.0), ("c", 2, 100.0))]
    talk.step(*(peer.a_post(1e9) for peer in peers))
    talk.quiet()
    assert [peer.rate for peer in peers] == pytest.approx([50 * 10 / 60, 50 * 50 / 60, 50])  # limits of 10 and 50


# --- floors


def above_floors(policy: Any, floors: list[float], monkeypatch: pytest.MonkeyPatch) -> tuple[list[float], list[float]]:
    """What the policy wants for jobs with these floors, of 100, and the floors that were set aside."""
    talk = Talk(policy)
    talk.step(*(talk.join(f"j{n}").a_post(1e6) for n in range(len(floors))))
    with monkeypatch.context() as patch:
        patch.setattr(decide, "_floors", lambda state: np.array(floors))
        answer = talk.core.decider._above_floors(talk.core.decider.policy, talk.state)
    return answer.wanted.tolist(), answer.floors.tolist()


def test_a_floor_that_is_just_met_is_not_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    # Of 80 each of four would have 20, as much as the floor.
    assert above_floors(alike([]), [20.0, 0.0, 0.0, 0.0], monkeypatch) == ([25.0] * 4, [0.0] * 4)
    assert above_floors(alike([]), [0.5, 0.0], monkeypatch) == ([50.0] * 2, [0.0] * 2)


def test_nor_is_one_that_is_just_met_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_20(view: Any, rates: Any) -> None:
        rates[:] = (view.capacity - 20.0) / max(1, rates.size - 1)
        rates[view.application == 0] = 20.0

    assert above_floors(first_20, [20.0, 0.0], monkeypatch) == ([20.0, 80.0], [0.0, 0.0])


def test_one_floor_may_be_needed_and_another_not(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first has 30 by the policy, the second nothing, the third the rest.
    def policy(view: Any, rates: Any) -> None:
        for row, place in enumerate(view.application):
            rates[row] = {0: 30.0, 1: 0.0}.get(int(place), view.capacity - 30.0)

    assert above_floors(policy, [10.0, 10.0, 0.0], monkeypatch) == ([30.0, 0.0, 60.0], [0.0, 10.0, 0.0])


def test_a_floor_that_is_met_only_because_it_is_set_aside_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    # With 90 to share the first gets 10, its floor; with 100 it would get 5.
    def policy(view: Any, rates: Any) -> None:
        first = 10.0 if view.capacity < 100.0 else 5.0
        rates[:] = view.capacity - first
        rates[view.application == 0] = first

    assert above_floors(policy, [10.0, 0.0], monkeypatch) == ([10.0, 80.0], [10.0, 0.0])


def test_all_floors_must_be_met_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    # With 80 to share both have 10, their floors; with 100 the second would have 5.
    def policy(view: Any, rates: Any) -> None:
        second = 10.0 if view.capacity < 100.0 else 5.0
        for row, place in enumerate(view.application):
            rates[row] = {0: 10.0, 1: second}.get(int(place), view.capacity - 10.0 - second)

    assert above_floors(policy, [10.0, 10.0, 0.0], monkeypatch) == ([10.0, 10.0, 60.0], [10.0, 10.0, 0.0])


def test_no_floor_is_above_what_one_can_use() -> None:
    def nothing(view: Any, rates: Any) -> None:
        pass

    talk = Talk(nothing, max_wait=2.0, floor=7.0)
    peer, quick = talk.join("a", cap=3.0), talk.join("b")
    peer.post()
    talk.now += 1.0
    quick.post()
    talk.now += 1.5
    talk.step()
    talk.quiet()
    assert (peer.rate, quick.rate) == (3.0, 0.0)  # the other has not waited for long enough


# --- what is worth telling


def told(
    before: list[float], wanted: list[float], outside: float = 0.0, epsilon: float = 0.1, share: Any = None
) -> Any:
    """Which of some rows hear of a decision; together they may have 100."""
    count = len(before)
    rows = SimpleNamespace(wanted=np.array(before), count=count, share=np.array([share or [1.0] * count]))
    state: Any = SimpleNamespace(
        rows=rows,
        settings=SimpleNamespace(epsilon=epsilon),
        charges=SimpleNamespace(outside=lambda: [outside]),
        capacity=[100.0],
        grantable=lambda k: 100.0,
    )
    return decide._worth_telling(state, np.array(wanted)).tolist()


def test_small_changes_are_left_to_the_next_renewal() -> None:
    assert told([10.0, 10.0, 10.0], [11.0, 11.1, 8.9]) == [False, True, True]
    assert told([0.0, 0.0, 1e-9], [0.0, 1e-9, 0.0]) == [False, True, True]
    assert told([10.0, 10.0], [10.0, 10.001], epsilon=0.0) == [False, True]


def test_small_decreases_are_told_if_the_increases_would_not_fit_otherwise() -> None:
    assert told([60.0, 40.0], [54.5, 45.5]) == [True, True]
    assert told([60.0, 30.0], [54.5, 40.0]) == [False, True]  # it just fits
    assert told([60.0, 30.0], [54.5, 40.0], outside=1.0) == [True, True]
    assert told([60.0, 30.0], [54.5, 40.5]) == [True, True]  # half a byte too many
    # 4 too many: the largest two decreases, 2.5 and 2, are enough.
    assert told([30.0, 30.0, 30.0, 10.0], [28.0, 29.0, 27.5, 14.0]) == [True, False, True, True]
    # 2 too many, half of which counts: 30 + 30 + 30 + 14 on this resource.
    assert told([60.0, 60.0, 30.0, 10.0], [57.0, 58.0, 30.0, 14.0], share=[0.5, 0.5, 1.0, 1.0]) == [True] * 2 + [
        False,
        True,
    ]
    assert told([90.0, 10.0], [85.0, 10.0 + 5e-8], outside=0.0) == [False, False]  # rounding
