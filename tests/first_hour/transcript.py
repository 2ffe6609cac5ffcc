"""Transcripts: commands, and what they print. Words are compared, not how lines are broken; … stands for anything."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import NamedTuple

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# The first lines of the Makefile's demo set up what a test has already.
DEMO = {"make demo": "penstock demo"}


class Step(NamedTuple):
    """A command, what goes into it, and what must come out of it."""

    words: list[str]
    piped: str  # the file that `cat` puts into it, or nothing
    shown: str

    @property
    def refused(self) -> bool:
        """Whether it must fail."""
        return self.shown.startswith("penstock: ")


class Printed(NamedTuple):
    """What a command left behind."""

    code: int
    text: str


def files(page: str) -> dict[str, str]:
    """What the page tells to save, by name."""
    return {title: text for _, title, text in BLOCK.findall(page) if title}


def steps(page: str) -> Iterator[Step]:
    """All commands of the page, in their order."""
    for language, _, text in BLOCK.findall(page):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                before, _, last = DEMO.get(command, command).rpartition(" | ")
                yield Step(shlex.split(last)[1:], before.removeprefix("cat "), shown)


def missing(step: Step, printed: Printed) -> str | None:
    """The first words of a transcript that were not printed, or not in their place; None if all is as told."""
    rest = plain(printed.text)
    for piece in map(plain, step.shown.split("…")):
        found = rest.find(piece)
        if found < 0:
            return f"{piece!r} is not in {rest!r}"
        rest = rest[found + len(piece) :]
    return None


def plain(text: str) -> str:
    """Words with single spaces between them, without lines that are drawn."""
    return " ".join(re.sub(r"─+", " ", text).split())


def play(page: str, run: Callable[[Step], Printed]) -> list[str]:
    """Every command in turn; which of them did not do as told."""
    wrong = []
    for step in steps(page):
        printed = run(step)
        problem = missing(step, printed)
        if printed.code != (2 if step.refused else 0):
            problem = f"exit code {printed.code}: {printed.text}"
        if problem:
            wrong.append(f"penstock {shlex.join(step.words)}: {problem}")
    return wrong
