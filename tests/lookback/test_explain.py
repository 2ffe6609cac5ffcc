"""Why a job waited: journals with known stories, and the same numbers back, to the second and to the byte."""

import io
from typing import Any

import pytest
from rich.console import Console

from lookback.stories import SETTINGS, WALL, Story
from penstock.live.core import ControllerSettings, ControllerState, Resource
from penstock.live.journal import JournalError, Lock
from penstock.lookback.explain import Explained, Explanation, Holder, Rank, UnknownJob, explain, limited
from penstock.lookback.history import history
from penstock.lookback.phases import PastPhase, Phases, numbers_of
from penstock.report.live.history import delay_words, explanation_lines
from penstock.report.parts.fitting_table import FittingTable
from penstock.wire.messages import Admin, Complete, Extend, OpenOp, Post, Resync


@pytest.fixture
def story(tmp_path):
    return Story(tmp_path / "journal")


def parts(operation):
    return {name: getattr(operation, name) for name in ("policy", "room", "controller", "client")}


def near(**expected):
    return pytest.approx(expected, abs=1e-6)


def with_sharing(folder, sharing):
    return Story(
        folder,
        ControllerSettings(resources=SETTINGS.resources, machine_nodes=100, pace=0.0, epsilon=0.0, sharing=sharing),
    )


def test_alone_nobody_waits(story):
    story.register("a")
    story.wait(5)
    story.say("a", Post(2, 1, 1, 400.0))
    story.wait(4, a=400.0)
    story.say("a", Complete(1, 400.0))
    story.end()
    (operation,) = explain(story.folder, "a").operations
    assert (operation.announced, operation.moved, operation.limit) == (400, 400, 100)
    assert (operation.seconds, operation.dedicated, operation.waited) == pytest.approx((4, 4, 0))
    assert parts(operation) == near(policy=0, room=0, controller=0, client=0)
    assert operation.held_by == () and operation.ended and operation.direction == "write"


def test_sharing_is_the_policys_choice(story):
    """Two at half the bandwidth for four seconds, then the second one alone for two."""
    story.register("a")
    story.register("b")
    story.say("a", Post(2, 1, 1, 200.0))
    story.say("b", Post(2, 1, 1, 400.0))
    story.wait(4, a=200.0, b=200.0)
    story.say("a", Complete(1, 200.0))
    story.wait(2, b=400.0)
    story.say("b", Complete(1, 400.0))
    story.end()
    a, b = (explain(story.folder, name) for name in "ab")
    assert parts(a.operations[0]) == near(policy=2, room=0, controller=0, client=0)
    assert parts(b.operations[0]) == near(policy=2, room=0, controller=0, client=0)
    (holder,) = b.held_by
    assert (holder.job, holder.bytes, holder.share) == ("a", pytest.approx(200), 1.0)
    assert a.held_by[0].bytes == pytest.approx(200)  # what b got after a had ended did not hold a up
    assert (b.total("delay"), b.to_dict()["total"]["policy"]) == pytest.approx((2, 2))


def test_waiting_in_line(tmp_path):
    story = with_sharing(tmp_path / "journal", "fcfs")
    for name in "abc":
        story.register(name)
        story.say(name, Post(2, 1, 1, 300.0))
    for name in "abc":
        story.wait(3, **{name: 300.0})
        story.say(name, Complete(1, 300.0))
    story.end()
    (operation,) = explain(story.folder, "c").operations
    assert operation.waited == pytest.approx(6)
    assert parts(operation) == near(policy=6, room=0, controller=0, client=0)
    assert {holder.job: holder.bytes for holder in operation.held_by} == pytest.approx({"a": 300, "b": 300})


def test_who_was_ahead_and_why(tmp_path):
    """With the numbers of the moment when the wait began or, of one that came later, of that moment."""
    story = with_sharing(tmp_path / "journal", "fcfs")
    for name in "abc":
        story.register(name)
    story.wait(10)
    story.say("a", Post(2, 1, 1, 1000.0))
    story.wait(4, a=400.0)
    story.say("b", Post(2, 1, 1, 200.0))
    story.wait(3, a=700.0)
    story.say("c", Post(2, 1, 1, 100.0))
    for name, seconds, volume in (("a", 3, 1000.0), ("b", 2, 200.0), ("c", 1, 100.0)):
        story.wait(seconds, **{name: volume})
        story.say(name, Complete(1, volume))
    story.end()
    (operation,) = explain(story.folder, "b").operations
    assert operation.sharing == "fcfs"
    assert vars(operation.rank) == near(posted=0, yield_=1, remaining=200)
    (holder,) = operation.held_by
    assert (holder.job, holder.bytes) == ("a", pytest.approx(600))
    assert vars(holder.rank) == near(posted=4, yield_=1, remaining=600)
    found = explain(story.folder, "c")
    ranks = {by.job: vars(by.rank) for by in found.operations[0].held_by}
    assert ranks["a"] == near(posted=7, yield_=1, remaining=300)
    assert ranks["b"] == near(posted=3, yield_=14 / 17, remaining=200)
    assert found.to_dict()["operations"][0]["held_by"][1]["rank"]["yield"] == pytest.approx(14 / 17)
    assert found.held_by[0].rank is None  # of all operations together


def test_one_that_comes_later_and_goes_first(tmp_path):
    story = with_sharing(tmp_path / "journal", "list-shortest-io")
    for name in "abc":
        story.register(name)
    story.say("a", Post(2, 1, 1, 500.0))
    story.say("b", Post(2, 1, 1, 400.0))
    story.wait(2)
    story.say("c", Post(2, 1, 1, 100.0))
    for name, volume in (("a", 500.0), ("c", 100.0), ("b", 400.0)):
        story.wait(4, **{name: volume})
        story.say(name, Complete(1, volume))
    story.end()
    (operation,) = explain(story.folder, "b").operations
    later = next((by for by in operation.held_by if by.job == "c"), None)
    assert later is not None and later.rank is not None
    assert (later.rank.posted, later.rank.remaining) == pytest.approx((-2, 100))


def test_the_table_fits_into_a_hundred_columns():
    """Whatever the numbers: nothing is cut, and the holders are named with what ordered them."""
    holders = tuple(
        Holder(f"{'long-name-of-a-job-' * 3}{n}", n, 123.4567e9, 0.98765, Rank(sign * 5432.1, 0.98765, 999.9e9))
        for n, sign in enumerate((1.0, -1.0))
    )
    for longest in (1e-5, 0.0123, 9.876, 98.76, 119.9, 7199.0, 170_000.0, 99 * 86400.0):
        fields = {"dedicated": longest / 3, "policy": longest, "room": longest, "controller": longest}
        operations = tuple(
            Explained(
                number=n, posted="2026-11-16T13:46:07.123+00:00", direction="write", targets=(), announced=999.9e9,
                moved=999.9e9, limit=1e9, seconds=longest, waited=longest, ended=False, client=-longest,
                held_by=holders, sharing="lookahead-greedy-yield", rank=Rank(0.0, 1.0, 999.9e9), **fields,
            )
            for n in (9_998, 9_999)
        )  # fmt: skip
        text = Console(width=100, file=io.StringIO(), record=True)
        for each in explanation_lines(Explanation("job", operations, holders)):
            if isinstance(each, FittingTable):
                text.print(each)
        lines = text.export_text().splitlines()
        assert max(map(len, lines)) <= 100
        assert not any("…" in line for line in lines)
        rows = [line.split() for line in lines if line.startswith("999")]
        assert [row[:4] for row in rows] == [[str(n), "11-16", "13:46:07", "write"] for n in (9_998, 9_999)]
        assert all(len(row) == 13 for row in rows)
        assert any("before" in line and "0.9877" in line and "999.9 GB" in line for line in lines)
        assert any("after" in line for line in lines)


def test_alone_is_at_the_capacity_of_each_moment(story):
    """Ten times the capacity for a while does not make the rest of the time look like a loss."""
    story.register("a")
    story.connect("operator")
    story.core.sessions[2].identity = type(story.core.sessions[2].identity)("peer", 0, "admin")
    story.say("a", Post(2, 1, 1, 3000.0))
    story.wait(4, a=400.0)
    story.say("operator", Admin(1, "capacity", {"capacity": 1000.0}))
    story.wait(2, a=2400.0)
    story.say("operator", Admin(2, "capacity", {"capacity": 100.0}))
    story.wait(6, a=3000.0)
    story.say("a", Complete(1, 3000.0))
    story.end()
    (operation,) = explain(story.folder, "a").operations
    assert (operation.seconds, operation.dedicated, operation.limit) == pytest.approx((12, 12, 1000))
    assert parts(operation) == near(policy=0, room=0, controller=0, client=0)


def test_what_a_job_brings_along_counts_as_moved(story):
    """A job that is not known any more, and comes back in the middle of its operation."""
    story.register("a")
    story.die()
    story.folder = story.folder / "elsewhere"  # another controller, which never heard of it
    story.folder.mkdir()
    story.begin()
    story.connect("a")
    back = OpenOp(1, 1000.0, 400.0, "write", (), 4.0)
    story.say("a", Resync(3, 1, 1, 1, 99, 100.0, 4.0, 50, back, "a", 1))
    story.wait(6, a=1000.0)
    story.say("a", Complete(1, 1000.0))
    story.end()
    (operation,) = explain(story.folder, "a").operations
    assert (operation.moved, operation.dedicated) == pytest.approx((1000, 10))


def test_no_room_until_others_have_slowed_down(story):
    story.register("slow")
    story.register("new")
    story.say("slow", Post(2, 1, 1, 1000.0))
    story.deaf.add(1)
    story.say("new", Post(2, 1, 1, 150.0))
    story.wait(3, new=0.0)  # 50 are meant for it, and are not free
    story.heed()
    story.wait(3, new=150.0, slow=450.0)
    story.say("new", Complete(1, 150.0))
    story.end()
    (operation,) = explain(story.folder, "new").operations
    assert operation.waited == pytest.approx(3)
    assert parts(operation) == near(policy=3.0, room=1.5, controller=0, client=0)


def test_a_job_slower_than_its_rate(story):
    story.register("a")
    story.say("a", Post(2, 1, 1, 100.0))
    story.wait(4, a=100.0)
    story.say("a", Complete(1, 100.0))
    story.end()
    assert parts(explain(story.folder, "a").operations[0]) == near(policy=0, room=0, controller=0, client=3)


def test_an_outage_is_the_controllers(story):
    """The rate holds for a lease of 8 s; after that 0.5 of 100 bytes/s, as one of a hundred nodes."""
    story.register("a")
    story.say("a", Post(2, 1, 1, 2000.0))
    story.wait(2, a=200.0)
    story.die()
    story.at += 28.0
    story.begin()
    story.connect("a")
    done = 200.0 + 800.0 + 20 * 0.5
    back = OpenOp(1, 2000.0, done, "write", (), 30.0)
    story.say("a", Resync(3, 1, 1, 1, 99, 0.5, 0.0, 50, back, "a", 1))
    story.wait(10, a=2000.0)
    story.say("a", Complete(1, 2000.0))
    story.end()
    (operation,) = explain(story.folder, "a").operations
    assert operation.seconds == pytest.approx(40)
    assert parts(operation)["controller"] == pytest.approx(20 * 0.995, abs=0.01)
    assert parts(operation)["policy"] == pytest.approx(0, abs=0.01)
    assert sum(parts(operation).values()) == pytest.approx(operation.delay)


def test_unpaced_by_an_operator_is_nobodys_loss(story):
    story.register("a")
    story.register("b")
    story.connect("operator")
    story.core.sessions[3].identity = type(story.core.sessions[3].identity)("peer", 0, "admin")
    story.say("operator", Admin(1, "mode", {"mode": "pause"}))
    for name in "ab":
        story.say(name, Post(2, 1, 1, 400.0))
    story.wait(8, a=400.0, b=400.0)
    for name in "ab":
        story.say(name, Complete(1, 400.0))
    story.end()
    assert parts(explain(story.folder, "a").operations[0]) == near(policy=0, room=0, controller=0, client=4)


def test_others_on_other_targets_hold_nothing(tmp_path):
    resources = (Resource("x", 100.0, "x"), Resource("y", 100.0, "y"))
    story = Story(
        tmp_path / "journal", ControllerSettings(resources=resources, machine_nodes=100, pace=0.0, epsilon=0.0)
    )
    for name, target in (("a", "x"), ("b", "x"), ("c", "y")):
        story.register(name)
        story.say(name, Post(2, 1, 1, 400.0, "write", (target,)))
    story.wait(4, a=200.0, b=200.0, c=400.0)
    story.end()
    found = explain(story.folder, "a")
    assert [holder.job for holder in found.held_by] == ["b"]
    assert found.operations[0].targets == ("x",)
    assert explain(story.folder, "c").total("policy") == 0


def test_announced_against_achieved(story):
    story.register("a")
    story.say("a", Post(2, 1, 1, 100.0))
    story.say("a", Extend(1, 300.0))
    story.wait(2, a=200.0)
    story.say("a", Complete(1, 200.0, "enough"))
    story.say("a", Post(3, 2, 90, 50.0))
    story.end()
    first, second = explain(story.folder, "a").operations
    assert (first.announced, first.moved, first.ended) == (400, 200, True)
    assert (second.number, second.announced, second.ended) == (2, 50, False)


def test_unknown_jobs_and_folders(story, tmp_path):
    story.register("alpha")
    story.say("alpha", Post(2, 1, 1, 1.0))
    story.end()
    with pytest.raises(UnknownJob, match="no job 'alpah' did any I/O; did you mean 'alpha'"):
        explain(story.folder, "alpah")
    (tmp_path / "empty").mkdir()
    with pytest.raises(JournalError, match="there is no journal"):
        explain(tmp_path / "empty", "a")


# Of late.


@pytest.fixture
def shared(story):
    """Two jobs of two users, ten seconds each at half the rate."""
    for name in "ab":
        story.register(name)
        story.say(name, Post(2, 1, 1, 1000.0))
    story.wait(10, a=500.0, b=500.0)
    story.end()
    return story.folder


def test_who_was_limited(shared):
    found = limited(shared, 3600, now=WALL + 10)
    assert [held.name for held in found.jobs] == ["a", "b"]
    for held in found.jobs:
        assert (held.limited, held.lost, held.delay, held.policy) == pytest.approx((10, 500, 5, 5))
    assert found.jobs[0].held_by[0].job == "b"
    assert sorted(held.uid for held in found.users) == [1001, 1002]


def test_only_the_time_asked_for_counts(shared):
    found = limited(shared, 4, now=WALL + 10)
    assert [held.limited for held in found.jobs] == pytest.approx([4, 4])
    assert [held.lost for held in found.jobs] == pytest.approx([200, 200])
    assert limited(shared, 4, now=WALL + 100).jobs == ()


def test_the_reading_begins_at_a_snapshot(story, monkeypatch):
    for name in "ab":
        story.register(name)
        story.say(name, Post(2, 1, 1, 1000.0))
    story.wait(4, a=200.0, b=200.0)
    story.snapshot()
    story.wait(6, a=500.0, b=500.0)
    story.end()
    seen = []
    apply = ControllerState.apply

    def noting(state: ControllerState, t: float, record: Any) -> None:
        seen.append(t)
        apply(state, t, record)

    monkeypatch.setattr(ControllerState, "apply", noting)
    found = limited(story.folder, 5, now=WALL + 10)
    assert [held.lost for held in found.jobs] == pytest.approx([250, 250])
    assert min(seen) >= 4.0
    seen.clear()
    assert explain(story.folder, "a").total("policy") == pytest.approx(5)
    assert min(seen) == 0.0


def test_what_others_were_given_counts_in_the_time_asked_for_only(story):
    """One has the bandwidth for ten seconds; then another comes, who is held back by it for longer than asked for."""
    story.register("a")
    story.register("b")
    story.say("a", Post(2, 1, 1, 9000.0))
    story.wait(10, a=1000.0)
    story.say("b", Post(2, 1, 1, 9000.0))
    for beat in range(1, 6):
        story.wait(2, a=1000.0 + 100.0 * beat, b=100.0 * beat)
    story.end()
    held = {each.name: each for each in limited(story.folder, 4, now=WALL + 20).jobs}
    assert [(each.job, each.bytes) for each in held["b"].held_by] == [("a", pytest.approx(200))]
    assert [(each.job, each.bytes) for each in held["a"].held_by] == [("b", pytest.approx(200))]


def test_a_span_that_is_shorter_than_the_silence_since_the_last_record(story):
    """Who waits waits on, though nothing is written while nothing changes: for a lease, if nobody writes any more."""
    for name in "ab":
        story.register(name)
        story.say(name, Post(2, 1, 1, 1000.0))
    story.wait(6, a=300.0, b=300.0)
    found = limited(story.folder, 4, now=WALL + 8)
    assert [held.limited for held in found.jobs] == pytest.approx([4, 4])
    found = limited(story.folder, 1, now=WALL + 8)
    assert [held.limited for held in found.jobs] == pytest.approx([1, 1])
    assert found.jobs[0].held_by[0].bytes == pytest.approx(50)
    story.end()
    assert limited(story.folder, 5, now=WALL + 60).jobs == ()


def test_while_a_controller_writes_the_journal_all_goes_on_as_it_was(story):
    for name in "ab":
        story.register(name)
        story.say(name, Post(2, 1, 1, 10_000.0))
    story.wait(6, a=300.0, b=300.0)
    lock = Lock(story.folder)
    try:
        assert [held.limited for held in limited(story.folder, 5, now=WALL + 60).jobs] == pytest.approx([5, 5])
    finally:
        lock.close()
    story.end()


def test_a_span_after_the_last_record_of_a_snapshot(story):
    """The state comes from a snapshot, and nothing was written after it."""
    for name in "ab":
        story.register(name)
        story.say(name, Post(2, 1, 1, 1000.0))
    story.wait(10, a=500.0, b=500.0)
    story.snapshot()
    story.end()
    found = limited(story.folder, 4, now=WALL + 12)
    assert [held.limited for held in found.jobs] == pytest.approx([4, 4])


def test_a_job_that_is_slow_by_itself_is_held_back_by_nobody(story):
    """Alone at a tenth of what it may use: its grant shrinks to what it needs, and that is its own pace."""
    story.register("a")
    story.say("a", Post(2, 1, 1, 400.0))
    story.wait(40, a=400.0)
    (row,) = story.core.state.rows.able
    assert row == pytest.approx(15.0)
    story.say("a", Complete(1, 400.0))
    story.end()
    (operation,) = explain(story.folder, "a").operations
    assert parts(operation) == near(policy=0, room=0, controller=0, client=36)
    assert limited(story.folder, 1e9).jobs == ()
    rows = history(story.folder, WALL, WALL + 40, 10).to_dict()["samples"]
    assert [each[1] for _, _, jobs in rows for each in jobs] == [1.0] * 10


def test_a_slow_job_that_gets_half_of_what_it_needs_lost_half_of_the_time_to_the_policy(tmp_path):
    story = with_sharing(tmp_path / "journal", "fcfs")
    for job in "ab":
        story.register(job)
    story.say("a", Post(2, 1, 1, 1e6))
    story.wait(20, a=100.0)  # a tenth of what it may use
    story.say("b", Post(2, 1, 1, 1e6))
    state = story.core.state
    before = story.at
    (app,) = (app for app in state.apps.values() if app.job == "a")
    numbers = numbers_of(state, app)
    assert numbers.able == pytest.approx(7.5) and numbers.limit == 100.0 and not numbers.held_back
    halved = Phases()
    phase = PastPhase(1, "a", 0, 1.0, "write", (), frozenset(), before, WALL, 0.0)
    halved._count(phase, numbers._replace(rate=3.75, policy=3.75), 10.0)
    assert (phase.policy, phase.lost, phase.limited) == pytest.approx((5.0, 37.5, 10.0))


def test_what_was_announced_is_compared_with_what_was_moved_in_phases_that_ended(story):
    story.register("a")
    story.say("a", Post(2, 1, 1, 300.0))
    story.wait(3, a=300.0)
    story.say("a", Complete(1, 300.0))
    story.say("a", Post(3, 2, 1000, 300.0))
    story.wait(1)
    story.end()
    assert "It announced 300 B and moved 300 B (100.0 %)." in delay_words(explain(story.folder, "a"))
