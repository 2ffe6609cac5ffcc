"""The stages that bytes pass on a whole machine, their colours, and what is called a bottleneck: for all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from penstock.report.parts.quantities import fixed
from penstock.report.parts.theme import COLOURS, WAITING

if TYPE_CHECKING:
    from penstock.engine.passage import Passage
    from penstock.kernels.arrays import Floats

BUSY = 0.5  # a resource less in use than that is no bottleneck
FULL = 0.985  # from here on it has next to nothing left to give
FULL_COLOUR = WAITING
MOST_NAMED = 12  # rows of a kind that are named one by one
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
    named = [name for _, _, name, _ in passage.bottlenecks(step_of(passage.end - passage.begin), BUSY) if name]
    return max(dict.fromkeys(named), key=named.count) if named else ""
