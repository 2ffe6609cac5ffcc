"""What other policies would have given: a journal of a scenario is that scenario again."""

from typing import Any

import pytest

from lookback.stories import Job, Story, journal_of, played
from penstock import Scenario, compare
from penstock.errors import InvalidOption
from penstock.live.core import ControllerSettings, Resource
from penstock.live.journal import JournalError, replay
from penstock.lookback.shadow import shadow
from penstock.lookback.traffic import traffic
from penstock.report.live.history import shadow_lines
from penstock.report.live.plot import shadow_figure
from penstock.wire.messages import Complete, Post

POLICIES = ["fair-share", "fcfs", "list-stretch"]
SCENARIO = Scenario.from_document(
    {
        "version": 1,
        "platform": {"bandwidth": "1 GB/s"},
        "applications": [
            {
                "name": "a",
                "nodes": 4,
                "phases": [{"compute": 5}, {"write": "20 GB"}, {"compute": 8}, {"write": "9 GB"}],
            },
            {"name": "b", "nodes": 2, "release": 3, "phases": [{"compute": 4}, {"read": "12 GB"}]},
            {
                "name": "c",
                "nodes": 1,
                "bandwidth": "400 MB/s",
                "phases": [{"repeat": 4, "phases": [{"compute": 2}, {"write": "3 GB"}]}],
            },
        ],
    }
)


@pytest.fixture(params=["fair-share", "fcfs"])
def recorded(request, tmp_path):
    journal_of(SCENARIO, request.param, tmp_path / "journal")
    return request.param, tmp_path / "journal"


def test_the_traffic_of_a_journal_is_what_was_asked_for(recorded):
    policy, folder = recorded
    found = traffic(folder)
    assert (found.resources, found.policies, found.unfinished) == ({"all": 1e9}, (policy,), 0)
    assert found.scenario.plan is None
    assert [job.operations for job in found.jobs] == [2, 1, 4]
    for mine, theirs in zip(found.scenario.applications, SCENARIO.applications, strict=True):
        assert (mine.name, mine.nodes) == (theirs.name, theirs.nodes)
        assert mine.release == pytest.approx(theirs.release)
    assert found.scenario.applications[2].bandwidth == pytest.approx(4e8)
    phases: Any = found.scenario.applications[0].phases
    works = [phase.compute for phase in phases[::2]]
    assert works == pytest.approx([5, 8])


def test_every_policy_gives_what_it_gives_on_the_scenario(recorded):
    policy, folder = recorded
    found = shadow(folder, POLICIES)
    for account, result in zip(found.would, compare(SCENARIO, POLICIES), strict=True):
        assert account.sharing == result.sharing
        assert account.min_yield == pytest.approx(result.min_yield, rel=1e-6)
        assert account.efficiency == pytest.approx(result.efficiency, rel=1e-6)
        assert account.makespan == pytest.approx(result.makespan, rel=1e-6)
        yields = {job.name: job.yield_ for job in account.jobs}
        assert yields == pytest.approx({job.name: job.yield_ for job in result.applications}, rel=1e-6)
    same = next(account for account in found.would if account.sharing == policy)
    assert [job.wait for job in found.real.jobs] == pytest.approx([job.wait for job in same.jobs], abs=1e-6)
    assert found.real.efficiency == pytest.approx(same.efficiency)


def test_a_journal_of_a_scenario_replays(recorded):
    _, folder = recorded
    found = replay(folder)
    assert found.decisions > 5 and not found.different


def test_tables_and_plot(recorded):
    policy, folder = recorded
    found = shadow(folder, POLICIES)
    lines: list[Any] = shadow_lines(found)
    policies, _, jobs, *notes = lines
    assert policies.columns[0].cells[0].plain == f"really ({policy})"
    rows = len(policies.columns[0].cells)
    assert rows == 1 + len(POLICIES) and len(jobs.columns[0].cells) == 3 * rows and notes == []
    of_one: Any = shadow_lines(found, "b")[2]
    assert len(of_one.columns[0].cells) == rows
    axes: list[Any] = shadow_figure(found).axes
    left, right = axes
    assert [text.get_text() for text in left.get_yticklabels()] == [f"really ({policy})", *POLICIES]
    assert right.get_xlabel() == "time (s)"
    assert len(left.lines) == 2 * (1 + len(POLICIES))
    assert [len(line.get_xdata()) for line in left.lines[::2]] == [3] * (1 + len(POLICIES))


TARGETS = (Resource("x", 100.0, "x"), Resource("y", 100.0, "y"))


@pytest.fixture
def two_targets(tmp_path):
    """Job a writes to both targets, b to y alone, and c to x, of which it does not finish."""
    story = Story(tmp_path / "journal", ControllerSettings(resources=TARGETS, machine_nodes=100, pace=0.0, epsilon=0.0))
    story.register("a")
    story.say("a", Post(2, 1, 1, 800.0, "write", ("x", "y")))
    story.wait(4, a=800.0)
    story.say("a", Complete(1, 800.0))
    story.register("b")
    story.say("b", Post(2, 1, 1, 500.0, "write", ("y",)))
    story.wait(5, b=500.0)
    story.say("b", Complete(1, 500.0))
    story.register("c")
    story.say("c", Post(2, 1, 1, 500.0, "write", ("x",)))
    story.end()
    return story.folder


def test_one_resource_of_several(two_targets):
    """Half of what went to both targets counts for each."""
    found = traffic(two_targets, "y")
    assert (found.resources, found.unfinished) == ({"y": 100.0}, 1)
    a: Any
    b: Any
    a, b = found.scenario.applications
    assert (a.phases[1].write, a.bandwidth, b.phases[1].write) == pytest.approx((400, 100, 500))
    (a,) = traffic(two_targets, "x").scenario.applications
    assert a.phases[1].write == pytest.approx(400)
    assert "1 operations that had not ended are left out." in shadow_lines(shadow(two_targets, ["fcfs"]))


def test_several_resources_are_a_whole_machine(two_targets):
    """All bytes of everybody, each job on the targets that it used."""
    found = traffic(two_targets)
    assert (found.resources, found.elsewhere) == ({"x": 100.0, "y": 100.0}, 0)
    assert found.scenario.plan is not None and found.scenario.plan.placement == {"a": ("x", "y"), "b": ("y",)}
    a: Any
    b: Any
    a, b = found.scenario.applications
    assert (a.phases[1].write, a.bandwidth, b.phases[1].write, b.bandwidth) == pytest.approx((800, 200, 500, 100))


@pytest.mark.parametrize("policy", ["fair-share", "fcfs", "greedy-yield"])
def test_a_shadow_over_two_resources_under_the_same_policy_is_what_was_granted(policy, tmp_path):
    settings = ControllerSettings(TARGETS, machine_nodes=100, sharing=policy, pace=0.0, epsilon=0.0)
    story = Story(tmp_path / "journal", settings)
    played(
        story,
        Job("a", 0.0, (1.0, 800.0, ("x", "y")), (4.0, 600.0, ("x", "y"))),
        Job("b", 0.0, (2.0, 500.0, ("y",)), (3.0, 300.0, ("y",))),
        Job("c", 0.5, (1.5, 500.0, ("x",)), (3.0, 300.0, ("x",))),
        Job("d", 3.0, (1.0, 250.0, ("x",))),
        Job("e", 3.0, (1.0, 250.0, ("y",))),
    )
    story.end()
    found = shadow(story.folder, [policy, "list-stretch"])
    assert found.traffic.policies == (policy,) and len(found.traffic.resources) == 2
    (same,) = (account for account in found.would if account.sharing == policy)
    waits = [job.wait for job in found.real.jobs]
    assert max(waits) > 2.0, "they were in each other's way"
    assert waits == pytest.approx([job.wait for job in same.jobs], abs=1e-6)
    assert found.real.min_yield == pytest.approx(same.min_yield)


def test_phases_on_other_targets_count_as_time(tmp_path):
    story = Story(tmp_path / "journal", ControllerSettings(TARGETS, machine_nodes=100, pace=0.0, epsilon=0.0))
    played(story, Job("a", 0.0, (1.0, 800.0, ("x",)), (4.0, 200.0, ("y",))), Job("b", 0.0, (1.0, 300.0, ("y",))))
    story.end()
    found = shadow(story.folder, ["fcfs", "list-johnson"])
    a: Any = found.traffic.scenario.applications[0]
    assert found.traffic.elsewhere == 1 and a.phases[3].compute == pytest.approx(2.0)
    assert "1 phase on other targets than most of a job's bytes count as time." in shadow_lines(found)
    assert found.left_out == ("list-johnson",) and "list-johnson" in str(shadow_lines(found)[-1])
    with pytest.raises(InvalidOption, match="list-johnson plans ahead, which it cannot where bytes cross 2 resources"):
        shadow(story.folder, ["list-johnson"])


def test_what_a_scenario_cannot_say_is_looked_at_one_resource_at_a_time(tmp_path):
    """A limit of both directions over all targets: of two that were used, the one that moved most."""
    joint = (*TARGETS, Resource("all", 150.0))
    story = Story(tmp_path / "journal", ControllerSettings(joint, machine_nodes=100, pace=0.0, epsilon=0.0))
    for job, way in (("a", "write"), ("b", "read")):
        story.register(job)
        story.say(job, Post(2, 1, 1, 500.0, way, ("x",)))
        story.wait(5, **{job: 500.0})
        story.say(job, Complete(1, 500.0))
    story.end()
    assert traffic(story.folder).resources == {"x": 100.0}
    assert traffic(story.folder).scenario.plan is None


def test_what_cannot_be_tried(two_targets, tmp_path):
    with pytest.raises(InvalidOption, match="--resource is 'z'; known: x, y"):
        traffic(two_targets, "z")
    story = Story(tmp_path / "idle")
    story.register("a")
    story.end()
    with pytest.raises(JournalError, match="no job has finished any I/O"):
        traffic(story.folder)


def test_a_volume_that_cannot_have_been_moved_is_cut(tmp_path):
    """A command that counts nothing says in the end that it moved what it had announced."""
    story = Story(tmp_path / "journal")
    story.register("blind")
    story.say("blind", Post(2, 1, 1, 1e6))
    story.wait(2, blind=0.0)
    story.say("blind", Complete(1, 1e6))
    story.end()
    found = shadow(story.folder, ["fcfs"])
    phases: Any = found.traffic.scenario.applications[0].phases
    assert phases[1].write == pytest.approx(200)
    assert found.real.min_yield == pytest.approx(1)
