"""A guard before validation: how large a document is once everything shared in it is written out.

A few nested YAML anchors can stand for billions of entries, or contain themselves. Counting with a memory of what was
counted already takes time in proportion to the file, not to what it stands for.
"""

from __future__ import annotations

from penstock.errors import InvalidScenario
from penstock.model.phases import DEEPEST
from penstock.model.problems import Locate

MOST_ENTRIES = 10_000_000
MOST_LEVELS = 3 * DEEPEST  # a repeat is two levels, a list in a mapping; the rest of a document is shallow


def check_size(document: object, locate: Locate) -> None:
    """Refuse a document that is too deep or stands for too many entries."""
    entries, _ = _measure(document, 0, {}, set(), locate)
    if entries > MOST_ENTRIES:
        many = f"{entries:,}" if entries < 10**15 else "more than 10^15"
        raise InvalidScenario(
            f"{locate(())}: the document stands for {many} entries once its aliases are written out; "
            f"at most {MOST_ENTRIES:,}"
        )


def too_deep(locate: Locate) -> InvalidScenario:
    """The error for a document that nests without end in sight."""
    return InvalidScenario(
        f"{locate(())}: the document nests more than {MOST_LEVELS} levels deep; repeat nests at most {DEEPEST} levels"
    )


def _measure(
    node: object, level: int, known: dict[int, tuple[int, int]], above: set[int], locate: Locate
) -> tuple[int, int]:
    """Entries and height of what hangs below a node; `known` remembers both by identity, `above` is the way to it."""
    if not isinstance(node, dict | list | tuple):
        return 1, 0
    if id(node) not in known:
        if id(node) in above:
            raise InvalidScenario(f"{locate(())}: an anchor, &name, contains its own alias, *name; leave one out")
        if level > MOST_LEVELS:
            raise too_deep(locate)
        children = node.values() if isinstance(node, dict) else node
        below = [_measure(child, level + 1, known, above | {id(node)}, locate) for child in children]
        known[id(node)] = 1 + sum(entries for entries, _ in below), 1 + max((height for _, height in below), default=0)
    entries, height = known[id(node)]
    if level + height > MOST_LEVELS + 1:
        raise too_deep(locate)
    return entries, height
