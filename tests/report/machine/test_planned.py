"""A plan in words: what each decision is worth, and whether that is good."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from penstock.model import Plan
from penstock.report.machine.planned import planned_lines, planned_table, planned_words
from penstock.studies.planning import Contribution, Planned
from penstock.studies.planning.result import JudgedBy, Speed


def planned(**more):
    given: dict[str, Any] = {
        "goal": "node-hours", "metric": "node_hours_lost", "value": 40.0, "unasked": 100.0, "started": 60.0,
        "start": ("mapping longest first",), "trials": 31, "seed": 7, "interrupted": False, "plan": Plan(),
        "yardstick": JudgedBy("bytes count at full speed", (Speed("a", 2.0, 1.0),)), "searched": 9,
        "contributions": (
            Contribution("mapping", "I/O nodes in turn", 90.0, 50.0),
            Contribution("sharing", "fair-share", 40.0, 0.0),
            Contribution("buffering", "equal parts", None, None),
        ),
        "result": SimpleNamespace(to_dict=dict, node_hours_used=12345.6, node_hours_lost=31.4),
    }  # fmt: skip
    return Planned(**given | more)


def printed(thing):
    console = Console(width=100)
    with console.capture() as capture:
        console.print(thing)
    return capture.get()


def test_the_table_has_a_row_for_each_decision():
    text = printed(planned_table(planned()))
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "90" in rows["mapping"]
    assert "50 (50.0 %)" in rows["mapping"]
    assert rows["sharing"].rstrip().endswith("nothing")
    assert rows["buffering"].rstrip().endswith("–")


def test_the_words_say_what_came_of_it():
    assert planned_words(planned()) == "node-hours lost 40, with nothing decided 100"
    lines = planned_lines(planned())
    assert lines[0].startswith("All plans are judged alike: bytes count at full speed. A run of this plan says")
    assert "node-hours lost 31.4, of 12,346 node-hours used" in lines[0]
    assert lines[1].startswith(
        "Start: mapping longest first: node-hours lost 60. 31 runs of the whole machine, seed 7."
    )
    assert "worth 60 (lower is better); one by one 50" in lines[-1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"interrupted": True}, "Interrupted: this is the best until then."),
        ({"value": 60.0}, "Of 9 single changes none made it better than the start."),
        (
            {"value": 60.0, "searched": 0},
            "Nothing but the start was tried; --improve 5min or --trials 100 looks for something better.",
        ),
    ],
)
def test_what_a_reader_must_know_is_said(more, words):
    assert words in planned_lines(planned(**more))


def test_what_rounding_leaves_is_nothing():
    left = Contribution("sharing", "fair-share", 40.0, -6.468e-14)
    assert "nothing" in printed(planned_table(planned(contributions=(left,))))


def test_thousands_are_written_alike():
    text = printed(planned_table(planned(value=1001.0, unasked=10774.2)))
    assert "node-hours lost 1,001, with nothing decided 10,774" in text


def test_the_json_has_the_yardstick():
    speeds = [{"name": "a", "write": 2.0, "read": 1.0}]
    assert planned().to_dict()["yardstick"] == {"words": "bytes count at full speed", "speeds": speeds}


def test_the_json_has_the_plan_as_a_file_has_it():
    told = planned(plan=Plan(mapping={"a": 1})).to_dict()
    assert told["plan"] == {"version": 1, "mapping": {"a": 1}}
    assert told["contributions"][0] == {
        "decision": "mapping", "unasked": "I/O nodes in turn", "without": 90.0, "worth": 50.0
    }  # fmt: skip
