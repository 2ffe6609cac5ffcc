"""The line that `penstock pace` shows: one line on any terminal, and true words about the rate."""

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from penstock.cli.parts.pace_bar import Bar


def bar(rate, granted, moved=1_234_500_000):
    phase: Any = SimpleNamespace(rate=rate, granted=granted)
    made = Bar(phase, 12e9)
    made.moved = moved
    return made


@pytest.mark.parametrize(("columns", "length"), [(50, 5), (80, 5), (100, 22), (200, 30)])
def test_it_is_one_line(monkeypatch, columns, length):
    monkeypatch.setenv("COLUMNS", str(columns))
    console = Console(width=columns, file=io.StringIO(), record=True)
    console.print(bar(7.5e6, granted=False)._made().get_renderable())
    (line,) = console.export_text().splitlines()
    assert len(line) <= columns
    assert line.index("1.234 GB of 12 GB") == length + 1


@pytest.mark.parametrize(
    ("rate", "granted", "words"),
    [
        (30e6, True, "granted 30 MB/s"),
        (0.0, True, "waiting for a grant"),
        (7.5e6, False, "no grant: fallback 7.5 MB/s"),
        (None, False, "unpaced"),
    ],
)
def test_what_is_said_of_the_rate(rate, granted, words):
    assert words in bar(rate, granted).words().plain
