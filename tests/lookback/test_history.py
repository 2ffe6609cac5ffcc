"""Who moved how much over time: the same bytes as the phases say, in as many pieces as are asked for."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookback.stories import WALL, Story
from penstock.live.core.events import Connected, Frame, Identity
from penstock.lookback.history import History, history
from penstock.lookback.phases import Phases
from penstock.lookback.walk import walk
from penstock.wire.messages import Admin, Complete, Post


@pytest.fixture
def story(tmp_path):
    """A alone for two seconds, both at half for four, B alone for two."""
    told = Story(tmp_path / "journal")
    told.register("a")
    told.register("b")
    told.say("a", Post(2, 1, 1, 400.0))
    told.wait(2, a=200.0)
    told.say("b", Post(2, 1, 1, 400.0))
    told.wait(4, a=400.0, b=200.0)
    told.say("a", Complete(1, 400.0))
    told.wait(2, b=400.0)
    told.say("b", Complete(1, 400.0))
    return told


def rows(found):
    """By piece, then job: the part and the rate."""
    names = {int(app): name for app, (name, *_) in found["jobs"].items()}
    return [
        (round(at - WALL), {names[app]: (part, rate) for app, part, _, rate in jobs})
        for at, _, jobs in found["samples"]
    ]


def test_rates_and_parts_by_piece(story):
    story.end()
    found = history(story.folder, WALL, WALL + 10, 5).to_dict()
    half = (0.5, 50)
    assert found["resources"] == ["all"] and found["hidden"] == 0
    assert rows(found) == [
        (0, {"a": (1.0, 100)}),
        (2, {"a": half, "b": half}),
        (4, {"a": half, "b": half}),
        (6, {"b": (1.0, 100)}),
        (8, {}),
    ]


@given(st.integers(1, 40), st.floats(-3.0, 6.0), st.floats(0.5, 20.0))
def test_no_byte_is_lost_or_counted_twice_however_time_is_cut(pieces, begin, length):
    found = History(WALL + begin, WALL + begin + length, pieces)
    for start, stop, rate in ((0.0, 2.0, 100.0), (2.0, 7.5, 50.0)):
        cut = list(found._pieces(max(WALL + start, found.begin), min(WALL + stop, found.end)))
        inside = max(0.0, min(stop, begin + length) - max(start, begin))
        assert sum(seconds for _, seconds in cut) * rate == pytest.approx(inside * rate, abs=1e-3)
        assert all(0 <= piece < pieces and 0.0 <= seconds <= found.width * (1 + 1e-6) for piece, seconds in cut)


@given(st.floats(1.7e9, 1.9e9), st.integers(2, 3000), st.floats(0.0, 1.0))
def test_time_is_cut_to_an_end_by_todays_clock_into_pieces_of_any_length(begin, length, start):
    found = History(begin, begin + length, 360)
    cut = list(islice(found._pieces(begin + start * length, begin + length), 1000))
    assert len(cut) <= 361
    assert sum(seconds for _, seconds in cut) == pytest.approx((1.0 - start) * length, abs=1e-5)


def test_it_adds_up_to_what_phases_were_given(story):
    story.end()
    phases = Phases()
    walk(story.folder, phases)
    phases.finish()
    given_bytes = {phase.job: phase.given for phase in phases.all}
    for pieces in (1, 7, 100):
        found = history(story.folder, WALL, WALL + 10, pieces)
        summed = {job.name: sum(sum(moved.values()) for moved in job.moved.values()) for job in found.jobs.values()}
        assert summed == pytest.approx(given_bytes)


def test_a_controller_that_was_away_while_jobs_were_active_leaves_a_band_and_a_mark(tmp_path):
    told = Story(tmp_path / "journal")
    told.register("a")
    told.say("a", Post(2, 1, 1, 400.0))
    told.wait(1, a=100.0)
    told.die()
    told.at += 5.0
    told.begin()
    told.wait(1)
    told.end()
    found = history(told.folder, WALL, WALL + 20, 20).to_dict()
    ((gone, back),) = found["away"]
    assert (gone - WALL, back - WALL) == pytest.approx((1.0, 6.0), abs=0.6)
    assert [words for _, words in found["marks"]] == ["a controller started, epoch 1", "a controller started, epoch 2"]


def test_idle_hours_before_a_restart_are_no_outage(story):
    story.die()
    story.at += 3600.0
    story.begin()
    story.end()
    assert history(story.folder, WALL, WALL + 4000, 20).to_dict()["away"] == []


def test_what_operators_change_is_marked(story):
    operator = 99
    story._turn(Connected(operator, Identity("peer", 0, "admin")))
    story._turn(Frame(operator, Admin(1, "policy", {"name": "fcfs"})))
    story._turn(Frame(operator, Admin(2, "exempt", {"add": "somebody"})))
    story._turn(Frame(operator, Admin(3, "capacity", {"resource": "all", "capacity": 20e6})))
    story._turn(Frame(operator, Admin(4, "drain", {"on": True})))
    story.end()
    marks = history(story.folder, WALL, WALL + 20).to_dict()["marks"]
    assert [words for _, words in marks] == [
        "a controller started, epoch 1",
        "policy fcfs",
        "capacity of the file system: 20 MB/s",
        "draining",
    ]
    assert history(story.folder, WALL + 9, WALL + 20).to_dict()["marks"] == []


def test_the_past_is_beside_the_capacity_of_then(story):
    operator = 99
    story._turn(Connected(operator, Identity("peer", 0, "admin")))
    story._turn(Frame(operator, Admin(1, "capacity", {"resource": "all", "capacity": 50.0})))
    story.end()
    found = history(story.folder, WALL + 1, WALL + 20).to_dict()["capacities"]
    assert [(at - WALL, there) for at, there in found] == [(1.0, {"all": 100.0}), (pytest.approx(8.0), {"all": 50.0})]


def test_jobs_that_are_not_shown_are_in_what_others_were_granted(story, monkeypatch):
    story.end()
    monkeypatch.setattr("penstock.lookback.history.MOST_JOBS", 1)
    found = history(story.folder, WALL, WALL + 10, 5).to_dict()
    granted = [sum(row[3] for row in rows) + sum(map(sum, others)) for _, _, rows, *others in found["samples"]]
    assert found["hidden"] == 1 and granted == [100, 100, 100, 100, 0]
