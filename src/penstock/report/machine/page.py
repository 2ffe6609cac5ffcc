"""The whole machine in a report: where bytes were, what held them up, and how busy every resource was."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from penstock.report.machine.passage_element import passage_element
from penstock.report.machine.stages import BUSY, mostly, step_of
from penstock.report.parts.elements import cell, head, table
from penstock.report.parts.quantities import byte_scale, duration, is_pure, percent

if TYPE_CHECKING:
    from penstock.engine.passage import Passage
    from penstock.metrics.result import Result

_MOST_ROWS = 12
_ONE = {"io_node": "I/O node", "buffer": "buffer", "target": "target", "link": "file system"}
RESOURCE_WORDS = (
    ("in use", "What a resource gave, as a share of what it could have given in the whole run."),
    ("busy", "The share of the run in which anything crossed a resource."),
    ("bottleneck", "The resource that was most in use in a stretch of time, if more than half of it was."),
)


def held_up_words(passage: Passage) -> str:
    """What holds bytes up most of the time, for the line above a run."""
    most = mostly(passage)
    return f"mostly held up by {escape(most)}" if most else "nothing is busy for long"


def machine_section(run: Result, passage: Passage, position: int) -> str:
    """The picture, a sentence about it, and the busiest resources."""
    alt = f"{run.sharing}: bytes through applications, buffer, I/O nodes and targets over time, and what is busy"
    drawn = passage_element(passage, f"passage{position}", alt)
    return f"<h3>Where the bytes were</h3><p>{escape(_bottleneck_words(passage))}</p>{drawn}{_resources(run, passage)}"


def _bottleneck_words(passage: Passage) -> str:
    """Which resources were the bottleneck, for how long of the run each."""
    found = passage.bottlenecks(step_of(passage.end - passage.begin), BUSY)
    seconds: dict[str, float] = {}
    for each in found:
        if each.name:
            seconds[each.name] = seconds.get(each.name, 0.0) + each.stop - each.start
    if not seconds:
        return "No resource is in use by more than half for long: what is lost is lost in short peaks."
    order = sorted(seconds, key=lambda name: -seconds[name])
    named = ", ".join(f"{name} ({duration(seconds[name])})" for name in order[:3])
    more = f" and {len(order) - 3} more" if len(order) > 3 else ""
    return f"The bottleneck was {named}{more} of {duration(passage.end - passage.begin)}."


def _resources(run: Result, passage: Passage) -> str:
    resources, length = run.resources or (), passage.end - passage.begin
    use = dict(zip(passage.names, passage.use.mean(axis=1).tolist(), strict=True))
    shown = sorted(resources, key=lambda each: -use.get(each.name, 0.0))[:_MOST_ROWS]
    pure = is_pure(run)
    rows = []
    for each in shown:
        cells = [cell(each.name), cell(_ONE[each.kind])]
        cells += [cell(percent(share), share, number=True) for share in (use.get(each.name, 0.0), each.busy / length)]
        moved = byte_scale(each.moved, pure=pure).show(each.moved)  # a target moves a fraction of what a link does
        rows.append(f"<tr>{''.join(cells)}{cell(moved, each.moved, number=True)}</tr>")
    hidden = len(resources) - len(shown)
    caption = f"The {len(shown)} most in use; {hidden:,} more are in the JSON." if hidden else ""
    return table("resources", [head(each) for each in ("resource", "kind", "in use", "busy", "moved")], rows, caption)
