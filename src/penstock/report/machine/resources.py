"""A line in reports of what the resources of a whole machine did: of each kind the busiest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.report.parts.quantities import byte_scale, duration, is_pure

if TYPE_CHECKING:
    from penstock.metrics.result import ResourceUse, Result

_WORDS = {"io_node": "I/O nodes", "target": "targets"}  # of which there are many


def resource_lines(result: Result) -> list[str]:
    """How long the busiest resource of each kind was busy, and what it moved; nothing where one bandwidth is shared."""
    uses = [each for each in result.resources or () if each.moved > 0.0]
    kinds = dict.fromkeys(each.kind for each in uses)
    told = [_busiest([each for each in uses if each.kind == kind], result) for kind in kinds]
    return [f"Busy longest: {'; '.join(told)}."] if told else []


def _busiest(uses: Sequence[ResourceUse], result: Result) -> str:
    most = max(uses, key=lambda each: (each.busy, each.moved))
    moved = byte_scale(most.moved, pure=is_pure(result)).show(most.moved)
    among = f" of {len(uses)} {_WORDS[most.kind]}" if most.kind in _WORDS and len(uses) > 1 else ""
    return f"{most.name}{among}, {duration(most.busy)}, {moved}"
