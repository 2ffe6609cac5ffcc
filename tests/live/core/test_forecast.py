"""What a user whose job waits is told of its phase: by the policy itself, run forward."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lookback.stories import SETTINGS, Story
from penstock.live.core import ControllerSettings
from penstock.live.core.forecast import forecasts
from penstock.live.core.pieces import whole
from penstock.wire.messages import Complete, Post


def story(folder: Path, sharing: str) -> Story:
    settings = ControllerSettings(
        resources=SETTINGS.resources, machine_nodes=100, pace=0.0, epsilon=0.0, sharing=sharing
    )
    return Story(folder / "journal", settings)


def by_job(told: Story) -> dict[str, dict[str, Any]]:
    names = {app.number: app.job for app in told.core.state.apps.values()}
    return {names[number]: each for number, each in whole(forecasts(told.core)).items()}


def two(folder: Path, sharing: str) -> dict[str, dict[str, Any]]:
    told = story(folder, sharing)
    for name, volume in (("a", 100.0), ("b", 300.0)):
        told.register(name)
        told.say(name, Post(2, 1, 1, volume))
    return by_job(told)


def test_sharing_evenly_both_move_and_the_smaller_is_done_first(tmp_path: Path) -> None:
    found = two(tmp_path, "fair-share")
    assert (found["a"]["start"], found["a"]["end"]) == pytest.approx((0.0, 2.0))
    assert (found["b"]["start"], found["b"]["end"]) == pytest.approx((0.0, 4.0))
    assert (found["b"]["earliest"], found["b"]["latest"]) == pytest.approx((3.2, 4.8))
    assert found["a"]["sure"] == "good" and found["a"]["behind"] == 1


def test_first_come_first_served_the_second_begins_when_the_first_is_done(tmp_path: Path) -> None:
    found = two(tmp_path, "fcfs")
    assert (found["a"]["start"], found["a"]["end"]) == pytest.approx((0.0, 1.0))
    assert (found["b"]["start"], found["b"]["end"]) == pytest.approx((1.0, 4.0))
    assert (found["b"]["start_earliest"], found["b"]["start_latest"]) == pytest.approx((0.8, 1.2))
    assert found["b"]["behind"] == 1 and found["b"]["ahead"] == pytest.approx(100.0)


def test_nothing_changes_by_asking(tmp_path: Path) -> None:
    told = story(tmp_path, "greedy-yield")
    for name in "ab":
        told.register(name)
        told.say(name, Post(2, 1, 1, 500.0))
    before = told.core.state.snapshot()
    assert set(by_job(told)) == {"a", "b"}
    assert told.core.state.snapshot() == before


def test_without_a_phase_nothing_is_foreseen(tmp_path: Path) -> None:
    told = story(tmp_path, "fair-share")
    told.register("a")
    assert by_job(told) == {}


def test_in_a_queue_everybody_is_behind_all_that_are_served_before(tmp_path: Path) -> None:
    told = story(tmp_path, "fcfs")
    for name in "abcd":
        told.register(name)
        told.say(name, Post(2, 1, 1, 100.0))
    found = by_job(told)
    assert [found[name]["behind"] for name in "abcd"] == [0, 1, 2, 3]
    assert [found[name]["ahead"] for name in "abcd"] == pytest.approx([0.0, 100.0, 200.0, 300.0])
    names = {app.number: app.job for app in told.core.state.apps.values()}
    assert [names[number] for number in found["d"]["before"]] == ["a", "b", "c"]


def test_right_announcements_stay_right_while_the_next_phase_is_open(tmp_path: Path) -> None:
    """What is announced and still to come says nothing of how right earlier announcements were."""
    told = story(tmp_path, "fair-share")
    told.register("a")
    told.say("a", Post(2, 1, 1, 200.0))
    told.wait(2, a=200.0)
    told.say("a", Complete(1, 200.0))
    told.say("a", Post(3, 2, 100, 100.0))
    (found,) = by_job(told).values()
    assert found["sure"] == "good" and (found["earliest"], found["latest"]) == pytest.approx((0.8, 1.2))


def test_wrong_announcements_make_the_range_wider(tmp_path: Path) -> None:
    told = story(tmp_path, "fair-share")
    told.register("a")
    told.say("a", Post(2, 1, 1, 200.0))
    told.wait(1, a=100.0)
    told.say("a", Complete(1, 100.0))
    told.say("a", Post(3, 2, 100, 100.0))
    (found,) = by_job(told).values()
    assert found["sure"] == "rough" and found["earliest"] == pytest.approx(0.5)
