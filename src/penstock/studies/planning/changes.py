"""What a step of the search changes: one decision for one application, or who shares one kind of resource."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from penstock.model.needs import ALLOCATION, BUFFERING, MAPPING, PLACEMENT, SHARING
from penstock.studies.planning.draft import Draft, Task
from penstock.studies.planning.starts import POLICIES, fitting

_FACTORS = (0.0, 0.5, 0.8, 1.25, 2.0)  # by which a part of the buffer changes


def changed(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """The draft with one change drawn at random; None if the one drawn is not possible."""
    change = {
        MAPPING: _other_node,
        ALLOCATION: _other_count,
        PLACEMENT: _other_place,
        BUFFERING: _other_part,
        SHARING: _other_policy,
    }[task.open[int(draw.integers(len(task.open)))]]
    found = change(task, draft, draw)
    return None if found == draft else found


def _other_node(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """One application to another I/O node, or two that change places."""
    nodes = list(draft.nodes or ())
    i, j = (int(each) for each in draw.integers(len(nodes), size=2))
    if draw.integers(2):
        nodes[i], nodes[j] = nodes[j], nodes[i]
    else:
        nodes[i] = int(draw.integers(task.io_nodes))
    return replace(draft, nodes=tuple(nodes))


def _other_count(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """The next smaller or larger number of targets: the most crowded are left, the least crowded come."""
    targets = list(draft.targets or ())
    i = int(draw.integers(len(targets)))
    allowed = task.counts[i]
    place = allowed.index(len(targets[i])) + int(draw.choice((-1, 1)))
    if not 0 <= place < len(allowed):
        return None
    targets[i] = resized(task, targets, i, allowed[place])
    return replace(draft, targets=tuple(targets))


def resized(task: Task, targets: list[tuple[int, ...]], i: int, count: int) -> tuple[int, ...]:
    """The targets of one application when it has `count` of them."""
    crowd = [sum(target in places for places in targets) for target in range(task.targets)]
    mine = sorted(targets[i], key=lambda target: crowd[target])[:count]
    others = sorted(set(range(task.targets)) - set(targets[i]), key=lambda target: (crowd[target], target))
    return tuple(sorted([*mine, *others[: count - len(mine)]]))


def _other_place(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """One transfer to another target, or a target against one of another application's."""
    targets = [list(places) for places in draft.targets or ()]
    i, j = (int(each) for each in draw.integers(len(targets), size=2))
    free = sorted(set(range(task.targets)) - set(targets[i]))
    offered = sorted(set(targets[j]) - set(targets[i])) if draw.integers(2) else free
    mine = sorted(set(targets[i]) - set(targets[j])) if offered is not free else targets[i]
    if not offered or not mine:
        return None
    old, new = int(draw.choice(mine)), int(draw.choice(offered))
    targets[i][targets[i].index(old)] = new
    if offered is not free:
        targets[j][targets[j].index(new)] = old
    return replace(draft, targets=tuple(tuple(sorted(places)) for places in targets))


def _other_part(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """One part larger or smaller, the others making room; or what one gives up is another's."""
    parts = list(draft.parts or ())
    i, j = (int(each) for each in draw.integers(len(parts), size=2))
    if draw.integers(2):
        given = parts[i] * float(draw.choice((0.25, 0.5, 1.0)))
        parts[i], parts[j] = parts[i] - given, parts[j] + given
        return None if i == j else replace(draft, parts=tuple(parts))
    parts[i] = parts[i] * float(draw.choice(_FACTORS)) if parts[i] > 0.0 else 1.0 / len(parts)
    return replace(draft, parts=fitting(parts))


def _other_policy(task: Task, draft: Draft, draw: np.random.Generator) -> Draft | None:
    """Another policy for one kind of resource."""
    kind = task.kinds[int(draw.integers(len(task.kinds)))]
    return draft.with_policy(kind, POLICIES[int(draw.integers(len(POLICIES)))])
