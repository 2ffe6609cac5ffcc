"""Phases that nobody announced: where they begin and end, and what is thought of their volume."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from penstock.client.agent.phase_watch import (
    CLOSED,
    QUIET,
    UNASKED,
    WAITS,
    Begun,
    More,
    News,
    Over,
    PhaseWatch,
    Reading,
    Refill,
)
from penstock.wire.guesses import FIRST, LEARNT, UNKNOWN

MIB = float(1 << 20)


def all_news(watch: PhaseWatch, t: float, seen: Reading) -> list[News]:
    found = []
    while (news := watch.look(t, seen)) is not None:
        found.append(news)
        assert len(found) < 10
    return found


def test_a_burst_below_what_is_free_is_no_phase() -> None:
    watch = PhaseWatch()
    assert all_news(watch, 10.0, Reading(3 * MIB, last=9.9)) == []
    assert all_news(watch, 10.8, Reading(3 * MIB, last=9.9)) == []
    assert all_news(watch, 9.9 + QUIET, Reading(3 * MIB, last=9.9)) == [Refill()]
    assert all_news(watch, 20.0, Reading(3 * MIB, last=9.9)) == []


def test_the_first_that_waits_begins_a_phase_with_all_of_its_burst() -> None:
    watch = PhaseWatch()
    seen = Reading(UNASKED, last=10.0, want=10.0)
    assert all_news(watch, 10.01, seen) == [Begun(FIRST, UNKNOWN, 0.0)]
    assert watch.open and watch.base == 0.0


def test_more_than_was_guessed_doubles_the_guess() -> None:
    watch = PhaseWatch()
    all_news(watch, 10.0, Reading(UNASKED, 10.0, 10.0))
    assert all_news(watch, 11.0, Reading(FIRST + 1, 11.0, 11.0)) == [More(FIRST)]
    assert all_news(watch, 12.0, Reading(9 * FIRST, 12.0, 12.0)) == [More(8 * FIRST)]
    assert watch.volume == 10 * FIRST


def test_a_second_without_bytes_ends_it_unless_somebody_waits() -> None:
    watch = PhaseWatch()
    all_news(watch, 10.0, Reading(UNASKED, 10.0, 10.0))
    assert all_news(watch, 12.0, Reading(50 * MIB, last=10.5, want=12.0)) == []  # at rate 0
    assert all_news(watch, 10.5 + 0.9 * QUIET, Reading(50 * MIB, last=10.5, want=10.5)) == []
    over = all_news(watch, 12.0 + WAITS + 0.01, Reading(50 * MIB, last=10.5, want=12.0))
    assert over == [Over(50 * MIB)]
    assert watch.base == 50 * MIB and not watch.open


def test_a_quarter_of_a_second_after_the_last_close_ends_it() -> None:
    watch = PhaseWatch()
    all_news(watch, 10.0, Reading(UNASKED, 10.0, 10.0))
    closed = Reading(50 * MIB, last=10.5, want=10.2, closed=10.52)
    assert all_news(watch, 10.52 + 0.9 * CLOSED, closed) == []
    assert all_news(watch, 10.52 + CLOSED, closed) == [Over(50 * MIB)]
    # A file that was closed before the last byte says nothing.
    all_news(watch, 20.0, Reading(60 * MIB, 20.0, 20.0))
    assert all_news(watch, 20.5, Reading(70 * MIB, last=20.1, want=20.1, closed=20.05)) == []


def phase(watch: PhaseWatch, t: float, moved: float) -> tuple[float, Begun]:
    """One phase of so many bytes; when it is over, and how it began."""
    before = watch.base
    [begun] = all_news(watch, t, Reading(before + UNASKED, t, t))
    all_news(watch, t + 1.0, Reading(before + moved, t + 1.0, t + 1.0))
    assert all_news(watch, t + 3.0, Reading(before + moved, t + 1.0, t + 1.0)) == [Over(moved)]
    assert isinstance(begun, Begun)
    return t + 3.0, begun


def test_three_phases_tell_the_next_and_that_they_agree_makes_it_sure() -> None:
    watch, t = PhaseWatch(), 10.0
    seen = []
    for moved in (100 * MIB, 300 * MIB, 200 * MIB, 210 * MIB, 190 * MIB, 200 * MIB):
        t, begun = phase(watch, t, moved)
        seen.append((begun.volume, begun.confidence))
    assert seen[:3] == [(FIRST, UNKNOWN)] * 3
    assert seen[3] == (200 * MIB, UNKNOWN)  # 100, 300, 200
    assert seen[4] == (210 * MIB, UNKNOWN)  # 300, 200, 210: 300 is not within 20 %
    assert seen[5] == (200 * MIB, LEARNT)  # 200, 210, 190


def test_what_its_user_said_counts_for_more_than_what_it_moved() -> None:
    watch, t = PhaseWatch(expected=5e9), 10.0
    for _ in range(5):
        t, begun = phase(watch, t, 100 * MIB)
        assert (begun.volume, begun.confidence) == (5e9, 1.0)


def test_what_a_program_announces_counts_until_it_says_that_it_is_over() -> None:
    watch = PhaseWatch()
    assert all_news(watch, 10.0, Reading(0.0, announced=8e9)) == [Begun(8e9, 1.0, 0.0)]
    assert all_news(watch, 30.0, Reading(MIB, last=11.0, announced=8e9)) == []
    assert all_news(watch, 31.0, Reading(MIB, last=11.0, announced=9e9)) == [More(1e9)]
    assert all_news(watch, 32.0, Reading(MIB, last=11.0)) == [Over(MIB)]
    assert watch.volumes == []


def test_one_that_is_killed_while_it_waits_leaves_no_phase() -> None:
    watch = PhaseWatch()
    assert all_news(watch, 10.0, Reading(0.0, want=10.0)) == [Begun(FIRST, UNKNOWN, 0.0)]
    assert all_news(watch, 10.0 + WAITS + 0.01, Reading(0.0, want=10.0)) == [Over(0.0)]


looks = st.lists(
    st.tuples(st.floats(0.001, 2.0), st.integers(0, 1 << 28), st.booleans(), st.booleans()), min_size=1, max_size=60
)


@given(looks)
def test_phases_and_bursts_are_all_bytes_once(steps: list[tuple[float, int, bool, bool]]) -> None:
    """However bytes come: every byte is in one phase or one burst, phases do not overlap, announcements suffice."""
    watch = PhaseWatch()
    t, moved, last, want, closed = 100.0, 0.0, -inf, -inf, -inf
    counted, volume, opened = 0.0, 0.0, False
    for pause, more, waits, closes in steps:
        t += pause
        if more:
            moved, last = moved + more, t
        want = t if waits else want
        closed = t if closes else closed
        for news in all_news(watch, t, Reading(moved, last, want, closed)):
            match news:
                case Begun(guess, confidence, base):
                    assert not opened and base == counted and 0.0 < confidence <= 1.0
                    assert t - want <= WAITS
                    opened, volume = True, guess
                case More(extra):
                    assert opened and extra > 0.0
                    volume += extra
                case Over(done):
                    assert opened and 0.0 <= done <= volume
                    assert t - want > WAITS
                    opened, counted = False, counted + done
                case Refill():
                    assert not opened and t - last >= QUIET
                    counted = moved
        assert opened == watch.open
        if opened:
            assert moved - watch.base <= volume == watch.volume
        assert counted == watch.base
