"""A plan in words: what each decision is worth, and whether that is good."""

from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from penstock.model import Plan
from penstock.report.machine.planned import planned_lines, planned_table, planned_words
from penstock.studies.planning import Contribution, Planned


def planned(**more):
    given: dict[str, Any] = {
        "goal": "node-hours", "metric": "node_hours_lost", "value": 40.0, "unasked": 100.0, "started": 60.0,
        "start": ("mapping longest first",), "trials": 31, "seed": 7, "interrupted": False, "plan": Plan(),
        "contributions": (
            Contribution("mapping", "I/O nodes in turn", 90.0, 50.0),
            Contribution("sharing", "fair-share", 40.0, 0.0),
            Contribution("buffering", "equal parts", None, None),
        ),
        "result": SimpleNamespace(to_dict=dict),
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
    assert lines[0].startswith(
        "Start: mapping longest first: node-hours lost 60. 31 runs of the whole machine, seed 7."
    )
    assert "worth 60 (lower is better); one by one 50" in lines[-1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"interrupted": True}, "Interrupted: this is the best until then."),
        ({"value": 60.0}, "The search found nothing better than the start; give it time with --improve."),
    ],
)
def test_what_a_reader_must_know_is_said(more, words):
    assert words in planned_lines(planned(**more))


def test_the_json_has_the_plan_as_a_file_has_it():
    told = planned(plan=Plan(mapping={"a": 1})).to_dict()
    assert told["plan"] == {"version": 1, "mapping": {"a": 1}}
    assert told["contributions"][0] == {
        "decision": "mapping", "unasked": "I/O nodes in turn", "without": 90.0, "worth": 50.0
    }  # fmt: skip
