"""Places that are numbered anew, and the order in which those who wait are served."""

from __future__ import annotations

import random

import pytest

from live.core.talk import Talk, lost_by_place
from penstock.live.core import App, Member, dispatch
from penstock.live.core.apply import presence


def test_the_losses_of_those_who_compute_move_with_their_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "_SPARE_PLACES", 2)
    talk = Talk()
    early = [talk.join(f"early {number}") for number in range(8)]
    kept = talk.join("kept")
    kept.post(100.0)
    talk.quiet()
    talk.sleep(3.0)
    kept.complete(100.0)
    place = kept.member.app.place
    before = lost_by_place(talk.state)[place]
    assert before > 0.0
    for peer in early:
        peer.cut()
    talk.sleep(3 * talk.settings.waiting)
    assert (moved := kept.member.app.place) < place
    assert lost_by_place(talk.state) == {moved: pytest.approx(before)}


def member(rate: float, posted: float, place: int, number: int) -> Member:
    app = App(place, "job", 1000, place, 0.0, 0.0, 0.0)
    app.posted = posted
    made = Member(app, number, 1.0)
    made.rate = rate
    return made


def test_who_has_nothing_is_served_first_then_who_came_first() -> None:
    ranked = [
        member(0.0, 1.0, 5, 1),
        member(0.0, 2.0, 1, 9),
        member(0.0, 3.0, 1, 2),
        member(0.0, 3.0, 2, 1),
        member(0.0, 3.0, 2, 3),
        member(0.5, 0.0, 0, 0),
        member(0.1, 4.0, 0, 0),
    ]
    mixed = ranked.copy()
    random.Random(1).shuffle(mixed)
    assert sorted(mixed, key=dispatch._turn) == ranked


@pytest.mark.parametrize("first", ["b", "c"])
def test_scarce_room_goes_to_who_posted_first(first: str) -> None:
    """Room for one of two: it is the earlier one's, whatever their numbers are."""
    talk = Talk()
    large, small = talk.join("large", cap=60.0), talk.join("small", cap=40.0)
    gone = talk.join("gone", cap=0.001)
    for peer in (large, small, gone):
        peer.post(1e9)
    talk.quiet()
    waiting = {name: talk.join(name, cap=100.0) for name in ("b", "c")}
    second = "c" if first == "b" else "b"
    for name in (first, second):
        talk.sleep(0.1)
        waiting[name].post(1e9)
    for peer in waiting.values():
        peer.ack()
    gone.complete(0.0)  # the last of the rows takes the place of this one, so they are in another order
    small.ack()
    assert waiting[first].rate > 0.0 == waiting[second].rate
