"""The stages that bytes pass on a whole machine, their colours, and what is called a bottleneck: for all pictures."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from penstock.report.parts.quantities import fixed
from penstock.report.parts.theme import COLOURS, WAITING, label

if TYPE_CHECKING:
    from penstock.engine.passage import Passage
    from penstock.kernels.arrays import Floats

BUSY = 0.5  # a resource less in use than that is no bottleneck
FULL = 0.985  # from here on it has next to nothing left to give
FULL_COLOUR = WAITING
MOST_NAMED = 12  # rows of a kind that are named one by one
_BANDS = 8  # names beside the rows of a kind with more of them
_STEPS = tuple(2**k for k in range(1, 30))  # names often count in hexadecimal
_APPLICATIONS, _NODES, _BUFFER, _STORAGE = COLOURS[0], COLOURS[4], COLOURS[1], COLOURS[2]
KINDS = {"io_node": "I/O nodes", "buffer": "buffer", "target": "targets", "link": "file system"}
SHADES = {"io_node": _NODES, "buffer": _BUFFER, "target": _STORAGE, "link": COLOURS[5]}


class Stage(NamedTuple):
    """What passes, or is held, in every step of time."""

    title: str
    values: Floats
    colour: str
    held: bool = False


def stages_of(passage: Passage) -> list[Stage]:
    """The stages that this machine has, in the order in which bytes written pass them."""
    found = [Stage("applications move", passage.moved, _APPLICATIONS)]
    if passage.room > 0.0:
        found.append(Stage("the buffer holds", passage.held, _BUFFER, held=True))
    if "io_node" in passage.kinds:
        found.append(Stage("through I/O nodes", passage.of_kind("io_node"), _NODES))
    last = "target" if "target" in passage.kinds else "link"
    if last in passage.kinds:
        words = "onto targets" if last == "target" else "onto the file system"
        found.append(Stage(words, passage.of_kind(last), _STORAGE))
    return found


def row_labels(passage: Passage) -> list[tuple[float, str]]:
    """Words at the middle of rows: all names of a kind with few, else so many that others can be counted off."""
    found: list[tuple[float, str]] = []
    start = 0
    for kind, group in groupby(passage.kinds):
        size = len(list(group))
        step = 1 if size <= MOST_NAMED else next(step for step in _STEPS if size <= step * _BANDS)
        found += [(start + k + 0.5, label(passage.names[start + k], 18)) for k in range(0, size, step)]
        if step > 1:  # how many they are is written between the first two
            found.append((start + step / 2 + 0.5, f"({size} {KINDS[kind]})"))
        start += size
    return sorted(found)


def step_of(length: float) -> float:
    """An hour; in runs of less than three hours a round fraction of them, in long ones more hours."""
    for step in (1.0, 5.0, 10.0, 60.0, 300.0, 600.0, 1200.0):
        if length <= 16 * step:
            return step
    hours = 3600.0
    while length > 30 * hours:
        hours *= 2 if hours < 3 * 3600 else 4
    return hours


def machine_words(passage: Passage, value: float | None) -> str:
    """The title of the picture."""
    most = mostly(passage)
    return f"min yield {fixed(value)}; " + (f"mostly held up by {most}" if most else "nothing is busy for long")


def mostly(passage: Passage) -> str:
    """The resource that is the bottleneck most of the time; empty if nothing is busy for long."""
    found = passage.bottlenecks(step_of(passage.end - passage.begin), BUSY)
    named = [each.name for each in found if each.name]
    return max(dict.fromkeys(named), key=named.count) if named else ""
