"""A job that waits reads so in its own log, once in a while, and nothing else changes by it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from live.core.talk import CAPACITY, Peer, Talk
from penstock.live.core import Core, notices
from penstock.live.core.forecast import forecasts
from penstock.live.core.notices import Notices
from penstock.live.core.pieces import Pieces, whole
from penstock.wire import messages as wire

BEAT = 2.0
LONG = 1e5  # bytes: a thousand seconds of all there is


def talk_of(policy: str = "fcfs", contact: str = "help@site", **given: Any) -> Talk:
    talk = Talk(policy, machine_nodes=1000, **given)
    talk.core.contact, talk.core.opt_out = contact, "PENSTOCK=off"
    return talk


def go_on(talk: Talk, peers: list[Peer], seconds: float) -> list[tuple[float, int, str]]:
    """Everybody beats, and moves as told; when which session was told what."""
    found = []
    notices = Notices()
    done = dict.fromkeys(peers, 0.0)
    for _ in range(round(seconds / BEAT)):
        talk.sleep(BEAT)
        for peer in peers:
            done[peer] += peer.rate * BEAT
            peer.beat(done[peer])
            if notices.is_time(talk.core):
                found += [(talk.now, session, each.text) for session, each in whole(notices.look(talk.core))]
    return found


def one_behind_another(talk: Talk) -> list[Peer]:
    first, second = talk.join("first", uid=1), talk.join("second", uid=2)
    first.post(LONG)
    first.ack()
    second.post(500.0)
    second.ack()
    assert (first.rate, second.rate) == (CAPACITY, 0.0)
    return [first, second]


def test_who_waits_is_told_after_ten_seconds_and_then_once_a_minute() -> None:
    talk = talk_of()
    peers = one_behind_another(talk)
    told = go_on(talk, peers, 150.0)
    times = [time for time, _, _ in told]
    assert {session for _, session, _ in told} == {peers[1].session}
    assert len(times) == 3 and 10.0 <= times[0] < 10.0 + 2 * BEAT
    assert all(60.0 <= late - early < 60.0 + 2 * BEAT for early, late in pairwise(times))


def test_it_says_when_behind_how_many_how_sure_whom_to_ask_and_the_way_out() -> None:
    talk = talk_of(max_wait=5000.0)
    ((_, _, text),) = go_on(talk, one_behind_another(talk), 20.0)
    assert text == (
        "this job has waited for 10 s to move bytes: the phase begins in 16 min, ends in 17 min (fairly sure: "
        "13 min to 20 min), behind a job of another user with 99 kB to go, if nobody new comes, and policy and "
        "capacities stay. Questions: help@site. Unpaced: PENSTOCK=off."
    )


def test_one_of_many_members_hears_it_and_all_jobs_that_wait_hear_it_by_one_forecast(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def counted(core: Core) -> Pieces[dict[int, dict[str, Any]]]:
        made.append(core.state.now)
        return forecasts(core)

    monkeypatch.setattr(notices, "forecasts", counted)
    talk = talk_of()
    peers = one_behind_another(talk)
    for job in ("second", "third"):
        peers.append(talk.join(job, uid=2, member=5))
        peers[-1].post(500.0)
        peers[-1].ack()
    told = go_on(talk, peers, 20.0)
    assert len(told) == 2 and {session for _, session, _ in told} <= {peer.session for peer in peers[1:]}
    assert len(made) == 1


def test_who_moves_little_does_not_wait() -> None:
    talk = talk_of("fair-share")
    peers = [talk.join(job) for job in "ab"]
    for peer in peers:
        peer.post(LONG)
        peer.ack()
    assert not go_on(talk, peers, 30.0)


def test_nobody_is_told_where_nobody_can_be_asked_or_nobody_is_paced() -> None:
    talk = talk_of(contact="")
    assert not go_on(talk, one_behind_another(talk), 30.0)
    talk = talk_of()
    peers = one_behind_another(talk)
    operator = talk.connect(role="admin")
    talk.say(operator, wire.Admin(1, "mode", {"mode": "monitor"}))
    assert not go_on(talk, peers, 30.0)


def test_with_too_many_phases_it_says_that_nothing_is_foreseen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.live.core.forecast.MOST_ROWS", 1)
    talk = talk_of()
    ((_, _, text),) = go_on(talk, one_behind_another(talk), 20.0)
    assert "to move bytes: its end cannot be foreseen, behind 1 job with 99 kB to go. Questions" in text


def test_nothing_but_the_words_changes() -> None:
    """The same records at the same times, the same rates, and the same times to be woken at."""

    def told(contact: str) -> tuple[list[Any], list[list[wire.Rate]], float, int]:
        talk = talk_of("greedy-yield", contact, max_wait=45.0)
        peers = one_behind_another(talk)
        count = len(go_on(talk, peers, 120.0))
        return talk.records, [peer.told for peer in peers], talk.wake, count

    silent, speaking = told(""), told("help@site")
    assert silent[:3] == speaking[:3]
    assert (silent[3], speaking[3] > 0) == (0, True)


def test_jobs_of_ones_own_are_named_and_others_are_counted() -> None:
    talk = talk_of(max_wait=5000.0)
    peers = [talk.join(job, uid=uid) for job, uid in (("secret", 1), ("mine", 2), ("hidden", 3), ("last", 2))]
    for peer in peers:
        peer.post(LONG)
        peer.ack()
    told = {session: text for _, session, text in go_on(talk, peers, 20.0)}
    assert "behind a job of another user with 99 kB to go" in told[peers[1].session]
    assert "behind 2 jobs of other users with 199 kB to go" in told[peers[2].session]
    assert "behind mine and 2 jobs of other users with 299 kB to go" in told[peers[3].session]
    assert not any(word in text for text in told.values() for word in ("secret", "hidden"))
